// The time line: a slider with a mark for every event.

import { format } from "./dom";
import type { Player } from "./player";
import type { RunEvent } from "./protocol";

const COLOURS: [RegExp, string][] = [
  [/^contact_start$/, "#ffb02e"],
  [/^contact_end$/, "#7d8796"],
  [/slip/, "#ff5d73"],
  [/stick|roll_end/, "#35c38f"],
  [/regions/, "#e879a8"],
  [/stop|limit/, "#c084fc"],
  [/change|crossing|motor/, "#38bdf8"],
];

export function eventColour(kind: string): string {
  return COLOURS.find(([pattern]) => pattern.test(kind))?.[1] ?? "#9aa5b5";
}

export class Timeline {
  readonly canvas = document.createElement("canvas");
  events: RunEvent[] = [];
  private marks: HTMLCanvasElement | undefined;
  private marksFor = "";
  private readonly context: CanvasRenderingContext2D;

  constructor(private readonly player: Player, private readonly sought: () => void) {
    this.context = this.canvas.getContext("2d")!;
    this.canvas.className = "timeline";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "slider");
    this.canvas.setAttribute("aria-label", "time");
    const seek = (event: PointerEvent): void => {
      const rect = this.canvas.getBoundingClientRect();
      const share = (event.clientX - rect.left) / rect.width;
      const { first, end } = this.player;
      this.player.seek(first + Math.max(0, Math.min(1, share)) * (end - first));
      this.sought();
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      seek(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) seek(event);
      const near = this.near(event);
      this.canvas.title = near ? `${near.kind.replaceAll("_", " ")}${near.source ? ` ${near.source}` : ""} at ${format(near.time, 6)} s` : "";
    });
  }

  private near(event: PointerEvent): RunEvent | undefined {
    const rect = this.canvas.getBoundingClientRect();
    const { first, end } = this.player;
    const time = first + ((event.clientX - rect.left) / rect.width) * (end - first);
    const slack = (4 / rect.width) * (end - first);
    let best: RunEvent | undefined;
    for (const e of this.events) if (Math.abs(e.time - time) < (best ? Math.abs(best.time - time) : slack)) best = e;
    return best;
  }

  draw(style: { text: string; faint: string; accent: string }): void {
    const ratio = Math.min(2, window.devicePixelRatio);
    const [w, hgt] = [Math.round(this.canvas.clientWidth * ratio), Math.round(this.canvas.clientHeight * ratio)];
    if (w === 0) return;
    if (this.canvas.width !== w || this.canvas.height !== hgt) {
      this.canvas.width = w;
      this.canvas.height = hgt;
    }
    const c = this.context;
    const { first, end, last, time } = this.player;
    const span = Math.max(1e-12, end - first);
    const x = (t: number): number => ((t - first) / span) * w;
    c.clearRect(0, 0, w, hgt);
    const bar = { y: Math.round(0.6 * hgt), h: Math.max(2, Math.round(0.12 * hgt)) };
    c.fillStyle = style.faint;
    c.fillRect(0, bar.y, w, bar.h);
    c.globalAlpha = 0.6;
    c.fillStyle = style.text;
    c.fillRect(0, bar.y, x(last), bar.h);
    c.globalAlpha = 1;
    c.fillStyle = style.accent;
    c.fillRect(0, bar.y, x(time), bar.h);
    const key = `${w} ${hgt} ${first} ${end} ${this.events.length}`;
    if (key !== this.marksFor) {
      this.marksFor = key;
      this.marks = this.drawMarks(w, hgt, x);
    }
    if (this.marks) c.drawImage(this.marks, 0, 0);
    c.fillStyle = style.accent;
    c.beginPath();
    c.roundRect(x(time) - 2 * ratio, 0.12 * hgt, 4 * ratio, 0.76 * hgt, 2 * ratio);
    c.fill();
    this.canvas.setAttribute("aria-valuemin", String(first));
    this.canvas.setAttribute("aria-valuemax", String(end));
    this.canvas.setAttribute("aria-valuenow", String(time));
    this.canvas.setAttribute("aria-valuetext", `${format(time)} s`);
  }

  private drawMarks(w: number, hgt: number, x: (t: number) => number): HTMLCanvasElement {
    const marks = document.createElement("canvas");
    marks.width = w;
    marks.height = hgt;
    const c = marks.getContext("2d")!;
    const taken = new Set<string>();
    for (const event of this.events) {
      const colour = eventColour(event.kind);
      const place = Math.round(x(event.time));
      const key = `${place} ${colour}`;
      if (taken.has(key)) continue;
      taken.add(key);
      c.fillStyle = colour;
      c.globalAlpha = 0.85;
      c.fillRect(place, Math.round(0.2 * hgt), 2, Math.round(0.34 * hgt));
    }
    return marks;
  }
}
