// Cables: tubes along their true path, coloured by tension; wheels that have no body are drawn as rims and turn with the rope.

import * as THREE from "three";
import { type Actors, viridis } from "./actors";
import type { Rope, RunDocument } from "./protocol";
import type { View } from "./track";

/** Sides of a tube. */
const SIDES = 8;
/** An arc is drawn in pieces of this angle [rad]. */
const PIECE = 0.2;
/** Pieces in which a span that sags is drawn. */
const SAGGING = 16;
/** A rope is at least so wide, as a share of the scene. */
const THINNEST = 0.0035;
/** Rounds of the search for the tangents of two circles. */
const ROUNDS = 12;

interface Circle {
  centre: THREE.Vector3;
  u: THREE.Vector3;
  v: THREE.Vector3;
  radius: number;
  sense: number;
}

const place = ({ centre, u, v, radius }: Circle, angle: number): THREE.Vector3 =>
  centre.clone().addScaledVector(u, radius * Math.cos(angle)).addScaledVector(v, radius * Math.sin(angle));

/** Angle at which a line from (1) or to (-1) a point touches a circle in its sense. */
function tangent(circle: Circle, point: THREE.Vector3, way: number): number {
  const arm = point.clone().sub(circle.centre);
  const [x, y] = [arm.dot(circle.u), arm.dot(circle.v)];
  const away = Math.hypot(x, y);
  return Math.atan2(y, x) + way * circle.sense * (away > circle.radius ? Math.acos(circle.radius / away) : 0);
}

/** Angles at which the span between two circles leaves the one and comes to the other. */
function span(a: Circle, b: Circle): [number, number] {
  let angles: [number, number] = [0, 0];
  let [from, to] = [a.centre, b.centre];
  for (let k = 0; k < (a.radius > 0 && b.radius > 0 ? ROUNDS : 1); k++) {
    const leaves = a.radius > 0 ? tangent(a, to, -1) : 0;
    from = place(a, leaves);
    const comes = b.radius > 0 ? tangent(b, from, 1) : 0;
    to = place(b, comes);
    angles = [leaves, comes];
  }
  return angles;
}

/** A tube along points, one colour for each. */
class Tube {
  readonly mesh: THREE.Mesh<THREE.BufferGeometry, THREE.MeshStandardMaterial>;
  private count = 0;

  constructor() {
    this.mesh = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.6 }));
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = true;
  }

  draw(points: THREE.Vector3[], colours: THREE.Color[], radius: number): void {
    const n = points.length;
    this.mesh.visible = n > 1;
    if (n < 2) return;
    if (n !== this.count) this.allot(n);
    const { position, normal, color } = this.mesh.geometry.attributes as Record<string, THREE.BufferAttribute>;
    const [along, last, side, other, out] = [0, 1, 2, 3, 4].map(() => new THREE.Vector3());
    points.forEach((point, k) => {
      along.copy(points[Math.min(k + 1, n - 1)]).sub(points[Math.max(k - 1, 0)]).normalize();
      // the frame is carried along without twist
      if (k === 0) side.set(Math.abs(along.x) < 0.9 ? 1 : 0, Math.abs(along.x) < 0.9 ? 0 : 1, 0);
      else side.applyQuaternion(new THREE.Quaternion().setFromUnitVectors(last, along));
      side.addScaledVector(along, -side.dot(along)).normalize();
      other.crossVectors(along, side);
      last.copy(along);
      for (let i = 0; i < SIDES; i++) {
        const angle = (2 * Math.PI * i) / SIDES;
        out.copy(side).multiplyScalar(Math.cos(angle)).addScaledVector(other, Math.sin(angle));
        const at = k * SIDES + i;
        position.setXYZ(at, point.x + radius * out.x, point.y + radius * out.y, point.z + radius * out.z);
        normal.setXYZ(at, out.x, out.y, out.z);
        color.setXYZ(at, colours[k].r, colours[k].g, colours[k].b);
      }
    });
    for (const attribute of [position, normal, color]) attribute.needsUpdate = true;
  }

  private allot(n: number): void {
    this.count = n;
    this.mesh.geometry.dispose();
    const geometry = new THREE.BufferGeometry();
    for (const name of ["position", "normal", "color"]) {
      geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * n * SIDES), 3));
    }
    const faces: number[] = [];
    for (let k = 0; k + 1 < n; k++) {
      for (let i = 0; i < SIDES; i++) {
        const [a, b] = [k * SIDES + i, k * SIDES + ((i + 1) % SIDES)];
        faces.push(a, b, a + SIDES, b, b + SIDES, a + SIDES);
      }
    }
    geometry.setIndex(faces);
    this.mesh.geometry = geometry;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.mesh.removeFromParent();
  }
}

/** A wheel without a body: a rim and two spokes. */
function wheel(radius: number, width: number): THREE.Group {
  const group = new THREE.Group();
  const material = new THREE.MeshStandardMaterial({ color: "#8a94a3", roughness: 0.5 });
  group.add(new THREE.Mesh(new THREE.TorusGeometry(radius - width, width, 8, 48), material));
  for (const turn of [0, Math.PI / 2]) {
    const spoke = new THREE.Mesh(new THREE.BoxGeometry(2 * (radius - width), width, width), material);
    spoke.rotation.z = turn;
    group.add(spoke);
  }
  return group;
}

export class Ropes {
  readonly root = new THREE.Group();
  private ropes: { rope: Rope; tube: Tube; wheels: (THREE.Group | undefined)[] }[] = [];
  private numbers = new Map<string, number>();
  private size = 1;
  private up = new THREE.Vector3(0, 0, 1);
  /** Largest tension seen [N]. */
  private top = 0;

  enter(document: RunDocument, size: number, up: THREE.Vector3): void {
    for (const { tube, wheels } of this.ropes) {
      tube.dispose();
      for (const group of wheels) {
        group?.traverse((part) => part instanceof THREE.Mesh && (part.geometry.dispose(), part.material.dispose()));
        group?.removeFromParent();
      }
    }
    this.top = 0;
    this.size = size;
    this.up.copy(up);
    this.numbers = new Map(document.signals.map(({ name }, k) => [name, k]));
    this.ropes = (document.ropes ?? []).map((rope) => {
      const tube = new Tube();
      const width = this.width(rope);
      const within = rope.points.map((_, k) => k > 0 && k + 1 < rope.points.length);
      const wheels = rope.points.map(({ radius }, k) => (within[k] && radius > 2 * width ? wheel(radius, 0.5 * width) : undefined));
      this.root.add(tube.mesh, ...wheels.flatMap((group) => group ?? []));
      return { rope, tube, wheels };
    });
  }

  /** All of them as they are in a view. */
  place(view: View, actors: Actors): void {
    const value = (name: string | undefined): number | undefined => {
      const k = name === undefined ? undefined : this.numbers.get(name);
      return k === undefined ? undefined : view.a.block.signals[view.a.row * view.a.block.signalCount + k];
    };
    for (const { rope } of this.ropes) for (const name of rope.tensions) this.top = Math.max(this.top, value(name) ?? 0);
    for (const { rope, tube, wheels } of this.ropes) {
      const points: THREE.Vector3[] = [];
      const colours: THREE.Color[] = [];
      if (rope.segments.length > 0) {
        this.hang(rope, actors, value, points, colours);
        tube.draw(points, colours, this.width(rope) / 2);
        continue;
      }
      // wheels that the rope has left are passed
      const last = rope.points.length - 1;
      // wheels that grip, between two tensions, are never left
      const left = (k: number): boolean =>
        k > 0 && k < last && rope.tensions[k - 1] === rope.tensions[k] && (value(`${rope.name}.wrap_${k + 1}`) ?? 0) < 0;
      const kept = rope.points.map((_, k) => k).filter((k) => !left(k));
      const tension = kept.slice(0, -1).map((k) => value(rope.tensions[k]) ?? 0);
      const rests = rope.rests.length > 0 ? kept.slice(0, -1).map((k) => rope.rests[k]) : [];
      const put = (point: THREE.Vector3, k: number): void => {
        points.push(point);
        colours.push(viridis(this.top > 0 ? tension[Math.max(0, Math.min(k, tension.length - 1))] / this.top : 0, new THREE.Color()));
      };
      const out = rope.feeds.map((feed) => Math.round(value(feed?.count) ?? 0));
      const circles = kept.map((k): Circle => {
        const { frame, radius, sense } = rope.points[k];
        const end = k === 0 ? 0 : k === last ? 1 : -1;
        const feed = rope.feeds[end];
        const pose = actors.frame(feed ? feed.frames[out[end]] ?? frame : frame);
        const [u, v, centre] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
        pose.extractBasis(u, v, centre);
        return { centre: centre.setFromMatrixPosition(pose), u, v, radius, sense };
      });
      rope.feeds[0]?.frames.slice(0, out[0]).forEach((frame) => put(new THREE.Vector3().setFromMatrixPosition(actors.frame(frame)), 0));
      const spans = circles.slice(1).map((circle, k) => span(circles[k], circle));
      const lengths = spans.map(([leaves, comes], k) => place(circles[k], leaves).distanceTo(place(circles[k + 1], comes)));
      const arcs = circles.map(({ sense }, k) => (k > 0 && k < spans.length ? positive(sense * (spans[k][0] - spans[k - 1][1])) : 0));
      const spare = this.spare(rests, lengths, circles.map(({ radius }, k) => radius * arcs[k]), value);
      let passed = 0;
      circles.forEach((circle, k) => {
        const from = k > 0 ? spans[k - 1][1] : spans[0][0];
        const pieces = circle.radius > 0 ? Math.ceil(arcs[k] / PIECE) : 0;
        for (let i = 0; i <= pieces; i++) {
          put(place(circle, from + circle.sense * arcs[k] * (pieces > 0 ? i / pieces : 0)), i === pieces ? k : k - 1);
        }
        this.turn(wheels[kept[k]], circle, -circle.sense * passed);
        if (k >= spans.length) return;
        const [a, b] = [place(circle, spans[k][0]), place(circles[k + 1], spans[k][1])];
        // of a parabola: its length is l + 8 s^2/(3 l)
        const sag = Math.sqrt(0.375 * lengths[k] * spare[k]);
        for (let i = 1; sag > 0 && i < SAGGING; i++) {
          const x = i / SAGGING;
          put(a.clone().lerp(b, x).addScaledVector(this.up, -4 * sag * x * (1 - x)), k);
        }
        passed += lengths[k] + circles[k + 1].radius * arcs[k + 1];
      });
      const tail = rope.feeds[1]?.frames.slice(0, out[1]).reverse() ?? [];
      tail.forEach((frame) => put(new THREE.Vector3().setFromMatrixPosition(actors.frame(frame)), tension.length - 1));
      tube.draw(points, colours, this.width(rope) / 2);
    }
  }

  /** A catenary: the closed form of each part from the level pull and what its ends carry; straight where it is broken. */
  private hang(rope: Rope, actors: Actors, value: (name: string) => number | undefined, points: THREE.Vector3[], colours: THREE.Color[]): void {
    const ends = [0, 1].map((k) => new THREE.Vector3().setFromMatrixPosition(actors.frame(rope.points[k].frame)));
    const of = (name: string): number => value(`${rope.name}.${name}`) ?? 0;
    const [H, lying] = [of("horizontal"), of("lying")];
    if (H <= 0) return;
    const put = (point: THREE.Vector3, V: number): void => {
      points.push(point);
      colours.push(viridis(this.top > 0 ? Math.hypot(H, V) / this.top : 0, new THREE.Color()));
    };
    const rise = ends[1].clone().sub(ends[0]);
    const along = rise.clone().addScaledVector(this.up, -rise.dot(this.up));
    if (along.lengthSq() > 0) along.normalize();
    const whole = rope.segments.reduce((sum, [L, w]) => sum + L * w, 0);
    const size = [0, 1].map((k) => Math.sqrt(Math.max(of(`tension_${k + 1}`) ** 2 - H * H, 0)));
    // both carry the whole; where some of it lies, each what hangs on it
    const signs = lying > 0 ? [[1, 1]] : [[1, 1], [1, -1], [-1, 1]];
    const off = ([a, b]: number[]): number => Math.abs(a * size[0] + b * size[1] - whole);
    const carried = signs.reduce((best, sign) => (off(sign) < off(best) ? sign : best)).map((sign, k) => sign * size[k]);
    const walk = (end: number, parts: [number, number, number][]): [THREE.Vector3, number][] => {
      const line: [THREE.Vector3, number][] = [];
      let V = carried[end];
      const at = ends[end].clone();
      const way = end === 0 ? 1 : -1;
      for (const [length, w, EA] of parts) {
        const lies = lying > 0 && V < w * length;
        const s = lies ? Math.max(V / w, 0) : length;
        for (let k = 1; k <= SAGGING; k++) {
          const U = V - (w * s * k) / SAGGING;
          const [L, mean, t] = [(s * k) / SAGGING, (V + U) / 2, Math.hypot(H, V) + Math.hypot(H, U)];
          const level = (H * L) / EA + (Math.abs(w) > 0 ? (H / w) * (Math.asinh(V / H) - Math.asinh(U / H)) : (2 * H * L) / t);
          const height = -mean * (L / EA + (2 * L) / t);
          line.push([at.clone().addScaledVector(along, way * level).addScaledVector(this.up, height), U]);
        }
        if (s > 0) at.copy(line[line.length - 1][0]);
        V = lies ? 0 : V - w * length;
        if (lies) at.addScaledVector(along, way * (length - s) * (1 + H / EA));
        if (lies) line.push([at.clone(), 0]);
        if (lies && parts.length === 1) break;
      }
      return line;
    };
    const back = [...rope.segments].reverse();
    put(ends[0], carried[0]);
    if (lying > 0 && rope.segments.length === 1) {
      const [one, other] = [walk(0, rope.segments), walk(1, back)];
      one.slice(0, -1).forEach(([point, V]) => put(point, V));
      other.slice(0, -1).reverse().forEach(([point, V]) => put(point, V));
    } else if (lying > 0 && size[0] < size[1]) {
      walk(1, back).slice(0, -1).reverse().forEach(([point, V]) => put(point, V));
    } else {
      walk(0, rope.segments).slice(0, -1).forEach(([point, V]) => put(point, V));
    }
    put(ends[1], carried[1]);
  }

  /** By how much each span is longer than its path where its line is slack [m]. */
  private spare(rests: string[], lengths: number[], arcs: number[], value: (name: string) => number | undefined): number[] {
    const free = new Map<string, { path: number; straight: number }>();
    rests.forEach((name, k) => {
      const line = free.get(name) ?? { path: 0, straight: 0 };
      free.set(name, { path: line.path + lengths[k] + (rests[k + 1] === name ? arcs[k + 1] : 0), straight: line.straight + lengths[k] });
    });
    return lengths.map((length, k) => {
      const line = free.get(rests[k]);
      const rest = line && value(rests[k]);
      return line && rest !== undefined && rest > line.path ? ((rest - line.path) * length) / line.straight : 0;
    });
  }

  private turn(group: THREE.Group | undefined, { centre, u, v, radius }: Circle, passed: number): void {
    if (!group) return;
    group.position.copy(centre);
    group.quaternion.setFromRotationMatrix(new THREE.Matrix4().makeBasis(u, v, u.clone().cross(v)));
    group.rotateZ(passed / radius);
  }

  private width(rope: Rope): number {
    return Math.max(1.04 * rope.width, THINNEST * this.size);
  }
}

/** An angle within a turn, from zero. */
function positive(angle: number): number {
  const turn = 2 * Math.PI;
  return ((angle % turn) + turn) % turn;
}
