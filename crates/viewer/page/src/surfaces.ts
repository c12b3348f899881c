// Surfaces that change with time: corners that move, colours for each corner or each triangle.

import * as THREE from "three";
import { viridis, type Actors } from "./actors";
import { h, format } from "./dom";
import { type RunDocument, type SurfaceDocument, fromBase64 } from "./protocol";
import type { Track, View } from "./track";

interface Drawn {
  surface: SurfaceDocument;
  mesh: THREE.Mesh;
  triangles: Uint32Array;
  /** Corners as described; where they are if they do not move. */
  corners: Float32Array;
  positions: Float32Array;
  colours: Float32Array;
}

export class Surfaces {
  readonly root = new THREE.Group();
  private drawn: Drawn[] = [];

  enter(document: RunDocument, actors: Actors): void {
    this.dispose();
    this.drawn = (document.surfaces ?? []).map((surface) => {
      const triangles = new Uint32Array(fromBase64(surface.triangles));
      const corners = new Float32Array(fromBase64(surface.vertices));
      // Every triangle has corners of its own: faces are flat and can have a colour each.
      const geometry = new THREE.BufferGeometry();
      const positions = new Float32Array(3 * triangles.length);
      const colours = new Float32Array(3 * triangles.length).fill(0.75);
      geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3).setUsage(THREE.DynamicDrawUsage));
      geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3).setUsage(THREE.DynamicDrawUsage));
      const material = new THREE.MeshStandardMaterial({ vertexColors: true, side: THREE.DoubleSide, roughness: 0.7, metalness: 0 });
      const mesh = new THREE.Mesh(geometry, material);
      mesh.frustumCulled = false;
      mesh.matrixAutoUpdate = false;
      this.root.add(mesh);
      if (surface.body !== null) actors.replaced.add(surface.body);
      const one = { surface, mesh, triangles, corners, positions, colours };
      spread(one, corners);
      return one;
    });
  }

  place(track: Track, view: View, actors: Actors): void {
    this.drawn.forEach((one, k) => {
      const { surface, mesh } = one;
      mesh.visible = surface.body === null || actors.visible[surface.body];
      if (surface.body !== null) mesh.matrix.copy(actors.matrix(surface.body));
      const a = track.surface?.(k, view.index);
      if (!a) return;
      const b = view.w > 0 ? (track.surface?.(k, view.index + 1) ?? a) : a;
      const values = a === b || view.w === 0 ? a : a.map((x, i) => x + view.w * (b[i] - x));
      const moving = surface.moving ? one.corners.length : 0;
      if (moving) spread(one, values.subarray(0, moving));
      paint(one, values.subarray(moving));
    });
  }

  /** What the colours mean. */
  legend(): HTMLElement[] {
    return this.drawn
      .filter(({ surface }) => surface.colour !== "none")
      .map(({ surface }) => h("div", { class: "scale" }, `${surface.name} `, h("span", {}, format(surface.low, 3)), h("span", { class: "viridis" }), h("span", {}, `${format(surface.high, 3)} ${surface.unit}`)));
  }

  private dispose(): void {
    for (const { mesh } of this.drawn) {
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
    }
    this.root.clear();
    this.drawn = [];
  }
}

/** Puts corners where they belong. */
function spread(one: Drawn, corners: Float32Array): void {
  const { triangles, positions, mesh } = one;
  for (let i = 0; i < triangles.length; i++) {
    const o = 3 * triangles[i];
    positions[3 * i] = corners[o];
    positions[3 * i + 1] = corners[o + 1];
    positions[3 * i + 2] = corners[o + 2];
  }
  mesh.geometry.getAttribute("position").needsUpdate = true;
  mesh.geometry.computeVertexNormals();
}

function paint(one: Drawn, values: Float32Array): void {
  const { surface, triangles, colours, mesh } = one;
  if (surface.colour === "none") return;
  const scale = 1 / Math.max(1e-300, surface.high - surface.low);
  const colour = new THREE.Color();
  for (let i = 0; i < triangles.length; i++) {
    const value = values[surface.colour === "vertex" ? triangles[i] : Math.floor(i / 3)];
    if (Number.isFinite(value)) viridis(Math.max(0, Math.min(1, (value - surface.low) * scale)), colour).toArray(colours, 3 * i);
    else colours.fill(0.5, 3 * i, 3 * i + 3);
  }
  mesh.geometry.getAttribute("color").needsUpdate = true;
}
