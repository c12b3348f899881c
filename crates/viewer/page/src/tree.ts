// What is in the scene, by name: search, select, hide, colour.

import { h, icon } from "./dom";
import type { RunDocument } from "./protocol";

/** Rows of one kind shown at once; the search finds the others. */
const SHOWN = 300;

export type Chosen = { kind: "body"; index: number } | { kind: "joint"; index: number };

export interface TreeActions {
  select(chosen: Chosen | undefined): void;
  focus(chosen: Chosen): void;
  setVisible(bodies: number[], visible: boolean): void;
  isVisible(body: number): boolean;
  colourOf(body: number): string;
  choose(body: number, colour: string): void;
  plot(signal: string): void;
  isPlotted(signal: string): boolean;
}

export class Tree {
  readonly host = h("section", { class: "tree" });
  private readonly search = h("input", { type: "search", placeholder: "Search  ( / )", "aria-label": "search", spellcheck: "false" });
  private readonly list = h("div", { class: "list" });
  private readonly folded = new Set<string>(["Signals"]);
  private document: RunDocument | undefined;
  private chosen: Chosen | undefined;

  constructor(private readonly actions: TreeActions) {
    this.search.addEventListener("input", () => this.render());
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.search.blur();
    });
    this.host.append(this.search, this.list);
  }

  enter(document: RunDocument): void {
    this.document = document;
    this.chosen = undefined;
    this.render();
  }

  focusSearch(): void {
    this.search.focus();
    this.search.select();
  }

  mark(chosen: Chosen | undefined): void {
    this.chosen = chosen;
    this.render();
    this.list.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
  }

  render(): void {
    const document = this.document;
    if (!document) return;
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = (name: string): boolean => words.every((word) => name.toLowerCase().includes(word));
    const bodies = document.bodies.map((body, index) => ({ body, index })).filter(({ body }) => found(body.name));
    const joints = document.joints.map((joint, index) => ({ joint, index })).filter(({ joint }) => found(joint.name));
    const energy = document.accounts.slice(0, -3).map((name) => `energy.${name}`);
    const signals = [...document.signals.map((signal) => signal.name), ...energy, ...document.accounts.slice(-3)].filter(found);
    const rows: HTMLElement[] = [];
    this.section(rows, "Bodies", bodies, ({ index }) => this.body(index), () => this.switchAll(bodies.map((b) => b.index)));
    this.section(rows, "Joints", joints, ({ index }) => this.joint(index));
    this.section(rows, "Signals", signals, (name) => this.signal(name), undefined, words.length > 0);
    this.list.replaceChildren(...rows);
  }

  private section<T>(rows: HTMLElement[], title: string, items: T[], row: (item: T) => HTMLElement, eye?: () => void, open = false): void {
    if (items.length === 0) return;
    const folded = this.folded.has(title) && !open;
    const head = h(
      "div",
      {
        class: "head",
        onclick: () => {
          if (!this.folded.delete(title)) this.folded.add(title);
          this.render();
        },
      },
      h("span", { class: `fold ${folded ? "" : "open"}` }, "›"),
      h("span", { class: "name" }, title),
      h("span", { class: "count" }, String(items.length)),
    );
    if (eye) {
      const button = h("button", { class: "tiny", title: "show or hide all of these" }, icon("eye"));
      button.addEventListener("click", (event) => {
        event.stopPropagation();
        eye();
      });
      head.append(button);
    }
    rows.push(head);
    if (folded) return;
    const chosen = this.chosen;
    let shown = items.slice(0, SHOWN);
    if (title === "Bodies" && chosen?.kind === "body" && chosen.index >= SHOWN) {
      const extra = items.find((item) => (item as { index: number }).index === chosen.index);
      if (extra && !shown.includes(extra)) shown = [extra, ...shown];
    }
    rows.push(...shown.map(row));
    if (items.length > shown.length) rows.push(h("div", { class: "more" }, `and ${items.length - shown.length} more: search for them`));
  }

  private switchAll(bodies: number[]): void {
    this.actions.setVisible(bodies, !bodies.some((body) => this.actions.isVisible(body)));
    this.render();
  }

  private body(index: number): HTMLElement {
    const { name } = this.document!.bodies[index];
    const visible = this.actions.isVisible(index);
    const colour = h("input", { type: "color", class: "swatch", title: "colour", value: this.actions.colourOf(index) });
    colour.addEventListener("input", () => this.actions.choose(index, colour.value));
    colour.addEventListener("click", (event) => event.stopPropagation());
    const eye = h("button", { class: `tiny eye ${visible ? "" : "off"}`, title: "show or hide (Alt: this one alone)" }, icon("eye"));
    eye.addEventListener("click", (event) => {
      event.stopPropagation();
      if (event.altKey) {
        this.actions.setVisible(this.document!.bodies.map((_, k) => k), false);
        this.actions.setVisible([index], true);
      } else this.actions.setVisible([index], !visible);
      this.render();
    });
    const chosen = this.chosen?.kind === "body" && this.chosen.index === index;
    return h(
      "div",
      {
        class: `row ${chosen ? "chosen" : ""} ${visible ? "" : "hidden"}`,
        onclick: () => this.actions.select({ kind: "body", index }),
        ondblclick: () => this.actions.focus({ kind: "body", index }),
      },
      colour,
      h("span", { class: "name", title: name }, name),
      eye,
    );
  }

  private joint(index: number): HTMLElement {
    const { name, kind } = this.document!.joints[index];
    const chosen = this.chosen?.kind === "joint" && this.chosen.index === index;
    return h(
      "div",
      { class: `row ${chosen ? "chosen" : ""}`, onclick: () => this.actions.select({ kind: "joint", index }) },
      h("span", { class: "name", title: name }, name),
      h("span", { class: "kind" }, kind.replaceAll("_", " ")),
    );
  }

  private signal(name: string): HTMLElement {
    const on = this.actions.isPlotted(name);
    return h(
      "div",
      {
        class: `row ${on ? "chosen" : ""}`,
        onclick: () => {
          this.actions.plot(name);
          this.render();
        },
      },
      h("span", { class: "name", title: name }, name),
      h("span", { class: "tiny" }, icon("plot")),
    );
  }
}
