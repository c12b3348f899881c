// Grains: one instanced ball for all of them, and one polyhedron for each class that has some, where they are at a time.

import * as THREE from "three";
import { MANY } from "./actors";

/** Numbers of one grain: x, y, z, radius, class; where some are polyhedra also the quaternion w, x, y, z. */
const BALL = 5;
const TURNED = 9;
/** A snapshot is asked for again when the time shown has moved by this share of the run [-]. */
const SHARE = 1 / 500;
/** Where the balls are kept among the meshes of classes. */
const BALLS = -1;
const COLOURS = ["#c9a26b", "#8f7a66", "#d8c39a", "#7d8a94", "#b5713f"];

/** Who knows where the grains are at a time. */
export interface GrainSource {
  at(time: number): Float32Array | undefined;
}

/** Polyhedra among the grains, by class. */
export type GrainShapes = { class: number; triangles: number[] }[];

/** Grains inside of the page: pictures at equal times. */
export class Frames implements GrainSource {
  private readonly times: number[] = [];
  private readonly frames: Float32Array[] = [];

  constructor(bytes: ArrayBuffer) {
    const view = new DataView(bytes);
    for (let at = 0; at + 12 <= bytes.byteLength; ) {
      const length = view.getUint32(at, true);
      this.times.push(view.getFloat64(at + 4, true));
      this.frames.push(new Float32Array(bytes.slice(at + 12, at + 4 + length)));
      at += 4 + length;
    }
  }

  at(time: number): Float32Array | undefined {
    const [first, last] = [this.times[0], this.times[this.times.length - 1]];
    const share = last > first ? (time - first) / (last - first) : 0;
    return this.frames[Math.round(Math.max(0, Math.min(1, share)) * (this.frames.length - 1))];
  }
}

/** Snapshots of a run, fetched when they are looked at. */
export class Snapshots implements GrainSource {
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
  /** Balls, and the polyhedra of each class that has some. */
  private meshes = new Map<number, THREE.InstancedMesh>();
  private shown: Float32Array | undefined;

  /** Draws these grains. */
  place(grains: Float32Array | undefined, shapes: GrainShapes = []): void {
    if (grains === this.shown) return;
    this.shown = grains;
    const stride = shapes.length ? TURNED : BALL;
    const total = grains ? grains.length / stride : 0;
    if (!grains || total === 0) {
      this.dispose();
      return;
    }
    const solid = new Map(shapes.map((shape) => [shape.class, shape.triangles]));
    const kind = (k: number): number => (solid.has(grains[stride * k + 4]) ? grains[stride * k + 4] : BALLS);
    const counts = new Map<number, number>();
    for (let k = 0; k < total; k++) counts.set(kind(k), (counts.get(kind(k)) ?? 0) + 1);
    for (const [own, mesh] of this.meshes) if (counts.get(own) !== mesh.instanceMatrix.count) this.drop(own, mesh);
    for (const [own, count] of counts) if (!this.meshes.has(own)) this.meshes.set(own, this.make(count, solid.get(own)));
    this.box = new THREE.Box3();
    const palette = COLOURS.map((colour) => new THREE.Color(colour));
    const matrix = new THREE.Matrix4();
    const [place, turn, size] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Vector3()];
    const next = new Map<number, number>();
    for (let k = 0; k < total; k++) {
      const i = stride * k;
      const own = kind(k);
      const mesh = this.meshes.get(own)!;
      const at = next.get(own) ?? 0;
      next.set(own, at + 1);
      place.set(grains[i], grains[i + 1], grains[i + 2]);
      if (own !== BALLS) turn.set(grains[i + 6], grains[i + 7], grains[i + 8], grains[i + 5]);
      else turn.identity();
      matrix.compose(place, turn, size.setScalar(grains[i + 3]));
      matrix.toArray(mesh.instanceMatrix.array as Float32Array, 16 * at);
      this.box.expandByPoint(place);
      palette[grains[i + 4] % palette.length].toArray(mesh.instanceColor!.array as Float32Array, 3 * at);
    }
    for (const mesh of this.meshes.values()) {
      mesh.instanceMatrix.needsUpdate = true;
      mesh.instanceColor!.needsUpdate = true;
    }
  }

  private make(count: number, triangles?: number[]): THREE.InstancedMesh {
    let geometry: THREE.BufferGeometry = new THREE.IcosahedronGeometry(1, count > 4 * MANY ? 1 : 2);
    if (triangles) {
      geometry.dispose();
      geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.Float32BufferAttribute(triangles, 3));
      geometry.computeVertexNormals();
    }
    const mesh = new THREE.InstancedMesh(geometry, new THREE.MeshStandardMaterial({ roughness: 0.8, metalness: 0 }), count);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * count), 3);
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = count <= MANY;
    this.root.add(mesh);
    return mesh;
  }

  private drop(own: number, mesh: THREE.InstancedMesh): void {
    mesh.geometry.dispose();
    (mesh.material as THREE.Material).dispose();
    mesh.dispose();
    mesh.removeFromParent();
    this.meshes.delete(own);
  }

  /** Takes all of them off the stage. */
  dispose(): void {
    for (const [own, mesh] of this.meshes) this.drop(own, mesh);
    this.box = undefined;
    this.shown = undefined;
  }
}
