// Curves of signals: one chart for each unit, a line at the time shown, a click to go there.

import uPlot from "uplot";
import { format, h, icon, save } from "./dom";
import type { Player } from "./player";
import type { RunDocument } from "./protocol";
import { BODY_UNITS, type Curve, type Track } from "./track";

const COLOURS = ["#4e8fd0", "#f2953b", "#5bb56a", "#e2605f", "#b683c4", "#57b8b3", "#e6c34a", "#f29db0"];

export function unitOf(document: RunDocument, name: string): string {
  const signal = document.signals.find((s) => s.name === name);
  if (signal) return signal.unit;
  if (name.startsWith("energy.")) return "J";
  if (name.startsWith("momentum.")) return "kg m/s";
  const parts = name.split(".");
  for (const part of parts.slice(-2)) if (BODY_UNITS[part]) return BODY_UNITS[part];
  return "-";
}

/** Curves over one time axis. Of two values at one time the second comes an instant later, so that both are drawn. */
export function together(curves: Curve[]): uPlot.AlignedData {
  const tables = curves.map((curve) => {
    const time = Array.from(curve.time);
    for (let i = 1; i < time.length; i++) {
      if (time[i] <= time[i - 1]) time[i] = time[i - 1] + 1e-12 * Math.max(1, Math.abs(time[i - 1]));
    }
    const value = Array.from(curve.value, (v) => (Number.isFinite(v) ? v : null));
    return [time, value] as uPlot.AlignedData;
  });
  return tables.length === 1 ? tables[0] : uPlot.join(tables);
}

/** A number for an axis, in little room. */
function short(x: number): string {
  const size = Math.abs(x);
  if (size >= 1e4 && size < 1e15) {
    const power = Math.floor(Math.log10(size) / 3);
    return `${format(x / 1000 ** power, 4)}${["", "k", "M", "G", "T"][power]}`;
  }
  return format(x, 4);
}

/** Looks of a chart in the page's colours. */
export function chartOptions(width: number, height: number, unit: string, player: Player, go: (time: number) => void): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--soft"),
    font: "11px system-ui, sans-serif",
    labelFont: "11px system-ui, sans-serif",
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1, size: 4 },
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: true, y: false } },
    scales: { x: { time: false } },
    axes: [
      { ...axis, size: 28, values: (_, ticks) => ticks.map((t) => format(t, 6)) },
      { ...axis, size: width < 320 ? 42 : 54, label: width < 320 || unit === "-" ? undefined : unit, labelSize: 16, labelGap: 0, values: (_, ticks) => ticks.map(short) },
    ],
    series: [{}],
    hooks: {
      ready: [
        (u) => {
          let from = 0;
          u.over.addEventListener("mousedown", (event) => (from = event.clientX));
          u.over.addEventListener("click", (event) => {
            if (Math.abs(event.clientX - from) < 3) go(u.posToVal(event.clientX - u.over.getBoundingClientRect().left, "x"));
          });
        },
      ],
      draw: [
        (u) => {
          const x = u.valToPos(player.time, "x", true);
          if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
          const c = u.ctx;
          c.save();
          c.strokeStyle = colour("--accent");
          c.lineWidth = 1.5 * devicePixelRatio;
          c.beginPath();
          c.moveTo(x, u.bbox.top);
          c.lineTo(x, u.bbox.top + u.bbox.height);
          c.stroke();
          c.restore();
        },
      ],
    },
  };
}

interface Line {
  name: string;
  run: number;
  curve: Curve;
}

class Chart {
  readonly host = h("div", { class: "chart" });
  private readonly key = h("div", { class: "key" });
  private readonly area = h("div", { class: "area" });
  private plot: uPlot | undefined;
  lines: Line[] = [];

  constructor(readonly unit: string, private readonly owner: Plots) {
    this.host.append(this.key, this.area);
  }

  rebuild(): void {
    this.plot?.destroy();
    this.plot = undefined;
    this.key.replaceChildren(
      ...this.lines.map((line, i) => {
        const swatch = h("span", { class: "swatch" });
        swatch.style.background = COLOURS[i % COLOURS.length];
        const label = this.owner.tracks.length > 1 ? `${line.name} (${line.run + 1})` : line.name;
        const remove = h("button", { class: "tiny", title: "remove", onclick: () => this.owner.remove(line.name) }, icon("close"));
        return h("span", { class: "entry" }, swatch, label, remove);
      }),
    );
    if (this.lines.length === 0 || this.area.clientWidth === 0) return;
    const { player, go } = this.owner;
    const options = chartOptions(this.area.clientWidth, Math.max(90, this.area.clientHeight), this.unit, player, go);
    options.series.push(
      ...this.lines.map((line, i) => ({
        label: line.name,
        stroke: COLOURS[i % COLOURS.length],
        width: 1.6,
        dash: line.run ? [6, 4] : undefined,
        spanGaps: true,
        points: { show: false },
      })),
    );
    this.plot = new uPlot(options, together(this.lines.map((line) => line.curve)), this.area);
  }

  refresh(): void {
    this.plot?.setData(together(this.lines.map((line) => line.curve)));
  }

  redraw(): void {
    this.plot?.redraw(false, false);
  }
}

export class Plots {
  readonly host = h("section", { class: "plots", hidden: "" });
  readonly names: string[] = [];
  tracks: Track[] = [];
  private charts: Chart[] = [];
  private drawn = NaN;

  constructor(readonly player: Player, readonly go: (time: number) => void, private readonly failed: (reason: string) => void) {
    const bar = h(
      "div",
      { class: "bar" },
      h("button", { class: "tiny", title: "save all curves as CSV", onclick: () => this.csv() }, icon("down"), "CSV"),
      h("button", { class: "tiny", title: "close all plots", onclick: () => this.clear() }, icon("close")),
    );
    this.host.append(bar);
    new ResizeObserver(() => this.charts.forEach((chart) => chart.rebuild())).observe(this.host);
  }

  /** Draws a signal, or no longer. */
  async toggle(name: string): Promise<void> {
    if (this.names.includes(name)) this.remove(name);
    else {
      this.names.push(name);
      await this.load(name);
    }
  }

  private async load(name: string): Promise<void> {
    const unit = unitOf(this.tracks[0].document, name);
    let chart = this.charts.find((c) => c.unit === unit);
    if (!chart) {
      chart = new Chart(unit, this);
      this.charts.push(chart);
      this.host.append(chart.host);
    }
    this.host.hidden = false;
    for (const [run, track] of this.tracks.entries()) {
      try {
        const curve = await track.signal(name);
        chart.lines = chart.lines.filter((line) => line.name !== name || line.run !== run);
        chart.lines.push({ name, run, curve });
      } catch (error) {
        if (run === 0) {
          this.failed(error instanceof Error ? error.message : String(error));
          this.remove(name);
          return;
        }
      }
    }
    chart.rebuild();
  }

  remove(name: string): void {
    const at = this.names.indexOf(name);
    if (at >= 0) this.names.splice(at, 1);
    for (const chart of this.charts) chart.lines = chart.lines.filter((line) => line.name !== name);
    for (const chart of this.charts.filter((c) => c.lines.length === 0)) chart.host.remove();
    this.charts = this.charts.filter((chart) => chart.lines.length > 0);
    this.host.hidden = this.charts.length === 0;
    this.charts.forEach((chart) => chart.rebuild());
  }

  clear(): void {
    [...this.names].forEach((name) => this.remove(name));
  }

  /** Reads all curves again: other runs, or more of the one that is going on. */
  async reload(tracks: Track[]): Promise<void> {
    this.tracks = tracks;
    for (const name of this.names) {
      if (!this.charts.some((chart) => chart.lines.some((line) => line.name === name))) continue;
      for (const [run, track] of tracks.entries()) {
        try {
          const curve = await track.signal(name);
          for (const chart of this.charts) for (const line of chart.lines) if (line.name === name && line.run === run) line.curve = curve;
        } catch {
          // The signal is not in this run: its old curve stays.
        }
      }
    }
    this.charts.forEach((chart) => chart.refresh());
  }

  rebuild(): void {
    this.charts.forEach((chart) => chart.rebuild());
  }

  frame(): void {
    if (this.drawn === this.player.time) return;
    this.drawn = this.player.time;
    this.charts.forEach((chart) => chart.redraw());
  }

  private csv(): void {
    const lines = this.charts.flatMap((chart) => chart.lines);
    if (lines.length === 0) return;
    const table = together(lines.map((line) => line.curve));
    const quote = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const document = this.tracks[0].document;
    const head = ["time [s]", ...lines.map((line) => `${line.name}${this.tracks.length > 1 ? ` (${line.run + 1})` : ""} [${unitOf(document, line.name)}]`)];
    const rows = Array.from(table[0], (_, i) => table.map((column) => column[i] ?? "").join(","));
    save(new Blob([[head.map(quote).join(","), ...rows].join("\n"), "\n"], { type: "text/csv" }), `${document.name}.csv`);
  }
}
