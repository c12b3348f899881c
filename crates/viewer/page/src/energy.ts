// The energy ledger: where every joule is, or went, and what the books do not explain.

import uPlot from "uplot";
import { format, h } from "./dom";
import { chartOptions, together } from "./plots";
import type { Player } from "./player";
import type { Track, View } from "./track";

const CURVES: [string, string][] = [
  ["energy.kinetic", "#4e8fd0"],
  ["energy.potential", "#f2953b"],
  ["energy.elastic", "#5bb56a"],
  ["energy.dissipated", "#e2605f"],
  ["energy.stored", "#9aa5b5"],
];

export class EnergyPanel {
  readonly host = h("section", { class: "energy" });
  private readonly area = h("div", { class: "area" });
  private readonly table = h("table", { class: "ledger" });
  private readonly cells = new Map<string, HTMLElement>();
  private plot: uPlot | undefined;
  private data: uPlot.AlignedData | undefined;
  private drawn = NaN;
  private track: Track | undefined;

  constructor(private readonly player: Player, private readonly go: (time: number) => void) {
    this.host.append(h("h2", {}, "Energy"), this.area, this.table);
    new ResizeObserver(() => this.rebuild()).observe(this.area);
  }

  enter(track: Track): void {
    this.track = track;
    this.table.replaceChildren();
    this.cells.clear();
    const colours = new Map(CURVES.map(([name, colour]) => [name.slice(7), colour]));
    const { stored, lost, given } = track.document.ledger;
    for (const name of [...stored, "stored", ...lost, "dissipated", ...given, "initial", "residual"]) {
      const value = h("td", { class: "number" });
      const swatch = h("span", { class: "swatch" });
      swatch.style.background = colours.get(name) ?? "transparent";
      const kind = ["stored", "dissipated"].includes(name) ? "sum" : name === "residual" ? "residual" : "";
      const row = h("tr", { class: kind }, h("td", {}, swatch, name.replaceAll("_", " ")), value, h("td", { class: "unit" }, "J"));
      this.cells.set(name, value);
      this.table.append(row);
    }
    void this.load();
  }

  /** Reads the curves; a run that is going on has more of them each time. */
  async load(): Promise<void> {
    const track = this.track;
    if (!track || track.rows === 0) return;
    try {
      const curves = await Promise.all(CURVES.map(([name]) => track.signal(name)));
      if (track !== this.track) return;
      this.data = together(curves);
      if (this.plot) this.plot.setData(this.data);
      else this.rebuild();
    } catch {
      // The numbers below are there without the curves.
    }
  }

  rebuild(): void {
    this.plot?.destroy();
    this.plot = undefined;
    if (!this.data || this.area.clientWidth === 0) return;
    const options = chartOptions(this.area.clientWidth, 150, "J", this.player, this.go);
    options.series.push(...CURVES.map(([name, stroke]) => ({ label: name, stroke, width: 1.5, spanGaps: true, points: { show: false } })));
    this.plot = new uPlot(options, this.data, this.area);
  }

  show(view: View): void {
    const { block, row } = view.a;
    const document = this.track?.document;
    if (!document) return;
    const { accounts, ledger } = document;
    const value = (name: string): number => block.energy[row * block.accountCount + accounts.indexOf(name)] ?? NaN;
    const sum = (names: string[]): number => names.reduce((total, name) => total + value(name), 0);
    for (const [name, cell] of this.cells) {
      const x = name === "stored" ? sum(ledger.stored) : name === "dissipated" ? sum(ledger.lost) : value(name);
      cell.textContent = format(x, 5);
      if (ledger.lost.includes(name)) cell.parentElement!.hidden = x === 0;
    }
    if (this.drawn !== this.player.time) {
      this.drawn = this.player.time;
      this.plot?.redraw(false, false);
    }
  }
}
