// Time: where it is, how fast it goes, what happens at the end.

import type { Track, View } from "./track";

export const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4, 8, 16];

export class Player {
  time = 0;
  playing = false;
  speed = 1;
  loop = true;
  /** A row shown exactly, after a single step: rows before and after an event share their time. */
  pinned: number | undefined;
  /** Shows the newest row of a run that is going on. */
  newest = false;
  tracks: Track[] = [];

  get first(): number {
    return this.tracks.length ? Math.min(...this.tracks.map((track) => track.first)) : 0;
  }

  get last(): number {
    return this.tracks.length ? Math.max(...this.tracks.map((track) => track.last)) : 0;
  }

  /** The end of the time line: where a run that is going on is meant to end. */
  get end(): number {
    const track = this.tracks[0];
    return track?.document.live ? Math.max(track.document.until, this.last) : this.last;
  }

  advance(seconds: number): void {
    if (this.newest) {
      this.time = this.last;
      return;
    }
    if (!this.playing) return;
    this.pinned = undefined;
    this.time += seconds * this.speed;
    if (this.time >= this.last) {
      const live = this.tracks[0]?.document.live;
      if (live) this.time = this.last;
      else if (this.loop && this.last > this.first) this.time = this.first;
      else {
        this.time = this.last;
        this.playing = false;
      }
    }
  }

  seek(time: number): void {
    this.time = Math.max(this.first, Math.min(this.last, time));
    this.pinned = undefined;
    this.newest = false;
  }

  toggle(): void {
    this.newest = false;
    this.pinned = undefined;
    this.playing = !this.playing;
    if (this.playing && !this.tracks[0]?.document.live && this.time >= this.last) this.time = this.first;
  }

  /** One row forward or back. */
  step(by: number): void {
    this.playing = false;
    this.newest = false;
    const track = this.tracks[0];
    const view = this.view(track);
    if (!view) return;
    let index = this.pinned ?? view.index;
    // Between two rows a step back goes to the row before.
    if (this.pinned === undefined && by < 0 && view.w > 1e-9) index += 1;
    const next = Math.max(0, Math.min(track.rows - 1, index + by));
    const at = track.row(next);
    if (!at) return;
    this.pinned = next;
    this.time = at.a.block.time[at.a.row];
  }

  /** What a track shows now. */
  view(track: Track): View | undefined {
    if (this.pinned !== undefined && track === this.tracks[0]) return track.row(this.pinned);
    return track.at(this.time);
  }

  faster(by: number): void {
    const now = SPEEDS.findIndex((speed) => speed >= this.speed - 1e-9);
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, now + by))];
  }
}
