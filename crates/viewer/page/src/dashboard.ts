// What a driver sees: speed, engine speed, gear and pedals of each vehicle of a run.

import { format, h } from "./dom";
import type { RunDocument } from "./protocol";
import { type View, reader } from "./track";

interface Needle {
  cell: HTMLElement;
  bar: HTMLElement | undefined;
  value: (view: View) => number;
  factor: number;
}

/** What is shown: label, signals of which the first that is there counts, unit, factor, and whether it is a pedal from 0 to 1. */
const INSTRUMENTS: { label: string; signals: string[]; unit: string; factor: number; pedal: boolean }[] = [
  { label: "speed", signals: ["speed"], unit: "km/h", factor: 3.6, pedal: false },
  { label: "engine", signals: ["rpm"], unit: "1/min", factor: 1, pedal: false },
  { label: "gear", signals: ["gearbox_map.gear", "gearbox.gear", "gear"], unit: "", factor: 1, pedal: false },
  { label: "throttle", signals: ["throttle"], unit: "", factor: 1, pedal: true },
  { label: "brake", signals: ["brake"], unit: "", factor: 1, pedal: true },
];

/** Names of the vehicles: what has a speed, a throttle and a brake. */
export function vehicles(names: string[]): string[] {
  const known = new Set(names);
  const drive = (name: string): boolean => ["speed", "brake"].every((what) => known.has(`${name}.${what}`));
  return names.filter((name) => name.endsWith(".throttle")).map((name) => name.slice(0, -".throttle".length)).filter(drive);
}

export class Dashboard {
  readonly host = h("section", { class: "dashboard", hidden: "" });
  private needles: Needle[] = [];

  enter(document: RunDocument): void {
    this.needles = [];
    this.host.replaceChildren();
    for (const vehicle of vehicles(document.signals.map((signal) => signal.name))) {
      const table = h("table", {});
      for (const { label, signals, unit, factor, pedal } of INSTRUMENTS) {
        const value = signals.map((signal) => reader(document, `${vehicle}.${signal}`)).find((found) => found !== undefined);
        if (!value) continue;
        const cell = h("td", { class: "number" });
        const bar = pedal ? h("span", { class: "pedal" }) : undefined;
        this.needles.push({ cell, bar, value: (view) => value(view.a.block, view.a.row), factor });
        table.append(h("tr", {}, h("td", {}, label), cell, h("td", { class: "unit" }, bar ?? unit)));
      }
      this.host.append(h("h2", {}, vehicle), table);
    }
    this.host.hidden = this.needles.length === 0;
  }

  show(view: View): void {
    for (const { cell, bar, value, factor } of this.needles) {
      const x = factor * value(view);
      const text = format(x, 4);
      if (cell.textContent !== text) cell.textContent = text;
      if (bar) bar.style.width = `${Math.round(60 * Math.max(0, Math.min(1, x)))}px`;
    }
  }
}
