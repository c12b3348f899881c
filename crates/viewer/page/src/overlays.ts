// What is drawn for understanding: contacts and their forces, joints, springs, centres of mass, frames, inertia.

import * as THREE from "three";
import { type Contact, type Patch, type Reach, type Spring, contactsOf } from "./protocol";
import { viridis } from "./actors";
import type { Stage, Theme } from "./stage";
import type { View } from "./track";

export type Layer = "patches" | "contacts" | "forces" | "joints" | "mass" | "frames" | "inertia" | "islands" | "reach";

/** Marks of one kind at most; more would be a cloud. */
const MARKS = 4096;

/** Instances of one mesh, filled anew for every picture. */
class Marks {
  readonly mesh: THREE.InstancedMesh;
  private n = 0;

  constructor(geometry: THREE.BufferGeometry, material: THREE.Material) {
    this.mesh = new THREE.InstancedMesh(geometry, material, MARKS);
    this.mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    this.mesh.frustumCulled = false;
    this.mesh.count = 0;
    this.mesh.renderOrder = 5;
  }

  begin(): void {
    this.n = 0;
  }

  put(matrix: THREE.Matrix4): void {
    if (this.n < MARKS) this.mesh.setMatrixAt(this.n++, matrix);
  }

  end(): void {
    this.mesh.count = this.n;
    this.mesh.visible = this.n > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}

const over = (colour: string, opacity = 1): THREE.MeshBasicMaterial =>
  new THREE.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true, opacity });

/** Arrows of one colour: shafts and heads. */
class Arrows {
  private readonly shafts: Marks;
  private readonly heads: Marks;
  private readonly matrix = new THREE.Matrix4();
  private readonly turn = new THREE.Quaternion();

  constructor(parent: THREE.Group, colour: string) {
    this.shafts = new Marks(new THREE.CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2).translate(0, 0, 0.5), over(colour));
    this.heads = new Marks(new THREE.ConeGeometry(1, 1, 14).rotateX(Math.PI / 2).translate(0, 0, 0.5), over(colour));
    parent.add(this.shafts.mesh, this.heads.mesh);
  }

  begin(): void {
    this.shafts.begin();
    this.heads.begin();
  }

  put(from: THREE.Vector3, direction: THREE.Vector3, length: number, width: number): void {
    if (!(length > 0)) return;
    this.turn.setFromUnitVectors(new THREE.Vector3(0, 0, 1), direction);
    const head = Math.min(0.45 * length, 5 * width);
    const shaft = length - head;
    this.shafts.put(this.matrix.compose(from, this.turn, new THREE.Vector3(width, width, shaft)));
    const tip = from.clone().addScaledVector(direction, shaft);
    this.heads.put(this.matrix.compose(tip, this.turn, new THREE.Vector3(2.4 * width, 2.4 * width, head)));
  }

  end(): void {
    this.shafts.end();
    this.heads.end();
  }
}

export class Overlays {
  readonly root = new THREE.Group();
  readonly on: Record<Layer, boolean> = {
    patches: true, contacts: true, forces: false, joints: false, mass: false, frames: false, inertia: false, islands: false,
    reach: false,
  };
  private readonly points = new Marks(new THREE.SphereGeometry(1, 12, 8), over("#ffd23f"));
  private readonly slips = new Marks(new THREE.SphereGeometry(1, 12, 8), over("#ff5d73"));
  private readonly normals = new Arrows(this.root, "#59d0ff");
  private readonly pushes = new Arrows(this.root, "#ffd23f");
  private readonly drags = new Arrows(this.root, "#ff5d73");
  private readonly twists = new Arrows(this.root, "#c084fc");
  private readonly pins = new Marks(new THREE.CylinderGeometry(1, 1, 1, 20).rotateX(Math.PI / 2), over("#ff9f1c", 0.85));
  private readonly balls = new Marks(new THREE.SphereGeometry(1, 16, 12), over("#ff9f1c", 0.85));
  private readonly slides = new Marks(new THREE.BoxGeometry(1, 1, 1), over("#ff9f1c", 0.85));
  private readonly axes = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: "#ff9f1c", depthTest: false, transparent: true }));
  private readonly masses = new Marks(new THREE.OctahedronGeometry(1), over("#f5f5f5"));
  private readonly frames = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
  private readonly boxes = new Marks(new THREE.BoxGeometry(1, 1, 1), new THREE.MeshBasicMaterial({ color: "#9be564", wireframe: true, transparent: true, opacity: 0.8 }));
  /** Edges of the boxes that bodies do not leave. */
  private readonly reaches = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: "#38bdf8", transparent: true, opacity: 0.7 }));
  private readonly patches = new THREE.Mesh(
    new THREE.BufferGeometry(),
    new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide, depthTest: false, transparent: true, opacity: 0.85 }),
  );
  /** Force on each polygon. */
  private readonly shares = new Arrows(this.root, "#ffffff");
  /** A hand that pulls at a point of a body: point in the body, point in the world. */
  hand: { body: number; at: THREE.Vector3; to: THREE.Vector3 } | undefined;
  private readonly coils = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: "#c9d1dc" }));
  /** Largest contact force seen [N]. */
  private top = 0;
  /** Largest contact torque seen [N m]. */
  private topTorque = 0;

  constructor(private readonly stage: Stage) {
    this.axes.frustumCulled = this.frames.frustumCulled = this.coils.frustumCulled = this.reaches.frustumCulled = false;
    this.axes.renderOrder = this.frames.renderOrder = 5;
    this.root.add(
      this.points.mesh, this.slips.mesh, this.pins.mesh, this.balls.mesh, this.slides.mesh, this.axes, this.masses.mesh, this.frames,
      this.boxes.mesh, this.coils, this.patches, this.reaches,
    );
    this.patches.visible = this.patches.frustumCulled = false;
    this.patches.renderOrder = 4;
  }

  enter(): void {
    this.top = this.topTorque = 0;
  }

  dress(theme: Theme): void {
    (this.coils.material as THREE.LineBasicMaterial).color.set(theme === "dark" ? "#c9d1dc" : "#4b5563");
    (this.masses.mesh.material as THREE.MeshBasicMaterial).color.set(theme === "dark" ? "#f5f5f5" : "#1f2937");
    const [contact, slip] = theme === "dark" ? ["#ffd23f", "#ff5d73"] : ["#d98200", "#d0243f"];
    (this.points.mesh.material as THREE.MeshBasicMaterial).color.set(contact);
    (this.slips.mesh.material as THREE.MeshBasicMaterial).color.set(slip);
  }

  /** Contacts of the row, and everything that is switched on. */
  place(view: View): Contact[] {
    const contacts = contactsOf(view.a.block, view.a.row);
    this.placeContacts(contacts);
    this.placeJoints();
    this.placeBodies();
    this.placeSprings();
    if (this.on.islands) this.colourIslands(contacts);
    return contacts;
  }

  /** Polygons over which surfaces touch, by pressure, each with its share of the force. */
  placePatches(list: Patch[] | undefined): void {
    if (!list && this.on.patches) return; // on their way
    const { size } = this.stage;
    const shown = this.on.patches ? (list ?? []).flatMap((patch) => patch.polygons) : [];
    const pressure = shown.map(({ force, area }) => Math.hypot(...force) / Math.max(area, 1e-30));
    const [top, most] = [Math.max(...pressure, 1e-30), Math.max(...shown.map(({ force }) => Math.hypot(...force)), 1e-30)];
    const corners: number[] = [];
    const colours: number[] = [];
    const colour = new THREE.Color();
    this.shares.begin();
    shown.forEach(({ rings, center, normal, force }, k) => {
      viridis(pressure[k] / top, colour);
      // Flattened along the normal, cut into triangles, put back.
      const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(...normal).normalize(), new THREE.Vector3(0, 0, 1));
      const flat = rings.filter((ring) => ring.length > 2).map((ring) => {
        const points = ring.map((corner) => new THREE.Vector3(...corner).applyQuaternion(turn)).map(({ x, y }) => new THREE.Vector2(x, y));
        return { ring, points, area: THREE.ShapeUtils.area(points), box: new THREE.Box2().setFromPoints(points) };
      });
      // Outlines run one way, holes the other; the largest ring is an outline.
      const way = Math.sign(flat.reduce((most, { area }) => (Math.abs(area) > Math.abs(most) ? area : most), 0));
      for (const outline of flat.filter(({ area }) => Math.sign(area) === way)) {
        const holes = flat.filter(({ area, box }) => Math.sign(area) === -way && outline.box.containsBox(box));
        const all = [outline, ...holes].flatMap(({ ring }) => ring);
        for (const triangle of THREE.ShapeUtils.triangulateShape(outline.points, holes.map(({ points }) => points))) {
          for (const corner of triangle) {
            corners.push(...all[corner]);
            colours.push(colour.r, colour.g, colour.b);
          }
        }
      }
      const f = Math.hypot(...force);
      if (this.on.forces && f > 0) {
        this.shares.put(new THREE.Vector3(...center), new THREE.Vector3(...force).divideScalar(f), 0.15 * size * Math.sqrt(f / most), 0.0015 * size);
      }
    });
    this.shares.end();
    this.patches.visible = corners.length > 0;
    this.patches.geometry.dispose();
    this.patches.geometry = new THREE.BufferGeometry();
    this.patches.geometry.setAttribute("position", new THREE.Float32BufferAttribute(corners, 3));
    this.patches.geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
  }

  /** Boxes that bodies do not leave before the end of their horizon. */
  placeReach(list: Reach[] | undefined): void {
    if (!list && this.on.reach) return; // on their way
    const ends: number[] = [];
    for (const { low, high } of this.on.reach ? (list ?? []) : []) {
      low.forEach((a, k) => {
        const corner = (i: number): number[] => [0, 1, 2].map((axis) => ((i >> axis) & 1 ? high[k] : a)[axis]);
        for (let i = 0; i < 8; i++) {
          for (let axis = 0; axis < 3; axis++) {
            if (!((i >> axis) & 1)) ends.push(...corner(i), ...corner(i | (1 << axis)));
          }
        }
      });
    }
    this.reaches.visible = ends.length > 0;
    setLines(this.reaches, ends);
  }

  private placeContacts(contacts: Contact[]): void {
    const { size, actors } = this.stage;
    const all = [this.points, this.slips, this.normals, this.pushes, this.drags, this.twists];
    all.forEach((marks) => marks.begin());
    const matrix = new THREE.Matrix4();
    const [force, normal, part] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
    for (const contact of contacts) {
      this.top = Math.max(this.top, Math.hypot(...contact.force));
      this.topTorque = Math.max(this.topTorque, Math.hypot(...contact.torque));
    }
    for (const contact of contacts) {
      if (!actors.visible[contact.body1] || !actors.visible[contact.body2]) continue;
      const place = new THREE.Vector3(...contact.position);
      normal.fromArray(contact.normal);
      // Marks are no larger than the smaller of the two bodies can bear.
      const least = Math.min(actors.radii[contact.body1] || Infinity, actors.radii[contact.body2] || Infinity);
      if (this.on.contacts) {
        const r = Math.min(0.006 * size, 0.14 * least);
        (contact.slipping ? this.slips : this.points).put(matrix.makeScale(r, r, r).setPosition(place));
        this.normals.put(place, normal, 8 * r, 0.2 * r);
      }
      if (this.on.forces && this.top > 0) {
        force.fromArray(contact.force);
        const along = force.dot(normal);
        part.copy(normal).multiplyScalar(Math.sign(along) || 1);
        this.pushes.put(place, part, this.length(Math.abs(along), least), Math.min(0.003 * size, 0.05 * least));
        force.addScaledVector(normal, -along);
        const across = force.length();
        const twist = part.fromArray(contact.torque).length();
        const visible = twist > 1e-3 * this.topTorque;
        if (visible) this.twists.put(place, part.divideScalar(twist), this.length((this.top * twist) / this.topTorque, least), Math.min(0.002 * size, 0.035 * least));
        if (across > 1e-12 * this.top) this.drags.put(place, force.divideScalar(across), this.length(across, least), Math.min(0.003 * size, 0.05 * least));
      }
    }
    all.forEach((marks) => marks.end());
  }

  /** Forces of all sizes can be seen when lengths go with their square roots. */
  private length(force: number, least: number): number {
    return Math.min(0.22 * this.stage.size, 2.2 * least) * Math.sqrt(force / this.top);
  }

  private placeJoints(): void {
    const { size, actors } = this.stage;
    const marks = [this.pins, this.balls, this.slides];
    marks.forEach((m) => m.begin());
    const ends: number[] = [];
    this.axes.visible = this.on.joints;
    if (this.on.joints) {
      const matrix = new THREE.Matrix4();
      const [p, q, s] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Vector3()];
      for (const joint of actors.document.joints) {
        const frame = joint.frames[0] ?? joint.frames[1];
        if (!frame) continue;
        actors.frame(frame).decompose(p, q, s);
        const reach = Math.min(...joint.frames.map((f) => (f?.body === undefined ? size : actors.radii[f.body] || size)));
        const r = Math.min(0.012 * size, 0.1 * reach);
        const axis = new THREE.Vector3(0, 0, 1).applyQuaternion(q);
        const line = (half: number): void => {
          ends.push(...p.clone().addScaledVector(axis, -half).toArray(), ...p.clone().addScaledVector(axis, half).toArray());
        };
        switch (joint.glyph) {
          case "pin":
            this.pins.put(matrix.compose(p, q, s.set(r, r, 2.2 * r)));
            line(4 * r);
            break;
          case "slide":
            this.slides.put(matrix.compose(p, q, s.set(1.5 * r, 1.5 * r, 2.2 * r)));
            line(6 * r);
            break;
          case "ball":
            this.balls.put(matrix.compose(p, q, s.set(r, r, r)));
            break;
          default: {
            this.slides.put(matrix.compose(p, q, s.set(r, r, r)));
            const other = joint.frames[1];
            if (joint.frames[0] && other) {
              const b = new THREE.Vector3().setFromMatrixPosition(actors.frame(other));
              ends.push(...p.toArray(), ...b.toArray());
            }
          }
        }
      }
    }
    marks.forEach((m) => m.end());
    setLines(this.axes, ends);
  }

  private placeBodies(): void {
    const { size, actors } = this.stage;
    this.masses.begin();
    this.boxes.begin();
    const lines: number[] = [];
    const colours: number[] = [];
    this.frames.visible = this.on.frames;
    if (this.on.mass || this.on.frames || this.on.inertia) {
      const matrix = new THREE.Matrix4();
      actors.document.bodies.forEach((body, k) => {
        if (!actors.visible[k]) return;
        const X = actors.matrix(k);
        const c = new THREE.Vector3(...body.com).applyMatrix4(X);
        if (this.on.mass && body.mass !== undefined) {
          const r = 0.009 * size;
          this.masses.put(matrix.makeScale(r, r, r).setPosition(c));
        }
        if (this.on.inertia && body.mass && body.inertia) {
          // The box of the same mass and inertia: I_x = m (l_y^2 + l_z^2)/12 and so on.
          const [x, y, z] = body.inertia;
          const length = (a: number): number => Math.sqrt(Math.max(1e-12 * size * size, (6 * a) / body.mass!));
          const q = new THREE.Quaternion().setFromRotationMatrix(X);
          this.boxes.put(matrix.compose(c, q, new THREE.Vector3(length(y + z - x), length(z + x - y), length(x + y - z))));
        }
        if (this.on.frames && k < MARKS && Number.isFinite(actors.radii[k])) {
          const p = new THREE.Vector3().setFromMatrixPosition(X);
          const reach = 0.07 * size;
          [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, i) => {
            const end = new THREE.Vector3(...(axis as [number, number, number])).transformDirection(X).multiplyScalar(reach).add(p);
            lines.push(...p.toArray(), ...end.toArray());
            const colour = [[1, 0.3, 0.3], [0.35, 0.9, 0.35], [0.4, 0.6, 1]][i];
            colours.push(...colour, ...colour);
          });
        }
      });
    }
    this.masses.end();
    this.boxes.end();
    setLines(this.frames, lines, colours);
  }

  private placeSprings(): void {
    const { size, actors } = this.stage;
    const ends: number[] = [];
    const springs: Pick<Spring, "kind" | "ends">[] = [...actors.document.springs];
    if (this.hand) {
      const { body, at, to } = this.hand;
      springs.push({ kind: "spring", ends: [{ body, pose: [at.x, at.y, at.z, 0, 0, 0, 1] }, { pose: [to.x, to.y, to.z, 0, 0, 0, 1] }] });
    }
    for (const spring of springs) {
      const a = new THREE.Vector3().setFromMatrixPosition(actors.frame(spring.ends[0]));
      const b = new THREE.Vector3().setFromMatrixPosition(actors.frame(spring.ends[1]));
      const along = b.clone().sub(a);
      const length = along.length();
      if (!(length > 0)) continue;
      if (spring.kind !== "spring") {
        ends.push(...a.toArray(), ...b.toArray());
        continue;
      }
      along.divideScalar(length);
      const side = new THREE.Vector3(Math.abs(along.x) < 0.9 ? 1 : 0, Math.abs(along.x) < 0.9 ? 0 : 1, 0).cross(along).normalize();
      const other = side.clone().cross(along);
      const [turns, steps, r] = [9, 14, 0.014 * size];
      let last = a.clone();
      for (let i = 1; i <= turns * steps; i++) {
        const x = i / (turns * steps);
        const angle = 2 * Math.PI * turns * x;
        const taper = Math.min(1, 12 * Math.min(x, 1 - x));
        const next = a.clone().addScaledVector(along, x * length)
          .addScaledVector(side, r * taper * Math.sin(angle)).addScaledVector(other, r * taper * (1 - Math.cos(angle)) * 0.7);
        ends.push(...last.toArray(), ...next.toArray());
        last = next;
      }
    }
    this.coils.visible = ends.length > 0;
    if (springs.length > 0) setLines(this.coils, ends);
  }

  /** Bodies that touch, or hang on each other, have one colour: what the solver must treat together. */
  private colourIslands(contacts: Contact[]): void {
    const { actors } = this.stage;
    const { bodies } = actors.document;
    const parent = bodies.map((_, k) => k);
    const root = (k: number): number => {
      while (parent[k] !== k) k = parent[k] = parent[parent[k]];
      return k;
    };
    const join = (a: number, b: number): void => {
      if (bodies[a]?.drive === "free" && bodies[b]?.drive === "free") parent[Math.max(root(a), root(b))] = Math.min(root(a), root(b));
    };
    contacts.forEach((contact) => join(contact.body1, contact.body2));
    const first = new Map<number, number>();
    bodies.forEach((body, k) => {
      if (body.mechanism === undefined) return;
      const other = first.get(body.mechanism);
      if (other === undefined) first.set(body.mechanism, k);
      else join(k, other);
    });
    const order = new Map<number, number>();
    bodies.forEach((_, k) => {
      if (!order.has(root(k))) order.set(root(k), order.size);
    });
    actors.colourBy("island", (k) => order.get(root(k)) ?? 0);
  }

  toggle(layer: Layer): void {
    this.on[layer] = !this.on[layer];
    if (layer === "islands") this.stage.actors.colourBy("body");
  }
}

function setLines(lines: THREE.LineSegments, ends: number[], colours?: number[]): void {
  const old = lines.geometry.getAttribute("position") as THREE.BufferAttribute | undefined;
  if (old && old.count * 3 === ends.length) {
    (old.array as Float32Array).set(ends);
    old.needsUpdate = true;
    if (colours) {
      const attribute = lines.geometry.getAttribute("color") as THREE.BufferAttribute;
      (attribute.array as Float32Array).set(colours);
      attribute.needsUpdate = true;
    }
    return;
  }
  lines.geometry.dispose();
  lines.geometry = new THREE.BufferGeometry();
  lines.geometry.setAttribute("position", new THREE.Float32BufferAttribute(ends, 3));
  if (colours) lines.geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
}
