// The ground of a live run: a patch for every tile; only those that changed are fetched and drawn anew.

import * as THREE from "three";

/** Points along a side of a tile. */
const POINTS = 17;
/** Numbers of a tile: first cell, points along x and y, heights, densities. */
const STRIDE = 4 + 2 * POINTS * POINTS;
/** Bytes before the first tile. */
const HEAD = 32;
/** Time between two questions [ms]. */
const PAUSE = 80;
const LOOSE = new THREE.Color("#b8925f");
const DENSE = new THREE.Color("#5d4630");

export class GroundTiles {
  readonly root = new THREE.Group();
  private readonly tiles = new Map<number, THREE.Mesh>();
  private readonly material = new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 1, metalness: 0, side: THREE.DoubleSide });
  private version = 0;
  private busy = false;
  private last = 0;
  private address = "";

  /** Shows the ground under another address. */
  enter(address: string): void {
    this.tiles.forEach((tile) => tile.geometry.dispose());
    this.tiles.clear();
    this.root.clear();
    this.version = 0;
    this.address = address;
  }

  /** Asks for what changed, and draws it when it comes. */
  look(changed: () => void): void {
    const now = performance.now();
    if (this.busy || !this.address || now - this.last < PAUSE) return;
    this.last = now;
    void this.load(changed);
  }

  private async load(changed: () => void): Promise<void> {
    this.busy = true;
    const address = this.address;
    try {
      const answer = await fetch(`${address}?since=${this.version}`);
      const bytes = answer.ok ? await answer.arrayBuffer() : new ArrayBuffer(0);
      if (bytes.byteLength < HEAD || address !== this.address) return;
      const view = new DataView(bytes);
      this.version = view.getFloat64(0, true);
      const [cell, x, y] = [8, 16, 24].map((at) => view.getFloat64(at, true));
      const numbers = new Float32Array(bytes, HEAD);
      for (let k = 0; k + STRIDE <= numbers.length; k += STRIDE) this.draw(numbers.subarray(k, k + STRIDE), cell, x, y);
      if (numbers.length > 0) changed();
    } finally {
      this.busy = false;
    }
  }

  private draw(tile: Float32Array, cell: number, x: number, y: number): void {
    const [i, j, across, along] = tile;
    const key = i + 1e6 * j;
    let mesh = this.tiles.get(key);
    if (!mesh) {
      mesh = new THREE.Mesh(new THREE.BufferGeometry(), this.material);
      mesh.receiveShadow = mesh.castShadow = true;
      this.tiles.set(key, mesh);
      this.root.add(mesh);
    }
    const place = new Float32Array(3 * across * along);
    const colour = new Float32Array(3 * across * along);
    const shade = new THREE.Color();
    const index: number[] = [];
    for (let b = 0; b < along; b++) {
      for (let a = 0; a < across; a++) {
        const [from, to] = [b * POINTS + a, b * across + a];
        place.set([x + (i + a + 0.5) * cell, y + (j + b + 0.5) * cell, tile[4 + from]], 3 * to);
        shade.copy(LOOSE).lerp(DENSE, tile[4 + POINTS * POINTS + from]).toArray(colour, 3 * to);
        if (a + 1 < across && b + 1 < along) index.push(to, to + 1, to + across + 1, to, to + across + 1, to + across);
      }
    }
    const geometry = mesh.geometry;
    geometry.setAttribute("position", new THREE.BufferAttribute(place, 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(colour, 3));
    geometry.setIndex(index);
    geometry.computeVertexNormals();
    geometry.computeBoundingSphere();
  }
}
