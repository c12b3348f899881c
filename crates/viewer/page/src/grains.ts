// Grains: one instanced ball for all of them, where they are in the snapshot of a time.

import * as THREE from "three";
import { MANY } from "./actors";

/** Numbers of one grain: x, y, z, radius, class. */
const STRIDE = 5;
/** A snapshot is asked for again when the time shown has moved by this share of the run [-]. */
const SHARE = 1 / 500;
const COLOURS = ["#c9a26b", "#8f7a66", "#d8c39a", "#7d8a94", "#b5713f"];

/** Snapshots of a run, fetched when they are looked at. */
export class Snapshots {
  /** The grains now: nothing while none have come. */
  latest: Float32Array | undefined;
  private asked = NaN;
  private busy = false;
  private known = NaN;

  constructor(private readonly address: string, private readonly span: number, private readonly changed: () => void) {}

  /** The grains nearest to a time that have come; asks for others when the time has moved on. */
  at(time: number): Float32Array | undefined {
    if (!this.busy && !(Math.abs(time - this.asked) <= SHARE * this.span)) void this.load(time);
    return this.latest;
  }

  private async load(time: number): Promise<void> {
    this.busy = true;
    this.asked = time;
    try {
      const answer = await fetch(`${this.address}?time=${time}`);
      const bytes = answer.ok ? await answer.arrayBuffer() : new ArrayBuffer(0);
      if (bytes.byteLength < 8) return;
      const snapshot = new DataView(bytes).getFloat64(0, true);
      if (snapshot === this.known) return;
      this.known = snapshot;
      this.latest = new Float32Array(bytes, 8);
      this.changed();
    } finally {
      this.busy = false;
    }
  }
}

export class GrainBalls {
  readonly root = new THREE.Group();
  /** The box of their centres; nothing while there are none. */
  box: THREE.Box3 | undefined;
  private mesh: THREE.InstancedMesh | undefined;
  private shown: Float32Array | undefined;

  /** Draws these grains. */
  place(grains: Float32Array | undefined): void {
    if (grains === this.shown) return;
    this.shown = grains;
    const count = grains ? grains.length / STRIDE : 0;
    if (this.mesh && this.mesh.instanceMatrix.count !== count) this.dispose();
    if (!grains || count === 0) return;
    this.mesh ??= this.make(count);
    const m = this.mesh.instanceMatrix.array as Float32Array;
    const colours = this.mesh.instanceColor!;
    this.box = new THREE.Box3();
    const palette = COLOURS.map((colour) => new THREE.Color(colour));
    for (let k = 0; k < count; k++) {
      const [o, i] = [16 * k, STRIDE * k];
      const r = grains[i + 3];
      m[o] = m[o + 5] = m[o + 10] = r;
      m[o + 12] = grains[i];
      m[o + 13] = grains[i + 1];
      m[o + 14] = grains[i + 2];
      m[o + 15] = 1;
      this.box.expandByPoint(new THREE.Vector3(grains[i], grains[i + 1], grains[i + 2]));
      palette[grains[i + 4] % palette.length].toArray(colours.array as Float32Array, 3 * k);
    }
    this.mesh.instanceMatrix.needsUpdate = true;
    colours.needsUpdate = true;
  }

  private make(count: number): THREE.InstancedMesh {
    const geometry = new THREE.IcosahedronGeometry(1, count > 4 * MANY ? 1 : 2);
    const mesh = new THREE.InstancedMesh(geometry, new THREE.MeshStandardMaterial({ roughness: 0.8, metalness: 0 }), count);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * count), 3);
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = count <= MANY;
    this.root.add(mesh);
    return mesh;
  }

  /** Takes all of them off the stage. */
  dispose(): void {
    this.mesh?.geometry.dispose();
    (this.mesh?.material as THREE.Material | undefined)?.dispose();
    this.mesh?.dispose();
    this.mesh?.removeFromParent();
    this.mesh = undefined;
    this.box = undefined;
    this.shown = undefined;
  }
}
