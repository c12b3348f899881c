// The bodies of one run: one instanced mesh for each geometry, whatever the number of bodies.

import * as THREE from "three";
import { type Body, type Frame, type Geometry, type Pose7, type RunDocument, fromBase64 } from "./protocol";
import type { View } from "./track";

/** Colours of bodies, told apart also by eyes that see fewer of them. */
const PALETTE = ["#4e8fd0", "#f2953b", "#5bb56a", "#e2605f", "#57b8b3", "#e6c34a", "#b683c4", "#f29db0", "#a98467", "#7f86e6"];
const GHOST = "#e05fd0";
/** Above this many instances round shapes have fewer triangles and there are no shadows. */
export const MANY = 8000;

interface Part {
  body: number;
  geometry: number;
  pose: Pose7;
  scale: [number, number, number];
  collide: boolean;
  /** Which of the convex pieces of a mesh it is. */
  piece?: number;
}

interface Group {
  mesh: THREE.InstancedMesh;
  parts: Part[];
  /** A part that no force moves and that is alone in its mesh: its box in its body, so that it fades while it hides what moves. */
  wall?: { body: number; box: THREE.Box3 };
}

/** Parts that no force moves and that fade one by one, at most. */
const MOST_WALLS = 64;
/** What is left of a wall between the camera and what moves [-]. */
const FADED = 0.14;
/** A wall hides what moves where it stands before this share of the places looked at [-]. */
const HIDES = 0.3;

export type Colouring = "body" | "material" | "island" | "speed";

export class Actors {
  readonly root = new THREE.Group();
  /** Poses now, seven numbers a body: position, quaternion x, y, z, w. */
  readonly poses: Float32Array;
  readonly visible: boolean[];
  readonly colours: THREE.Color[];
  /** Radius of the ball about a body's origin that holds its shapes [m]; infinite for planes. */
  readonly radii: number[];
  /** Boxes around the shapes of bodies, in their own frames [m]. */
  readonly boxes: THREE.Box3[];
  /** Bodies that a surface stands for: their shapes are not drawn. */
  readonly replaced = new Set<number>();
  readonly planes: { body: number; pose: Pose7; mesh: THREE.Mesh }[] = [];
  private readonly groups: Group[] = [];
  private readonly chosen = new Map<number, THREE.Color>();
  private colouring: Colouring = "body";
  private geometries: THREE.BufferGeometry[] = [];
  private bare = false;
  private seeThrough = false;

  constructor(readonly document: RunDocument, readonly ghost: boolean, size: (boxes: THREE.Box3[], poses: Float32Array) => number) {
    const n = document.bodies.length;
    this.poses = new Float32Array(7 * n);
    this.visible = new Array<boolean>(n).fill(true);
    document.bodies.forEach((body, k) => this.poses.set(body.start, 7 * k));
    this.geometries = document.geometries.map((g) => surface(g, n > MANY));
    // A ghost is there for what moves: what stands still is the same in both runs.
    const drawn = (body: Body): boolean => !ghost || body.drive !== "fixed";
    const parts = document.bodies.flatMap((body, k) => (drawn(body) ? body.shapes.map((shape) => ({ body: k, ...shape })) : []));
    this.boxes = document.bodies.map((body) => boxOf(body, document.geometries, this.geometries));
    const skeleton = skeletons(document, size(this.boxes, this.poses));
    this.colours = document.bodies.map(() => new THREE.Color());
    const solid = parts.filter((part) => document.geometries[part.geometry].kind !== "half_space");
    // a vessel that is moved hides its grains as one that stands
    const isWall = (body: Body): boolean => body.drive === "fixed" || (document.grains && body.drive === "prescribed");
    const still = solid.filter((part) => isWall(document.bodies[part.body]));
    const walls = new Set(still.length <= MOST_WALLS && !ghost ? still : []);
    document.geometries.forEach((geometry, k) => {
      if (geometry.kind === "half_space") return;
      this.group(this.geometries[k], solid.filter((part) => part.geometry === k && !walls.has(part)), geometry.kind === "sphere");
    });
    for (const part of walls) {
      const group = this.group(this.geometries[part.geometry], [part], false);
      if (group) group.wall = { body: part.body, box: placed(this.geometries[part.geometry], part.pose, part.scale) };
    }
    for (const kind of ["sphere", "cylinder"] as const) {
      const of = skeleton.filter((s) => s.kind === kind && drawn(document.bodies[s.part.body])).map((s) => s.part);
      const geometry = surface({ kind }, n > MANY);
      this.geometries.push(geometry);
      of.forEach((part) => (part.geometry = this.geometries.length - 1));
      this.group(geometry, of, false);
      for (const part of of) this.boxes[part.body].union(placed(geometry, part.pose, part.scale));
    }
    this.radii = this.boxes.map((box) => (box.isEmpty() ? 0 : box.min.clone().negate().max(box.max).length()));
    for (const part of parts) {
      if (document.geometries[part.geometry].kind === "half_space") {
        this.planes.push({ body: part.body, pose: part.pose, mesh: new THREE.Mesh() });
      }
    }
    this.paint();
  }

  private group(geometry: THREE.BufferGeometry, parts: Part[], patterned: boolean): Group | undefined {
    if (parts.length === 0) return undefined;
    const material = new THREE.MeshStandardMaterial({ roughness: 0.5, metalness: 0.08 });
    if (patterned && parts.length <= MANY && !this.ghost) material.map = spinPattern();
    if (this.ghost) Object.assign(material, { transparent: true, opacity: 0.38, depthWrite: false });
    const mesh = new THREE.InstancedMesh(geometry, material, parts.length);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * parts.length), 3);
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = !this.ghost && parts.length <= MANY;
    mesh.renderOrder = this.ghost ? 2 : 0;
    const group: Group = { mesh, parts };
    this.groups.push(group);
    this.root.add(mesh);
    return group;
  }

  /** Walls fade that stand between the camera and the box of what moves; the others come back. */
  fadeWalls(camera: THREE.Camera, box: THREE.Box3): void {
    const from = camera.getWorldPosition(new THREE.Vector3());
    const places = lattice(box);
    for (const group of this.groups) {
      if (!group.wall) continue;
      const wall = group.wall.box.clone().applyMatrix4(this.matrix(group.wall.body));
      const before = places.filter((place) => stands(wall, from, place)).length;
      const hides = before >= HIDES * places.length && !wall.containsPoint(from);
      const material = group.mesh.material as THREE.MeshStandardMaterial;
      if (material.userData.hides === hides) continue;
      material.userData.hides = hides;
      this.shade(group);
    }
  }

  /** How solid the mesh of a group is drawn. */
  private shade(group: Group): void {
    const material = group.mesh.material as THREE.MeshStandardMaterial;
    const faded = material.userData.hides === true;
    material.transparent = this.seeThrough || this.ghost || faded;
    material.opacity = faded ? FADED : this.ghost ? 0.38 : this.seeThrough ? 0.32 : 1;
    material.depthWrite = !material.transparent;
    material.needsUpdate = true;
    group.mesh.castShadow = group.mesh.receiveShadow && !faded;
    group.mesh.renderOrder = this.ghost ? 2 : faded ? 1 : 0;
  }

  /** Moves all bodies to where they are in a view. */
  place(view: View): void {
    const { a, b, w } = view;
    const n = Math.min(a.block.bodies, this.poses.length / 7);
    const stride = a.block.stride;
    const [from, to] = [a.block.motion, b.block.motion];
    const [oa, ob] = [a.row * a.block.bodies * stride, b.row * b.block.bodies * stride];
    const out = this.poses;
    for (let k = 0; k < n; k++) {
      const i = oa + k * stride;
      const o = 7 * k;
      if (w === 0) {
        for (let c = 0; c < 7; c++) out[o + c] = from[i + c];
        continue;
      }
      const j = ob + k * stride;
      const v = 1 - w;
      out[o] = v * from[i] + w * to[j];
      out[o + 1] = v * from[i + 1] + w * to[j + 1];
      out[o + 2] = v * from[i + 2] + w * to[j + 2];
      // The shorter way round, normalised: rows are near enough to each other.
      const dot = from[i + 3] * to[j + 3] + from[i + 4] * to[j + 4] + from[i + 5] * to[j + 5] + from[i + 6] * to[j + 6];
      const s = dot < 0 ? -w : w;
      const x = v * from[i + 3] + s * to[j + 3];
      const y = v * from[i + 4] + s * to[j + 4];
      const z = v * from[i + 5] + s * to[j + 5];
      const q = v * from[i + 6] + s * to[j + 6];
      const r = 1 / Math.sqrt(x * x + y * y + z * z + q * q);
      out[o + 3] = x * r;
      out[o + 4] = y * r;
      out[o + 5] = z * r;
      out[o + 6] = q * r;
    }
    this.refresh();
    if (this.colouring === "speed") this.paintSpeed(view);
  }

  /** Writes the matrices of all instances from the poses. */
  refresh(): void {
    for (const { mesh, parts } of this.groups) {
      const m = mesh.instanceMatrix.array as Float32Array;
      for (let i = 0; i < parts.length; i++) {
        const part = parts[i];
        const o = 16 * i;
        if (!this.visible[part.body] || (this.bare && !part.collide) || this.replaced.has(part.body)) {
          m.fill(0, o, o + 15);
          m[o + 15] = 1;
          continue;
        }
        compose(m, o, this.poses, 7 * part.body, part.pose, part.scale);
      }
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
    for (const plane of this.planes) {
      plane.mesh.visible = this.visible[plane.body];
      const X = this.matrix(plane.body).multiply(matrixOf(plane.pose));
      X.decompose(plane.mesh.position, plane.mesh.quaternion, plane.mesh.scale);
    }
  }

  /** Pose of a body now. */
  matrix(body: number): THREE.Matrix4 {
    return matrixOf(this.poses.subarray(7 * body, 7 * body + 7) as unknown as Pose7);
  }

  position(body: number): THREE.Vector3 {
    return new THREE.Vector3().fromArray(this.poses, 7 * body);
  }

  /** Pose of a frame on a body, or on the world. */
  frame(frame: Frame): THREE.Matrix4 {
    const local = matrixOf(frame.pose);
    return frame.body === undefined ? local : this.matrix(frame.body).multiply(local);
  }

  set transparent(on: boolean) {
    this.seeThrough = on;
    this.groups.forEach((group) => this.shade(group));
  }

  set wireframe(on: boolean) {
    for (const { mesh } of this.groups) (mesh.material as THREE.MeshStandardMaterial).wireframe = on;
  }

  /** Only shapes that collide. */
  set collidingOnly(on: boolean) {
    this.bare = on;
    this.refresh();
  }

  choose(body: number, colour: string): void {
    this.chosen.set(body, new THREE.Color(colour));
    this.paint();
  }

  colourBy(colouring: Colouring, island?: (body: number) => number): void {
    this.colouring = colouring;
    this.paint(island);
  }

  get colouredBy(): Colouring {
    return this.colouring;
  }

  private paint(island?: (body: number) => number): void {
    const { bodies } = this.document;
    const materials = [...new Set(bodies.map((body) => body.material ?? ""))];
    let free = 0;
    bodies.forEach((body, k) => {
      const colour = this.colours[k];
      const still = body.drive !== "free";
      const mine = free;
      if (!still) free++;
      if (this.chosen.has(k)) colour.copy(this.chosen.get(k)!);
      else if (this.ghost) colour.set(GHOST);
      else if (this.colouring === "material") colour.set(PALETTE[materials.indexOf(body.material ?? "") % PALETTE.length]);
      else if (still) colour.set(body.drive === "fixed" ? "#9aa1ab" : "#c0a878");
      else if (this.colouring === "island" && island) colour.set(PALETTE[island(k) % PALETTE.length]);
      else colour.set(PALETTE[mine % PALETTE.length]);
    });
    this.applyColours();
  }

  private paintSpeed(view: View): void {
    const { block, row } = view.a;
    if (block.stride < 13) return;
    let top = 1e-12;
    const speeds = this.colours.map((_, k) => {
      const o = (row * block.bodies + k) * block.stride + 7;
      const v = Math.hypot(block.motion[o], block.motion[o + 1], block.motion[o + 2]);
      top = Math.max(top, v);
      return v;
    });
    speeds.forEach((v, k) => {
      if (this.document.bodies[k].drive === "free") viridis(v / top, this.colours[k]);
    });
    this.applyColours();
  }

  private applyColours(): void {
    for (const { mesh, parts } of this.groups) {
      const attribute = mesh.instanceColor!;
      parts.forEach((part, i) => tinted(this.colours[part.body], part.piece).toArray(attribute.array as Float32Array, 3 * i));
      attribute.needsUpdate = true;
    }
  }

  /** The body that a ray meets first. */
  pick(ray: THREE.Raycaster): { body: number; point: THREE.Vector3; distance: number } | undefined {
    const hits = this.groups.flatMap((group) =>
      ray.intersectObject(group.mesh, false).map((hit) => ({
        body: group.parts[hit.instanceId ?? 0].body,
        point: hit.point,
        distance: hit.distance,
      })),
    );
    for (const plane of this.planes) {
      const [hit] = ray.intersectObject(plane.mesh, false);
      if (hit) hits.push({ body: plane.body, point: hit.point, distance: hit.distance });
    }
    hits.sort((a, b) => a.distance - b.distance);
    return hits.find((hit) => this.visible[hit.body]);
  }

  /** Meshes of one body in its own frame, for outlines and files. */
  meshes(body: number, material: THREE.Material): THREE.Mesh[] {
    const parts = this.groups.flatMap(({ mesh, parts }) => parts.filter((p) => p.body === body).map((part) => ({ mesh, part })));
    return parts.map(({ mesh, part }) => {
      const copy = new THREE.Mesh(mesh.geometry, material);
      matrixOf(part.pose).decompose(copy.position, copy.quaternion, copy.scale);
      copy.scale.fromArray(part.scale);
      return copy;
    });
  }

  dispose(): void {
    for (const { mesh } of this.groups) {
      (mesh.material as THREE.Material).dispose();
      mesh.dispose();
    }
    this.geometries.forEach((geometry) => geometry.dispose());
    this.root.removeFromParent();
  }
}

/** Places in a box that are looked at: its middle, and the middles between that and its corners. */
function lattice(box: THREE.Box3): THREE.Vector3[] {
  const centre = box.getCenter(new THREE.Vector3());
  const half = box.getSize(new THREE.Vector3()).multiplyScalar(0.25);
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((i) =>
    new THREE.Vector3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z).add(centre),
  );
  return [centre, ...corners];
}

/** True if a box stands between two places and holds neither the second nor, so, what is looked at. */
function stands(wall: THREE.Box3, from: THREE.Vector3, to: THREE.Vector3): boolean {
  if (wall.containsPoint(to)) return false;
  const ray = new THREE.Ray(from, to.clone().sub(from).normalize());
  const hit = ray.intersectBox(wall, new THREE.Vector3());
  return hit !== null && hit.distanceTo(from) < to.distanceTo(from);
}

export function matrixOf(pose: ArrayLike<number>): THREE.Matrix4 {
  return new THREE.Matrix4().compose(
    new THREE.Vector3(pose[0], pose[1], pose[2]),
    new THREE.Quaternion(pose[3], pose[4], pose[5], pose[6]),
    new THREE.Vector3(1, 1, 1),
  );
}

/** m = X_wb X_bs diag(scale), sixteen numbers from `o` on. */
function compose(m: Float32Array, o: number, poses: Float32Array, b: number, s: Pose7, scale: [number, number, number]): void {
  const bx = poses[b + 3], by = poses[b + 4], bz = poses[b + 5], bw = poses[b + 6];
  const px = s[0], py = s[1], pz = s[2];
  const sx = s[3], sy = s[4], sz = s[5], sw = s[6];
  // position: p_wb + R_wb p_bs
  const tx = 2 * (by * pz - bz * py), ty = 2 * (bz * px - bx * pz), tz = 2 * (bx * py - by * px);
  m[o + 12] = poses[b] + px + bw * tx + by * tz - bz * ty;
  m[o + 13] = poses[b + 1] + py + bw * ty + bz * tx - bx * tz;
  m[o + 14] = poses[b + 2] + pz + bw * tz + bx * ty - by * tx;
  m[o + 15] = 1;
  // rotation: q_wb q_bs
  const x = bw * sx + bx * sw + by * sz - bz * sy;
  const y = bw * sy - bx * sz + by * sw + bz * sx;
  const z = bw * sz + bx * sy - by * sx + bz * sw;
  const w = bw * sw - bx * sx - by * sy - bz * sz;
  const x2 = x + x, y2 = y + y, z2 = z + z;
  const xx = x * x2, xy = x * y2, xz = x * z2, yy = y * y2, yz = y * z2, zz = z * z2;
  const wx = w * x2, wy = w * y2, wz = w * z2;
  const [kx, ky, kz] = scale;
  m[o] = (1 - yy - zz) * kx;
  m[o + 1] = (xy + wz) * kx;
  m[o + 2] = (xz - wy) * kx;
  m[o + 3] = 0;
  m[o + 4] = (xy - wz) * ky;
  m[o + 5] = (1 - xx - zz) * ky;
  m[o + 6] = (yz + wx) * ky;
  m[o + 7] = 0;
  m[o + 8] = (xz + wy) * kz;
  m[o + 9] = (yz - wx) * kz;
  m[o + 10] = (1 - xx - yy) * kz;
  m[o + 11] = 0;
}

function surface(geometry: Geometry, many: boolean): THREE.BufferGeometry {
  switch (geometry.kind) {
    case "sphere":
      return many ? new THREE.IcosahedronGeometry(1, 1) : new THREE.SphereGeometry(1, 40, 24);
    case "box":
      return new THREE.BoxGeometry(2, 2, 2);
    case "cylinder":
      return new THREE.CylinderGeometry(1, 1, 2, many ? 12 : 48).rotateX(Math.PI / 2);
    case "half_space":
      return new THREE.PlaneGeometry(1, 1);
    case "mesh": {
      const mesh = new THREE.BufferGeometry();
      mesh.setAttribute("position", new THREE.BufferAttribute(new Float32Array(fromBase64(geometry.vertices)), 3));
      mesh.setIndex(new THREE.BufferAttribute(new Uint32Array(fromBase64(geometry.triangles)), 1));
      return creased(mesh);
    }
  }
}

/** Normals that are smooth where faces meet gently and sharp where they do not. */
function creased(mesh: THREE.BufferGeometry): THREE.BufferGeometry {
  const flat = mesh.toNonIndexed();
  const p = flat.getAttribute("position");
  const faces = p.count / 3;
  const normals: THREE.Vector3[] = [];
  const [a, b, c] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
  const around = new Map<string, number[]>();
  const key = (i: number): string => `${p.getX(i)},${p.getY(i)},${p.getZ(i)}`;
  for (let f = 0; f < faces; f++) {
    a.fromBufferAttribute(p, 3 * f);
    b.fromBufferAttribute(p, 3 * f + 1);
    c.fromBufferAttribute(p, 3 * f + 2);
    normals.push(b.clone().sub(a).cross(c.clone().sub(a)));
    for (let i = 3 * f; i < 3 * f + 3; i++) {
      const list = around.get(key(i));
      if (list) list.push(f);
      else around.set(key(i), [f]);
    }
  }
  const out = new Float32Array(9 * faces);
  const units = normals.map((n) => n.clone().normalize());
  const sum = new THREE.Vector3();
  for (let i = 0; i < 3 * faces; i++) {
    const own = units[Math.floor(i / 3)];
    sum.set(0, 0, 0);
    for (const f of around.get(key(i))!) if (units[f].dot(own) > 0.8) sum.add(normals[f]);
    sum.normalize().toArray(out, 3 * i);
  }
  flat.setAttribute("normal", new THREE.BufferAttribute(out, 3));
  mesh.dispose();
  return flat;
}

/** Box around a stretched and placed geometry. */
function placed(geometry: THREE.BufferGeometry, pose: Pose7, scale: [number, number, number]): THREE.Box3 {
  if (!geometry.boundingBox) geometry.computeBoundingBox();
  return geometry.boundingBox!.clone().applyMatrix4(matrixOf(pose).scale(new THREE.Vector3(...scale)));
}

/** Colour of a body, lighter or darker by the convex piece of its mesh: each is seen for itself. */
function tinted(colour: THREE.Color, piece?: number): THREE.Color {
  return piece === undefined ? colour : colour.clone().offsetHSL(0.02 * ((piece % 3) - 1), 0, 0.06 * (((2 * piece) % 5) - 2));
}

/** Box around the shapes of a body in its own frame; without end for planes. */
function boxOf(body: Body, geometries: Geometry[], built: THREE.BufferGeometry[]): THREE.Box3 {
  const box = new THREE.Box3();
  for (const shape of body.shapes) {
    if (geometries[shape.geometry].kind === "half_space") {
      return new THREE.Box3(new THREE.Vector3().setScalar(-Infinity), new THREE.Vector3().setScalar(Infinity));
    }
    box.union(placed(built[shape.geometry], shape.pose, shape.scale));
  }
  return box;
}

/** Rods from the centre of mass to every joint, for bodies that have no shape to draw. */
function skeletons(document: RunDocument, size: number): { kind: "sphere" | "cylinder"; part: Part }[] {
  const drawn: { kind: "sphere" | "cylinder"; part: Part }[] = [];
  const places = new Map<number, THREE.Vector3[]>();
  const frames = [...document.joints.flatMap((joint) => joint.frames), ...document.springs.flatMap((spring) => spring.ends)];
  for (const frame of frames) {
    if (frame?.body === undefined) continue;
    const list = places.get(frame.body) ?? [];
    list.push(new THREE.Vector3(frame.pose[0], frame.pose[1], frame.pose[2]));
    places.set(frame.body, list);
  }
  document.bodies.forEach((body, k) => {
    if (body.shapes.length > 0 || (body.drive !== "free" && !places.has(k))) return;
    const centre = new THREE.Vector3(...body.com);
    const r = 0.012 * size;
    const part = { body: k, geometry: 0, collide: true };
    drawn.push({ kind: "sphere", part: { ...part, pose: [centre.x, centre.y, centre.z, 0, 0, 0, 1], scale: [2 * r, 2 * r, 2 * r] } });
    for (const place of places.get(k) ?? []) {
      const arm = place.clone().sub(centre);
      const length = arm.length();
      if (length < 1e-6 * size) continue;
      const q = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), arm.divideScalar(length));
      const middle = place.clone().add(centre).multiplyScalar(0.5);
      drawn.push({
        kind: "cylinder",
        part: { ...part, pose: [middle.x, middle.y, middle.z, q.x, q.y, q.z, q.w], scale: [r, r, 0.5 * length] },
      });
    }
  });
  return drawn;
}

let pattern: THREE.DataTexture | undefined;

/** Light patches on balls, so that their spin can be seen. */
function spinPattern(): THREE.DataTexture {
  if (!pattern) {
    const [w, hgt] = [64, 32];
    const data = new Uint8Array(4 * w * hgt);
    for (let j = 0; j < hgt; j++) {
      for (let i = 0; i < w; i++) {
        const dark = (Math.floor(i / 16) + Math.floor(j / 16)) % 2 === 0;
        data.set(dark ? [205, 205, 205, 255] : [255, 255, 255, 255], 4 * (j * w + i));
      }
    }
    pattern = new THREE.DataTexture(data, w, hgt);
    pattern.colorSpace = THREE.SRGBColorSpace;
    pattern.magFilter = THREE.LinearFilter;
    pattern.wrapS = THREE.RepeatWrapping;
    pattern.needsUpdate = true;
  }
  return pattern;
}

/** A perceptually even scale from dark violet to yellow, `x` from 0 to 1. */
export function viridis(x: number, out: THREE.Color): THREE.Color {
  const stops = ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"];
  const place = Math.max(0, Math.min(0.9999, x)) * (stops.length - 1);
  const k = Math.floor(place);
  return out.set(stops[k]).lerp(new THREE.Color(stops[k + 1]), place - k);
}
