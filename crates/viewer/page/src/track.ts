// Where rows come from: a server that has a recorded run, a page that has it inside, or a run that is going on.

import { Frames, type GrainSource, Snapshots } from "./grains";
import type { GroundTiles } from "./ground";
import { type Block, type EventList, type Patch, type Reach, type RunDocument, decode, fromBase64 } from "./protocol";

/** One row of a block. */
export interface RowRef {
  block: Block;
  row: number;
}

/** What there is to see at a time: between row `a` and row `b`, a share `w` of the way. */
export interface View {
  a: RowRef;
  b: RowRef;
  w: number;
  /** Number of row `a`. */
  index: number;
}

export interface Curve {
  time: Float64Array;
  value: Float64Array;
}

export interface Track {
  readonly document: RunDocument;
  /** First and last time there is [s]. */
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  /** What there is at a time; nothing while it is on its way. */
  at(time: number): View | undefined;
  /** One row by number. */
  row(index: number): View | undefined;
  signal(name: string): Promise<Curve>;
  events(): Promise<EventList>;
  /** Polygons over which surfaces touch at the time of a row; nothing while they are on their way. */
  patches?(time: number): Patch[] | undefined;
  /** Boxes that bodies do not leave around a time: a list of one, or none. */
  reach?(time: number): Reach[] | undefined;
  /** Where grains are at a time, as many of them as have come. */
  readonly grains?: GrainSource;
  /** Asks for the ground of a live run. */
  ground?(tiles: GroundTiles): void;
  /** Numbers of a surface in a row; nothing while they are on their way. */
  surface?(surface: number, row: number): Float32Array | undefined;
  /** Blocks in memory, for a look over what is known. */
  known(): Iterable<Block>;
}

/** Times of which lines of a file are kept. */
const LINE_TIMES = 200;
/** Bytes of a surface that are fetched at once. */
const SURFACE_BYTES = 1 << 20;
/** Such pieces kept. */
const SURFACE_PIECES = 64;

/** Times nearer than this to a row are that row's: they come from numbers with fewer digits. */
const SNAP = 1e-9;

/** Last index with `values[index] <= x`, or -1. */
export function lastAtMost(values: ArrayLike<number>, x: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const BODY_SIGNALS: Record<string, [number, number]> = {
  "position.x": [0, 0], "position.y": [1, 0], "position.z": [2, 0],
  "orientation.x": [3, 0], "orientation.y": [4, 0], "orientation.z": [5, 0], "orientation.w": [6, 0],
  "velocity.x": [7, 0], "velocity.y": [8, 0], "velocity.z": [9, 0],
  "angular_velocity.x": [10, 0], "angular_velocity.y": [11, 0], "angular_velocity.z": [12, 0],
  speed: [7, 1], angular_speed: [10, 1],
};

export const BODY_UNITS: Record<string, string> = {
  position: "m", orientation: "-", velocity: "m/s", angular_velocity: "rad/s", speed: "m/s", angular_speed: "rad/s",
};

/** Reader of a signal in blocks, by name. */
export function reader(document: RunDocument, name: string): ((block: Block, row: number) => number) | undefined {
  const signal = document.signals.findIndex((s) => s.name === name);
  if (signal >= 0) return (block, row) => block.signals[row * block.signalCount + signal];
  const sums: Record<string, string[]> = { "energy.stored": document.ledger.stored, "energy.dissipated": document.ledger.lost };
  if (sums[name]) {
    const accounts = sums[name].map((account) => document.accounts.indexOf(account)).filter((k) => k >= 0);
    return (block, row) => accounts.reduce((sum, k) => sum + block.energy[row * block.accountCount + k], 0);
  }
  if (name.startsWith("energy.") || name.startsWith("momentum.")) {
    const account = document.accounts.indexOf(name.replace(/^energy\./, ""));
    if (account >= 0) return (block, row) => block.energy[row * block.accountCount + account];
  }
  for (const [suffix, [offset, norm]] of Object.entries(BODY_SIGNALS)) {
    if (!name.endsWith(`.${suffix}`)) continue;
    const body = document.bodies.findIndex((b) => b.name === name.slice(0, -suffix.length - 1));
    if (body < 0) continue;
    return (block, row) => {
      const o = (row * block.bodies + body) * block.stride + offset;
      if (offset + (norm ? 3 : 1) > block.stride) return NaN;
      const m = block.motion;
      return norm ? Math.hypot(m[o], m[o + 1], m[o + 2]) : m[o];
    };
  }
  return undefined;
}

function curveOf(document: RunDocument, blocks: Block[], name: string): Curve {
  const read = reader(document, name);
  if (!read) throw new Error(`there is no signal "${name}"`);
  const rows = blocks.reduce((sum, block) => sum + block.rows, 0);
  const time = new Float64Array(rows);
  const value = new Float64Array(rows);
  let i = 0;
  for (const block of blocks) {
    for (let row = 0; row < block.rows; row++, i++) {
      time[i] = block.time[row];
      value[i] = read(block, row);
    }
  }
  return { time, value };
}

/** A recorded run that a server reads in parts. */
export class RecordedTrack implements Track {
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  readonly grains?: Snapshots;
  private blocks = new Map<number, Block>();
  private pending = new Set<number>();
  private bytes = 0;
  private static readonly LIMIT = 256 << 20;

  constructor(
    readonly document: RunDocument,
    private readonly base: string,
    private readonly changed: () => void,
    private readonly failed: (reason: string) => void,
  ) {
    const times = document.times;
    if (document.grains) this.grains = new Snapshots(`${base}/grains`, document.until - document.start, changed);
    this.rows = document.rows;
    this.first = times.length ? times[0] : document.start;
    this.last = times.length ? times[times.length - 1] : document.start;
  }

  at(time: number): View | undefined {
    const starts = this.document.times;
    const blocks = Math.ceil(this.rows / this.document.block_rows);
    if (blocks === 0) return undefined;
    const k = Math.max(0, Math.min(blocks - 1, lastAtMost(starts, time + SNAP)));
    const block = this.block(k);
    if (!block) return undefined;
    const row = Math.max(0, lastAtMost(block.time, time + SNAP));
    this.block(k + 1);
    return this.between(k, block, row, time);
  }

  row(index: number): View | undefined {
    const i = Math.max(0, Math.min(this.rows - 1, index));
    const k = Math.floor(i / this.document.block_rows);
    const block = this.block(k);
    if (!block) return undefined;
    const ref = { block, row: i - k * this.document.block_rows };
    return { a: ref, b: ref, w: 0, index: i };
  }

  private between(k: number, block: Block, row: number, time: number): View {
    const a = { block, row };
    const index = k * this.document.block_rows + row;
    let b = a;
    if (row + 1 < block.rows) b = { block, row: row + 1 };
    else {
      const next = this.block(k + 1);
      if (next) b = { block: next, row: 0 };
    }
    const t0 = block.time[row];
    const t1 = b.block.time[b.row];
    const w = t1 > t0 ? Math.max(0, Math.min(1, (time - t0) / (t1 - t0))) : 0;
    return { a, b, w, index };
  }

  private block(k: number): Block | undefined {
    const block = this.blocks.get(k);
    if (block) {
      // Most recently used last.
      this.blocks.delete(k);
      this.blocks.set(k, block);
      return block;
    }
    if (k * this.document.block_rows < this.rows && k >= 0 && !this.pending.has(k)) void this.load(k);
    return undefined;
  }

  private async load(k: number): Promise<void> {
    this.pending.add(k);
    try {
      const from = k * this.document.block_rows;
      const to = Math.min(this.rows, from + this.document.block_rows);
      const answer = await fetch(`${this.base}/rows/${from}/${to}`);
      if (!answer.ok) throw new Error(await answer.text());
      const block = decode(await answer.arrayBuffer());
      this.blocks.set(k, block);
      this.bytes += block.bytes;
      for (const [old, oldest] of this.blocks) {
        if (this.bytes <= RecordedTrack.LIMIT || this.blocks.size <= 3) break;
        this.blocks.delete(old);
        this.bytes -= oldest.bytes;
      }
      this.pending.delete(k);
      this.changed();
    } catch (error) {
      // The block stays pending: it is not asked for again.
      this.failed(error instanceof Error ? error.message : String(error));
    }
  }

  private touching = new Map<number, Patch[] | undefined>();
  private reaching = new Map<number, Reach[] | undefined>();

  patches(time: number): Patch[] | undefined {
    return this.document.patches ? this.lines("patches", this.touching, time) : [];
  }

  reach(time: number): Reach[] | undefined {
    return this.document.reach ? this.lines("reach", this.reaching, time) : [];
  }

  /** What a file of lines says of a time; undefined while it is on its way. */
  private lines<T>(file: string, known: Map<number, T[] | undefined>, time: number): T[] | undefined {
    if (!known.has(time)) void this.loadLines(file, known, time);
    return known.get(time);
  }

  private async loadLines<T>(file: string, known: Map<number, T[] | undefined>, time: number): Promise<void> {
    known.set(time, undefined);
    try {
      const answer = await fetch(`${this.base}/${file}?time=${time}`);
      if (!answer.ok) throw new Error(await answer.text());
      known.set(time, (await answer.json()) as T[]);
      for (const old of known.keys()) {
        if (known.size <= LINE_TIMES) break;
        known.delete(old);
      }
      this.changed();
    } catch (error) {
      this.failed(error instanceof Error ? error.message : String(error));
    }
  }

  private pieces = new Map<string, Float32Array | undefined>();

  surface(surface: number, row: number): Float32Array | undefined {
    const stride = this.document.surfaces?.[surface]?.stride ?? 0;
    if (stride === 0 || row < 0 || row >= this.rows) return undefined;
    const rows = Math.max(1, Math.floor(SURFACE_BYTES / (4 * stride)));
    const from = rows * Math.floor(row / rows);
    const key = `${surface}/${from}/${Math.min(this.rows, from + rows)}`;
    if (!this.pieces.has(key)) void this.loadSurface(key);
    return this.pieces.get(key)?.subarray(stride * (row - from), stride * (row - from + 1));
  }

  private async loadSurface(key: string): Promise<void> {
    this.pieces.set(key, undefined);
    try {
      const answer = await fetch(`${this.base}/surface/${key}`);
      if (!answer.ok) throw new Error(await answer.text());
      // Most recently fetched last.
      this.pieces.delete(key);
      this.pieces.set(key, new Float32Array(await answer.arrayBuffer()));
      for (const old of this.pieces.keys()) {
        if (this.pieces.size <= SURFACE_PIECES) break;
        this.pieces.delete(old);
      }
      this.changed();
    } catch (error) {
      this.failed(error instanceof Error ? error.message : String(error));
    }
  }

  async signal(name: string): Promise<Curve> {
    const answer = await fetch(`${this.base}/signal?name=${encodeURIComponent(name)}`);
    if (!answer.ok) throw new Error(await answer.text());
    const pairs = new Float64Array(await answer.arrayBuffer());
    const time = new Float64Array(pairs.length / 2);
    const value = new Float64Array(pairs.length / 2);
    for (let i = 0; i < time.length; i++) {
      time[i] = pairs[2 * i];
      value[i] = pairs[2 * i + 1];
    }
    return { time, value };
  }

  async events(): Promise<EventList> {
    const answer = await fetch(`${this.base}/events`);
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as EventList;
  }

  known(): Iterable<Block> {
    return this.blocks.values();
  }
}

/** A run inside the page. */
export class EmbeddedTrack implements Track {
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  private readonly block: Block;

  private readonly values: Float32Array[];
  readonly grains?: GrainSource;

  constructor(readonly document: RunDocument, base64: string, surfaces: string[], grains?: string) {
    if (grains) this.grains = new Frames(fromBase64(grains));
    this.block = decode(fromBase64(base64));
    this.values = surfaces.map((text) => new Float32Array(fromBase64(text)));
    this.rows = this.block.rows;
    this.first = this.rows ? this.block.time[0] : 0;
    this.last = this.rows ? this.block.time[this.rows - 1] : 0;
  }

  at(time: number): View | undefined {
    if (this.rows === 0) return undefined;
    const row = Math.max(0, lastAtMost(this.block.time, time + SNAP));
    const next = Math.min(row + 1, this.rows - 1);
    const [t0, t1] = [this.block.time[row], this.block.time[next]];
    const w = t1 > t0 ? Math.max(0, Math.min(1, (time - t0) / (t1 - t0))) : 0;
    return { a: { block: this.block, row }, b: { block: this.block, row: next }, w, index: row };
  }

  row(index: number): View | undefined {
    const row = Math.max(0, Math.min(this.rows - 1, index));
    const ref = { block: this.block, row };
    return this.rows ? { a: ref, b: ref, w: 0, index: row } : undefined;
  }

  surface(surface: number, row: number): Float32Array | undefined {
    const stride = this.document.surfaces?.[surface]?.stride ?? 0;
    return stride && row < this.rows ? this.values[surface]?.subarray(stride * row, stride * (row + 1)) : undefined;
  }

  async signal(name: string): Promise<Curve> {
    return curveOf(this.document, [this.block], name);
  }

  async events(): Promise<EventList> {
    return this.document.events ?? { events: [], omitted: 0 };
  }

  known(): Iterable<Block> {
    return [this.block];
  }
}

/** A run that is going on: the rows that were seen. */
export class LiveTrack implements Track {
  private blocks: Block[] = [];
  private times: number[] = [];
  private bytes = 0;
  private list: EventList = { events: [], omitted: 0 };
  private static readonly LIMIT = 256 << 20;

  readonly grains?: Snapshots;

  ground?: (tiles: GroundTiles) => void;

  constructor(readonly document: RunDocument, base: string, changed: () => void) {
    if (document.grains) this.grains = new Snapshots(`${base}/grains`, document.until - document.start, changed);
    if (document.ground) {
      let entered = false;
      this.ground = (tiles) => {
        if (!entered) tiles.enter(`${base}/ground`);
        entered = true;
        tiles.look(changed);
      };
    }
  }

  get first(): number {
    return this.times.length ? this.times[0] : this.document.start;
  }

  get last(): number {
    return this.times.length ? this.times[this.times.length - 1] : this.document.start;
  }

  get rows(): number {
    return this.times.length;
  }

  /** Takes a row; of very many every second old one is forgotten. */
  push(block: Block): void {
    if (block.rows !== 1 || (this.times.length && block.time[0] < this.last)) return;
    this.blocks.push(block);
    this.times.push(block.time[0]);
    this.bytes += block.bytes;
    if (this.bytes > LiveTrack.LIMIT) {
      const keep = (_: unknown, i: number): boolean => i % 2 === 0 || i > this.blocks.length / 2;
      this.times = this.times.filter(keep);
      this.blocks = this.blocks.filter(keep);
      this.bytes = this.blocks.reduce((sum, b) => sum + b.bytes, 0);
    }
  }

  add(list: EventList["events"]): void {
    this.list.events.push(...list);
  }

  at(time: number): View | undefined {
    if (this.times.length === 0) return undefined;
    const i = Math.max(0, lastAtMost(this.times, time + SNAP));
    const j = Math.min(i + 1, this.times.length - 1);
    const [t0, t1] = [this.times[i], this.times[j]];
    const w = t1 > t0 ? Math.max(0, Math.min(1, (time - t0) / (t1 - t0))) : 0;
    return { a: { block: this.blocks[i], row: 0 }, b: { block: this.blocks[j], row: 0 }, w, index: i };
  }

  row(index: number): View | undefined {
    if (this.times.length === 0) return undefined;
    const i = Math.max(0, Math.min(this.times.length - 1, index));
    const ref = { block: this.blocks[i], row: 0 };
    return { a: ref, b: ref, w: 0, index: i };
  }

  async signal(name: string): Promise<Curve> {
    return curveOf(this.document, this.blocks, name);
  }

  async events(): Promise<EventList> {
    return this.list;
  }

  known(): Iterable<Block> {
    return this.blocks.slice(-1);
  }
}
