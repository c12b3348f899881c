// The picture: camera, light, ground; what the mouse does in it.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { RunDocument } from "./protocol";
import type { Track, View } from "./track";
import { Actors, MANY, matrixOf } from "./actors";
import { GrainBalls } from "./grains";
import { GroundTiles } from "./ground";
import { Overlays } from "./overlays";
import { Ropes } from "./ropes";
import { Drawings } from "./drawings";
import { Surfaces } from "./surfaces";

export type Theme = "dark" | "light";

const LOOK = {
  dark: { sky: "#20262f", horizon: "#12161c", ground: "#2a313b", minor: 0.3, line: "#8fa0b5", hemi: "#dbe6f7", below: "#6a6f78", strength: 1.9, key: 2.5 },
  light: { sky: "#eef2f7", horizon: "#dde4ec", ground: "#f2f4f7", minor: 0.2, line: "#5b6b80", hemi: "#ffffff", below: "#c4bfb6", strength: 2.0, key: 2.1 },
};

export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly scene = new THREE.Scene();
  readonly overlays: Overlays;
  readonly ropes = new Ropes();
  readonly surfaces = new Surfaces();
  readonly drawings = new Drawings();
  readonly grains = new GrainBalls();
  readonly ground = new GroundTiles();
  actors!: Actors;
  ghost: Actors | undefined;
  controls: OrbitControls;
  camera: THREE.PerspectiveCamera | THREE.OrthographicCamera;
  /** Length that everything drawn for orientation is measured by [m]. */
  size = 1;
  follow: number | undefined;
  selected: number | undefined;
  private readonly perspective = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
  private readonly orthographic = new THREE.OrthographicCamera(-1, 1, 1, -1, -1000, 1000);
  private readonly hemisphere = new THREE.HemisphereLight();
  private readonly key = new THREE.DirectionalLight();
  private readonly fill = new THREE.DirectionalLight("#dfe8ff", 0.7);
  private readonly floor: THREE.Mesh;
  private readonly outline = new THREE.Group();
  private readonly outlineMaterial = new THREE.MeshBasicMaterial({ color: "#ffb02e", side: THREE.BackSide });
  private readonly grids: THREE.MeshStandardMaterial[] = [];
  /** The box of what moves, at the start. */
  private readonly moving = new THREE.Box3();
  /** The box of everything worth seeing. */
  private readonly bounds = new THREE.Box3();
  private readonly centre = new THREE.Vector3();
  private readonly up = new THREE.Vector3(0, 0, 1);
  private front = new THREE.Vector3(0.55, -1, 0.45);
  private radius = 1;
  private followed = new THREE.Vector3();
  private theme: Theme = "dark";
  private canvas: HTMLCanvasElement;

  /** `changed` is called when the camera has moved. */
  constructor(readonly host: HTMLElement, private readonly changed: () => void) {
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.canvas = this.renderer.domElement;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.toneMappingExposure = 1.05;
    this.canvas.classList.add("picture");
    host.append(this.canvas);
    this.camera = this.perspective;
    this.controls = this.steer();
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(2048, 2048);
    this.key.shadow.radius = 4;
    this.key.shadow.bias = -0.0004;
    this.floor = this.plane(true);
    this.overlays = new Overlays(this);
    this.scene.add(this.hemisphere, this.key, this.key.target, this.fill, this.fill.target, this.floor, this.outline, this.overlays.root, this.surfaces.root, this.drawings.root, this.grains.root, this.ground.root, this.ropes.root);
    new ResizeObserver(() => this.resize()).observe(host);
    this.dress("dark");
    this.resize();
  }

  private steer(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.canvas);
    controls.enableDamping = false;
    controls.zoomToCursor = true;
    controls.screenSpacePanning = true;
    controls.addEventListener("change", this.changed);
    return controls;
  }

  /** Puts runs on stage, the second as a ghost over the first. */
  enter(tracks: Track[], keepCamera: boolean): void {
    this.actors?.dispose();
    this.actors?.planes.forEach((plane) => plane.mesh.removeFromParent());
    this.grids.splice(1);
    this.ghost?.dispose();
    this.ghost = undefined;
    this.select(undefined);
    const document = tracks[0].document;
    const g = new THREE.Vector3(...document.gravity);
    this.up.copy(g.lengthSq() > 0 ? g.normalize().negate() : new THREE.Vector3(0, 0, 1));
    this.actors = new Actors(document, false, (boxes, poses) => {
      this.adopt(this.box(document, boxes, poses));
      return this.size;
    });
    this.adopt(this.box(document, this.actors.boxes, this.actors.poses));
    this.scene.add(this.actors.root);
    if (tracks[1]) {
      this.ghost = new Actors(tracks[1].document, true, () => this.size);
      this.scene.add(this.ghost.root);
    }
    for (const plane of this.actors.planes) {
      plane.mesh = this.plane(false);
      this.scene.add(plane.mesh);
    }
    this.dress(this.theme);
    this.front = this.bestFront(document);
    this.layGround(document);
    const instances = document.bodies.length;
    this.renderer.shadowMap.enabled = instances <= MANY;
    this.overlays.enter();
    this.surfaces.enter(document, this.actors);
    this.ropes.enter(document, this.size, this.up);
    this.drawings.enter(document);
    this.grains.dispose();
    this.actors.refresh();
    this.ghost?.refresh();
    if (!keepCamera) this.home();
  }

  /** Surfaces, cables and grains as they are in a view. */
  place(track: Track, view: View): void {
    this.ropes.place(view, this.actors);
    this.surfaces.place(track, view, this.actors);
    this.drawings.place(view, this.actors, this.centre, this.size);
    const time = view.a.block.time[view.a.row];
    const rest = view.b.block.time[view.b.row] - time;
    this.grains.place(track.grains?.at(time + view.w * rest), track.document.grain_shapes);
    track.ground?.(this.ground);
  }

  /** Looks over the motion that is known, so that the whole of it fits the picture. */
  frameMotion(track: Track): void {
    const document = track.document;
    const before = this.bounds.clone();
    const grown = before.clone();
    const [first] = track.known();
    const every = first ? Math.max(1, Math.floor(first.rows / 60)) : 1;
    const poses = new Float32Array(7 * document.bodies.length);
    for (let row = 0; first && row < first.rows; row += every) {
      for (let k = 0; k < first.bodies; k++) {
        const o = (row * first.bodies + k) * first.stride;
        poses.set(first.motion.subarray(o, o + 7), 7 * k);
      }
      const box = this.box(document, this.actors.boxes, poses);
      if (Number.isFinite(box.min.length() + box.max.length())) grown.union(box);
    }
    const length = (box: THREE.Box3): number => box.getSize(new THREE.Vector3()).length();
    // Something that flies away is for following, not for framing.
    if (length(grown) < 25 * length(before)) this.adopt(grown);
    this.layGround(document);
    this.home();
  }

  private adopt(box: THREE.Box3): void {
    this.bounds.copy(box);
    box.getCenter(this.centre);
    this.radius = Math.max(1e-6, 0.5 * box.getSize(new THREE.Vector3()).length());
    this.size = 2 * this.radius;
  }

  /** The box of all that moves, and of what stands still near it. */
  private box(document: RunDocument, boxes: THREE.Box3[], poses: Float32Array): THREE.Box3 {
    const moving = new THREE.Box3();
    const still: THREE.Box3[] = [];
    const place = (k: number): THREE.Vector3 => new THREE.Vector3().fromArray(poses, 7 * k);
    document.bodies.forEach((body, k) => {
      const own = boxes[k];
      if (!Number.isFinite(own.max.x) || own.isEmpty()) return;
      const box = own.clone().applyMatrix4(matrixOf(poses.subarray(7 * k, 7 * k + 7)));
      if (body.drive === "free") moving.union(box);
      else still.push(box);
    });
    const ropes = (document.ropes ?? []).map((rope) => ({ frames: rope.points.map((point) => point.frame) }));
    for (const { frames } of [...document.joints, ...ropes]) {
      for (const frame of frames) {
        if (!frame) continue;
        const p = new THREE.Vector3(frame.pose[0], frame.pose[1], frame.pose[2]);
        if (frame.body !== undefined) {
          const q = new THREE.Quaternion().fromArray(poses, 7 * frame.body + 3);
          p.applyQuaternion(q).add(place(frame.body));
        }
        moving.expandByPoint(p);
      }
    }
    this.moving.copy(moving);
    const reach = moving.isEmpty() ? Infinity : moving.getSize(new THREE.Vector3()).length();
    for (const box of still) if (box.getSize(new THREE.Vector3()).length() < 3 * reach) moving.union(box);
    if (moving.isEmpty()) moving.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
    if (moving.getSize(new THREE.Vector3()).length() < 1e-9) moving.expandByScalar(0.5);
    return moving;
  }

  /** Where to look from: along the axes of a plane mechanism, else over the shoulder. */
  private bestFront(document: RunDocument): THREE.Vector3 {
    const side = Math.abs(this.up.z) > 0.9 ? new THREE.Vector3(0.5, -1, 0) : new THREE.Vector3(0.35, 0, 1);
    side.addScaledVector(this.up, -side.dot(this.up)).normalize();
    const over = side.clone().addScaledVector(this.up, 0.42).normalize();
    const axes = document.joints
      .filter((joint) => joint.kind === "revolute" && joint.frames[0])
      .map((joint) => new THREE.Vector3(0, 0, 1).transformDirection(this.actors.frame(joint.frames[0]!)));
    if (axes.length < 2) return over;
    if (axes.some((axis) => Math.abs(axis.dot(axes[0])) < 0.99) || Math.abs(axes[0].dot(this.up)) > 0.5) return over;
    const front = axes[0].clone();
    if (front.dot(over) < 0) front.negate();
    const across = new THREE.Vector3().crossVectors(this.up, front).normalize();
    return front.addScaledVector(across, 0.3).addScaledVector(this.up, 0.22).normalize();
  }

  /** Lays the grid: on planes of the scene, or below everything where there is none. */
  private layGround(document: RunDocument): void {
    const extent = 24 * this.size;
    const cell = 10 ** Math.floor(Math.log10(this.size / 2.5));
    for (const material of this.grids) {
      const uniforms = material.userData.uniforms as Record<string, { value: unknown }>;
      uniforms.cell.value = cell;
      uniforms.fade.value = 5 * this.size;
      (uniforms.around.value as THREE.Vector3).copy(this.centre);
    }
    for (const plane of this.actors.planes) {
      plane.mesh.geometry.dispose();
      plane.mesh.geometry = new THREE.PlaneGeometry(2 * extent, 2 * extent);
    }
    this.floor.visible = this.actors.planes.length === 0 && document.bodies.length > 0;
    this.floor.geometry.dispose();
    this.floor.geometry = new THREE.PlaneGeometry(2 * extent, 2 * extent);
    this.floor.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.up);
    const corner = this.bounds.getSize(new THREE.Vector3()).multiplyScalar(0.5);
    const drop = corner.x * Math.abs(this.up.x) + corner.y * Math.abs(this.up.y) + corner.z * Math.abs(this.up.z);
    this.floor.position.copy(this.centre).addScaledVector(this.up, -drop - 0.002 * this.size);
    // Far from the centre the floor is behind everything: it must not cut into the bodies.
    this.perspective.near = 0.002 * this.size;
    this.perspective.far = 80 * this.size;
    this.orthographic.near = -40 * this.size;
    this.orthographic.far = 80 * this.size;
    const s = 1.35 * this.radius;
    Object.assign(this.key.shadow.camera, { left: -s, right: s, top: s, bottom: -s, near: 0.1 * this.radius, far: 9 * this.radius });
    this.key.shadow.camera.updateProjectionMatrix();
    this.key.shadow.normalBias = 0.004 * this.radius;
  }

  /** A plane with lines that fade with the distance. */
  private plane(faint: boolean): THREE.Mesh {
    const material = new THREE.MeshStandardMaterial({ roughness: 0.95, metalness: 0, transparent: true, side: faint ? THREE.DoubleSide : THREE.FrontSide });
    material.polygonOffset = true;
    material.polygonOffsetFactor = 1;
    material.polygonOffsetUnits = 1;
    const uniforms = {
      cell: { value: 1 },
      fade: { value: 10 },
      around: { value: new THREE.Vector3() },
      lines: { value: new THREE.Color() },
      strength: { value: 0.2 },
      base: { value: faint ? 0.35 : 1 },
    };
    material.userData.uniforms = uniforms;
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, uniforms);
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", "#include <common>\nvarying vec2 vFlat;\nvarying vec3 vPlace;")
        .replace("#include <begin_vertex>", "#include <begin_vertex>\nvFlat = position.xy;\nvPlace = (modelMatrix * vec4(position, 1.0)).xyz;");
      shader.fragmentShader = shader.fragmentShader
        .replace(
          "#include <common>",
          `#include <common>
          varying vec2 vFlat;
          varying vec3 vPlace;
          uniform float cell, fade, strength, base;
          uniform vec3 around, lines;
          float grid(vec2 p, float size) {
            vec2 q = p / size;
            vec2 width = fwidth(q);
            vec2 off = abs(fract(q - 0.5) - 0.5) / max(width, vec2(1e-6));
            float line = 1.0 - min(min(off.x, off.y), 1.0);
            // lines nearer than two pixels to each other are a haze
            return line * (1.0 - smoothstep(0.25, 0.6, max(width.x, width.y)));
          }`,
        )
        .replace(
          "#include <dithering_fragment>",
          `#include <dithering_fragment>
          float far = length(vPlace - around) / fade;
          float haze = 1.0 - smoothstep(0.15, 1.0, far);
          float line = max(0.55 * grid(vFlat, cell), grid(vFlat, 10.0 * cell));
          gl_FragColor.rgb = mix(gl_FragColor.rgb, lines, line * strength * 1.6);
          gl_FragColor.a = haze * max(base, line * 0.8);`,
        );
    };
    this.grids.push(material);
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), material);
    mesh.receiveShadow = true;
    mesh.renderOrder = -1;
    return mesh;
  }

  dress(theme: Theme): void {
    this.theme = theme;
    const look = LOOK[theme];
    this.scene.background = gradient(look.sky, look.horizon);
    this.hemisphere.color.set(look.hemi);
    this.hemisphere.groundColor.set(look.below);
    this.hemisphere.intensity = look.strength;
    this.key.intensity = look.key;
    for (const material of this.grids) {
      material.color.set(look.ground);
      const uniforms = material.userData.uniforms as Record<string, { value: unknown }>;
      (uniforms.lines.value as THREE.Color).set(look.line);
      uniforms.strength.value = look.minor;
    }
    this.overlays.dress(theme);
  }

  get dressed(): Theme {
    return this.theme;
  }

  resize(): void {
    const { clientWidth: w, clientHeight: hgt } = this.host;
    if (w === 0 || hgt === 0) return;
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.renderer.setSize(w, hgt);
    this.perspective.aspect = w / hgt;
    this.perspective.updateProjectionMatrix();
    this.fitOrthographic();
    this.changed();
  }

  private fitOrthographic(): void {
    const aspect = this.host.clientWidth / Math.max(1, this.host.clientHeight);
    const half = 1.1 * this.radius;
    Object.assign(this.orthographic, { left: -half * aspect, right: half * aspect, top: half, bottom: -half });
    this.orthographic.updateProjectionMatrix();
  }

  /** The picture as it was at first. */
  home(): void {
    this.look(this.front);
  }

  /** Looks at everything, or at what is selected, from a direction. */
  look(from: THREE.Vector3, onSelection = false): void {
    let [centre, radius] = [this.centre.clone(), this.radius];
    const k = this.selected;
    if (onSelection && k !== undefined && Number.isFinite(this.actors.radii[k])) {
      centre = this.actors.position(k);
      radius = Math.max(1.6 * this.actors.radii[k], 1e-4 * this.size);
    }
    const direction = from.clone().normalize();
    const half = Math.tan((0.5 * this.perspective.fov * Math.PI) / 180);
    const selection = centre.distanceTo(this.centre) > 0;
    const distance = selection ? (1.5 * radius) / Math.sin(Math.atan(half)) : this.distanceFor(direction, half);
    // Straight from above the picture needs another up than the line of sight.
    const steep = Math.abs(direction.dot(this.up)) > 0.999;
    const sideways = Math.abs(this.up.y) > 0.9 ? new THREE.Vector3(0, 0, -1) : new THREE.Vector3(0, 1, 0);
    for (const camera of [this.perspective, this.orthographic]) {
      camera.up.copy(this.up);
      camera.position.copy(centre).addScaledVector(direction, distance);
      if (steep) camera.position.addScaledVector(sideways, -1e-3 * distance);
      camera.lookAt(centre);
    }
    this.orthographic.zoom = this.radius / radius;
    this.fitOrthographic();
    this.renew(centre);
  }

  /** From how far away all corners of the box are in the picture, with some room around them. */
  private distanceFor(direction: THREE.Vector3, half: number): number {
    const right = new THREE.Vector3().crossVectors(this.up, direction);
    if (right.lengthSq() < 1e-6) right.set(1, 0, 0);
    right.normalize();
    const above = new THREE.Vector3().crossVectors(direction, right);
    const { min, max } = this.bounds;
    let distance = 0;
    for (let i = 0; i < 8; i++) {
      const corner = new THREE.Vector3(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z).sub(this.centre);
      const across = Math.abs(corner.dot(right)) / (half * this.perspective.aspect);
      const up = Math.abs(corner.dot(above)) / half;
      distance = Math.max(distance, corner.dot(direction) + 1.12 * Math.max(across, up));
    }
    return distance;
  }

  private renew(target: THREE.Vector3): void {
    this.controls.dispose();
    this.controls = this.steer();
    this.controls.target.copy(target);
    this.controls.update();
  }

  axis(name: "x" | "-x" | "y" | "-y" | "z" | "-z"): void {
    const sign = name.startsWith("-") ? -1 : 1;
    const letter = name.slice(-1);
    this.look(new THREE.Vector3(letter === "x" ? sign : 0, letter === "y" ? sign : 0, letter === "z" ? sign : 0));
  }

  frameSelection(): void {
    const from = this.camera.position.clone().sub(this.controls.target);
    this.look(from, true);
  }

  toggleOrthographic(): void {
    const next = this.camera === this.perspective ? this.orthographic : this.perspective;
    next.position.copy(this.camera.position);
    next.quaternion.copy(this.camera.quaternion);
    if (next === this.orthographic) {
      const distance = this.camera.position.distanceTo(this.controls.target);
      this.fitOrthographic();
      const half = distance * Math.tan((0.5 * this.perspective.fov * Math.PI) / 180);
      this.orthographic.zoom = (1.1 * this.radius) / half;
      this.orthographic.updateProjectionMatrix();
    }
    const target = this.controls.target.clone();
    this.camera = next;
    this.renew(target);
  }

  /** Where the camera is, to come back to. */
  viewpoint(): number[] {
    return [...this.camera.position.toArray(), ...this.controls.target.toArray()];
  }

  select(body: number | undefined): void {
    this.selected = body;
    this.outline.clear();
    if (body === undefined) return;
    for (const mesh of this.actors.meshes(body, this.outlineMaterial)) {
      const r = Math.min(0.006 * this.size, 0.06 * (this.actors.radii[body] || this.size));
      mesh.scale.set(grow(mesh.scale.x, r), grow(mesh.scale.y, r), grow(mesh.scale.z, r));
      this.outline.add(mesh);
    }
  }

  /** Keeps the camera at a body; nothing to let it go. */
  track(body: number | undefined): void {
    this.follow = body;
    if (body === undefined) return;
    this.followed.copy(this.actors.position(body));
    const shift = this.followed.clone().sub(this.controls.target);
    this.camera.position.add(shift);
    this.controls.target.add(shift);
  }

  pick(x: number, y: number): { body: number; point: THREE.Vector3 } | undefined {
    return this.actors.pick(this.ray(x, y));
  }

  /** The point under the mouse in the plane through `point` that the camera looks at squarely. */
  across(x: number, y: number, point: THREE.Vector3): THREE.Vector3 {
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(new THREE.Vector3()), point);
    return this.ray(x, y).ray.intersectPlane(plane, new THREE.Vector3()) ?? point.clone();
  }

  private ray(x: number, y: number): THREE.Raycaster {
    const rect = this.canvas.getBoundingClientRect();
    const pointer = new THREE.Vector2(((x - rect.left) / rect.width) * 2 - 1, 1 - ((y - rect.top) / rect.height) * 2);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(pointer, this.camera);
    return ray;
  }

  /** Draws. */
  draw(): void {
    if (this.follow !== undefined && this.actors) {
      const now = this.actors.position(this.follow);
      const shift = now.clone().sub(this.followed);
      if (Number.isFinite(shift.lengthSq())) {
        this.camera.position.add(shift);
        this.controls.target.add(shift);
        this.followed.copy(now);
      }
    }
    this.controls.update();
    const centre = this.follow === undefined ? this.centre : this.controls.target;
    // The light stands where the first view is taken from, off to its left: what is seen is lit.
    const side = this.front.clone().addScaledVector(this.up, -this.front.dot(this.up)).normalize().applyAxisAngle(this.up, -0.75);
    this.key.target.position.copy(centre);
    this.key.position.copy(centre).addScaledVector(this.up, 3 * this.radius).addScaledVector(side, 2.6 * this.radius);
    this.fill.target.position.copy(this.controls.target);
    this.fill.position.copy(this.camera.position);
    if (this.selected !== undefined && this.actors) {
      this.outline.visible = this.actors.visible[this.selected];
      this.actors.matrix(this.selected).decompose(this.outline.position, this.outline.quaternion, this.outline.scale);
    }
    if (this.actors) this.actors.fadeWalls(this.camera, this.grains.box ?? this.moving);
    this.renderer.render(this.scene, this.camera);
  }
}

function grow(scale: number, by: number): number {
  return scale === 1 ? 1.03 : scale + by;
}

/** A background that is lighter above. */
function gradient(above: string, below: string): THREE.DataTexture {
  const [a, b] = [new THREE.Color(above), new THREE.Color(below)];
  const n = 64;
  const data = new Uint8Array(4 * n);
  for (let i = 0; i < n; i++) {
    const c = b.clone().lerp(a, i / (n - 1)).convertLinearToSRGB();
    data.set([c.r * 255, c.g * 255, c.b * 255, 255], 4 * i);
  }
  const texture = new THREE.DataTexture(data, 1, n);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.magFilter = THREE.LinearFilter;
  texture.needsUpdate = true;
  return texture;
}
