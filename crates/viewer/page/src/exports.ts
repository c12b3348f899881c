// Pictures, films and models of what is shown.

import * as THREE from "three";
import { GLTFExporter } from "three/addons/exporters/GLTFExporter.js";
import { save } from "./dom";
import type { Stage } from "./stage";
import type { Track } from "./track";

/** Bodies and moments in a glTF file at most. */
const BODIES = 3000;
const MOMENTS = 2000;

export async function screenshot(stage: Stage, name: string): Promise<void> {
  stage.draw();
  const blob = await new Promise<Blob | null>((done) => stage.renderer.domElement.toBlob(done, "image/png"));
  if (!blob) throw new Error("the browser made no picture");
  save(blob, `${name}.png`);
}

/** A film of the picture, until it is stopped. */
export class Film {
  private recorder: MediaRecorder | undefined;

  get running(): boolean {
    return this.recorder !== undefined;
  }

  toggle(stage: Stage, name: string): void {
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    const kind = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"].find((type) =>
      typeof MediaRecorder !== "undefined" && MediaRecorder.isTypeSupported(type),
    );
    if (!kind) throw new Error("this browser cannot record video; use Chromium or Firefox");
    const parts: Blob[] = [];
    const recorder = new MediaRecorder(stage.renderer.domElement.captureStream(60), { mimeType: kind, videoBitsPerSecond: 12e6 });
    recorder.ondataavailable = (event) => parts.push(event.data);
    recorder.onstop = () => {
      this.recorder = undefined;
      save(new Blob(parts, { type: kind }), `${name}.${kind.includes("mp4") ? "mp4" : "webm"}`);
    };
    recorder.start(250);
    this.recorder = recorder;
  }
}

/** The scene as a binary glTF file, its motion as an animation. */
export async function gltf(stage: Stage, track: Track): Promise<Blob> {
  const { actors } = stage;
  const { bodies } = track.document;
  if (bodies.length > BODIES) throw new Error(`glTF files take up to ${BODIES} bodies; this run has ${bodies.length}`);
  const root = new THREE.Scene();
  const nodes = bodies.map((_, k) => {
    const node = new THREE.Group();
    // Names of scenes may hold what paths of animations may not.
    node.name = `body_${k}`;
    node.userData.name = bodies[k].name;
    const material = new THREE.MeshStandardMaterial({ color: actors.colours[k], roughness: 0.5, metalness: 0.08 });
    for (const mesh of actors.meshes(k, material)) node.add(mesh);
    return node;
  });
  const every = Math.max(1, Math.ceil(track.rows / MOMENTS));
  const times: number[] = [];
  const values = bodies.map(() => ({ p: [] as number[], q: [] as number[] }));
  for (let row = 0; row < track.rows; row += every) {
    const view = await waitFor(() => track.row(row));
    const { block, row: i } = view.a;
    const t = block.time[i] - track.first;
    if (times.length && t <= times[times.length - 1]) continue;
    times.push(t);
    bodies.forEach((_, k) => {
      const o = (i * block.bodies + k) * block.stride;
      values[k].p.push(block.motion[o], block.motion[o + 1], block.motion[o + 2]);
      values[k].q.push(block.motion[o + 3], block.motion[o + 4], block.motion[o + 5], block.motion[o + 6]);
    });
  }
  const tracks = nodes.flatMap((node, k) => {
    node.position.fromArray(values[k].p);
    node.quaternion.fromArray(values[k].q);
    if (bodies[k].drive === "fixed" || times.length < 2) return [];
    return [
      new THREE.VectorKeyframeTrack(`${node.name}.position`, times, values[k].p),
      new THREE.QuaternionKeyframeTrack(`${node.name}.quaternion`, times, values[k].q),
    ];
  });
  const clip = new THREE.AnimationClip("run", -1, tracks);
  const turned = new THREE.Group();
  for (const node of nodes) turned.add(node);
  const g = track.document.gravity;
  const up = new THREE.Vector3(-g[0], -g[1], -g[2]);
  turned.quaternion.setFromUnitVectors(up.lengthSq() > 0 ? up.normalize() : new THREE.Vector3(0, 0, 1), new THREE.Vector3(0, 1, 0));
  root.add(turned);
  const data = await new GLTFExporter().parseAsync(root, { binary: true, animations: tracks.length ? [clip] : [] });
  return new Blob([data as ArrayBuffer], { type: "model/gltf-binary" });
}

async function waitFor<T>(what: () => T | undefined): Promise<T> {
  for (let i = 0; i < 600; i++) {
    const value = what();
    if (value !== undefined) return value;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error("the rows did not come in time");
}
