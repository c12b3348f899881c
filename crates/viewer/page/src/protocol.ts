// What the server sends: a description in JSON, then blocks of binary rows (crates/viewer/src/block.rs has the layout).

export type Pose7 = [number, number, number, number, number, number, number];

export interface Shape {
  geometry: number;
  pose: Pose7;
  scale: [number, number, number];
  collide: boolean;
  /** Which of the convex pieces of a mesh it is. */
  piece?: number;
}

export interface Body {
  name: string;
  drive: "free" | "fixed" | "prescribed";
  mass?: number;
  com: [number, number, number];
  inertia?: [number, number, number];
  material?: string;
  mechanism?: number;
  shapes: Shape[];
  start: Pose7;
}

export type Geometry =
  | { kind: "sphere" | "box" | "cylinder" | "half_space" }
  | { kind: "mesh"; shape: string; vertices: string; triangles: string };

export interface Frame {
  body?: number;
  pose: Pose7;
}

export interface Joint {
  name: string;
  kind: string;
  /** How it is drawn. */
  glyph: "pin" | "slide" | "ball" | "link" | "none";
  frames: [Frame | null, Frame | null];
}

export interface Spring {
  name: string;
  kind: string;
  ends: [Frame, Frame];
}

/** A cable over wheels, or as a chain of elements. */
export interface Rope {
  name: string;
  /** Its diameter [m]; zero where none is said. */
  width: number;
  /** What it runs around, the axle as z axis, or through: then the radius is zero. */
  points: { frame: Frame; radius: number; sense: number }[];
  /** Signals of each span: its tension, and the length at rest of its line. */
  tensions: string[];
  rests: string[];
  /** Elements that its ends go on in: the end at the load, then their ends away from it; the signal that counts those which are out. */
  feeds: ({ frames: Frame[]; count: string } | null)[];
  /** Parts of a catenary: length at rest [m], weight per length [N/m], EA [N]. */
  segments: [number, number, number][];
}

/** Boxes that bodies do not leave for a while, a line of reach.jsonl. */
export interface Reach {
  time: number;
  until: number;
  bodies: number[];
  low: [number, number, number][];
  high: [number, number, number][];
}

/** Two surfaces that touch, as a line of patches.jsonl. */
export interface Patch {
  bodies: [string, string];
  force: [number, number, number];
  position: [number, number, number];
  torque: [number, number, number];
  polygons: { rings: [number, number, number][][]; center: [number, number, number]; normal: [number, number, number]; area: number; force: [number, number, number] }[];
}

/** A surface that changes with time. */
export interface SurfaceDocument {
  name: string;
  /** Body it moves with; nothing for the world. Its own shapes are not drawn then. */
  body: number | null;
  vertices: string;
  triangles: string;
  /** Corners are in every row. */
  moving: boolean;
  colour: "none" | "vertex" | "triangle";
  unit: string;
  low: number;
  high: number;
  /** Numbers in a row. */
  stride: number;
}

/** A surface drawn by equations over u, v, t and signals. */
export interface Drawing {
  name: string;
  on: Frame;
  ranges: [[number, number], [number, number]];
  grid: [number, number];
  /** Signals, by index. */
  reads: number[];
  /** They stand behind u, v, t and the signals in the registers; results behind them. */
  constants: number[];
  code: [string, [number, number, number]][];
  /** Registers of x, y, z and of the number that gives the colour. */
  outputs: number[];
  coloured?: "vertex" | "triangle" | "shape";
  range: [number, number];
  colour: [number, number, number];
  opacity: number;
}

/** The surface of a fluid: elevations amplitude cos(number along.x - omega t + phase). */
export interface Water {
  name: string;
  level: number;
  up: [number, number, number];
  waves: { amplitude: number; along: [number, number, number]; number: number; omega: number; phase: number }[];
}

export interface RunEvent {
  time: number;
  kind: string;
  source?: string;
  bodies?: [number, number];
  position?: [number, number, number];
  speed?: number;
}

export interface EventList {
  events: RunEvent[];
  omitted: number;
}

export interface Report {
  wall_s: number;
  sim_s: number;
  steps: number;
  max_contacts: number;
}

export interface RunDocument {
  name: string;
  title: string;
  text: string;
  clock: string;
  gravity: [number, number, number];
  bodies: Body[];
  geometries: Geometry[];
  joints: Joint[];
  springs: Spring[];
  ropes: Rope[];
  drawings?: Drawing[];
  waters?: Water[];
  signals: { name: string; unit: string }[];
  inputs?: { name: string; start: number; low: number | null; high: number | null }[];
  accounts: string[];
  /** Accounts that hold energy, that count losses, and what was put in. */
  ledger: { stored: string[]; lost: string[]; given: string[] };
  warnings: string[];
  grains: boolean;
  /** Polyhedra among them, held by a ball of radius 1: corners of their triangles. */
  grain_shapes?: { class: number; triangles: number[] }[];
  ground?: boolean;
  settings: Record<string, unknown>;
  live: boolean;
  status: string;
  failure?: string | null;
  start: number;
  until: number;
  rows: number;
  block_rows: number;
  times: number[];
  report?: Report | null;
  surfaces?: SurfaceDocument[];
  /** Polygons over which surfaces touch were recorded. */
  patches?: boolean;
  reach?: boolean;
  /** Only in a standalone page. */
  events?: EventList;
  every?: number;
}

export interface SceneDocument {
  protocol: number;
  program: string;
  generation: number;
  trouble?: string | null;
  runs: RunDocument[];
}

/** Numbers of one contact. */
export const CONTACT = 16;
const SLIPPING = 0x8000_0000;

export interface Block {
  rows: number;
  bodies: number;
  stride: number;
  signalCount: number;
  accountCount: number;
  time: Float64Array;
  energy: Float64Array;
  signals: Float64Array;
  contactStart: Uint32Array;
  contacts: Float32Array;
  contactBits: Uint32Array;
  motion: Float32Array;
  bytes: number;
}

export interface Contact {
  body1: number;
  body2: number;
  slipping: boolean;
  position: [number, number, number];
  normal: [number, number, number];
  depth: number;
  closing: number;
  force: [number, number, number];
  torque: [number, number, number];
}

export function decode(buffer: ArrayBuffer): Block {
  const head = new Uint32Array(buffer, 0, 8);
  if (head[0] !== 0x31425054) throw new Error("this is not a block of rows");
  const [, rows, bodies, stride, signalCount, accountCount, contactCount] = head;
  let at = 32;
  const doubles = (n: number): Float64Array => {
    const part = new Float64Array(buffer, at, n);
    at += 8 * n;
    return part;
  };
  const time = doubles(rows);
  const energy = doubles(rows * accountCount);
  const signals = doubles(rows * signalCount);
  const contactStart = new Uint32Array(buffer, at, rows + 1);
  at += 8 * Math.ceil((rows + 1) / 2);
  const contacts = new Float32Array(buffer, at, contactCount * CONTACT);
  const contactBits = new Uint32Array(buffer, at, contactCount * CONTACT);
  at += 4 * contacts.length;
  const motion = new Float32Array(buffer, at, rows * bodies * stride);
  return {
    rows, bodies, stride, signalCount, accountCount, time, energy, signals, contactStart, contacts, contactBits, motion,
    bytes: buffer.byteLength,
  };
}

export function contactsOf(block: Block, row: number): Contact[] {
  const list: Contact[] = [];
  for (let k = block.contactStart[row]; k < block.contactStart[row + 1]; k++) {
    const o = k * CONTACT;
    const v = block.contacts;
    const vector = (i: number): [number, number, number] => [v[o + i], v[o + i + 1], v[o + i + 2]];
    const second = block.contactBits[o + 1];
    list.push({
      body1: block.contactBits[o],
      body2: (second & ~SLIPPING) >>> 0,
      slipping: (second & SLIPPING) !== 0,
      position: vector(2),
      normal: vector(5),
      depth: v[o + 8],
      closing: v[o + 9],
      force: vector(10),
      torque: vector(13),
    });
  }
  return list;
}

export function fromBase64(text: string): ArrayBuffer {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes.buffer;
}
