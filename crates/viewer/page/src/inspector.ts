// Everything about what is selected, with units; each number can be drawn over time.

import { format, h, icon } from "./dom";
import { unitOf } from "./plots";
import { type Contact, type RunDocument, contactsOf } from "./protocol";
import { type View, reader } from "./track";
import type { Chosen } from "./tree";

interface Cell {
  cell: HTMLElement;
  value: (view: View) => number;
}

export class Inspector {
  readonly host = h("section", { class: "inspector" });
  private cells: Cell[] = [];
  private readonly contacts = h("div", { class: "touching" });
  private chosen: Chosen | undefined;
  private document: RunDocument | undefined;

  constructor(private readonly actions: { plot(name: string): void; isPlotted(name: string): boolean; select(chosen: Chosen): void }) {}

  enter(document: RunDocument): void {
    this.document = document;
    this.choose(undefined);
  }

  choose(chosen: Chosen | undefined): void {
    this.chosen = chosen;
    this.cells = [];
    this.host.replaceChildren();
    const document = this.document;
    if (!document) return;
    if (!chosen) this.scene(document);
    else if (chosen.kind === "body") this.body(document, chosen.index);
    else this.joint(document, chosen.index);
  }

  show(view: View): void {
    for (const { cell, value } of this.cells) {
      const text = format(value(view), 6);
      if (cell.textContent !== text) cell.textContent = text;
    }
    if (this.chosen?.kind === "body") this.touching(contactsOf(view.a.block, view.a.row), this.chosen.index);
  }

  private scene(document: RunDocument): void {
    this.host.append(h("h2", {}, document.title || document.name));
    if (document.text) this.host.append(h("p", { class: "text" }, document.text.replace(/([^\n])\n(?!\n)/g, "$1 ")));
    const rows: [string, string][] = [
      ["clock", document.clock],
      ["bodies", String(document.bodies.length)],
      ["joints", String(document.joints.length)],
      ["gravity", `${document.gravity.map((x) => format(x, 4)).join(", ")} m/s²`],
      ...Object.entries(document.settings)
        .filter(([, value]) => value !== null && typeof value !== "object")
        .map(([name, value]): [string, string] => [name.replaceAll("_", " "), typeof value === "number" ? format(value) : String(value)]),
    ];
    this.host.append(h("table", {}, ...rows.map(([name, value]) => h("tr", {}, h("td", {}, name), h("td", { class: "plain" }, value)))));
    if (document.failure) this.host.append(h("p", { class: "warning" }, document.failure));
    for (const warning of document.warnings) this.host.append(h("p", { class: "warning" }, warning));
  }

  private fixed(table: HTMLElement, name: string, value: string, unit = ""): void {
    table.append(h("tr", {}, h("td", {}, name), h("td", { class: "number" }, value), h("td", { class: "unit" }, unit), h("td", {})));
  }

  private moving(table: HTMLElement, label: string, name: string): void {
    const document = this.document!;
    const value = reader(document, name);
    if (!value) return;
    const cell = h("td", { class: "number", title: "click to copy" });
    cell.addEventListener("click", () => void navigator.clipboard?.writeText(`${name} = ${cell.textContent}`));
    const button = h("button", { class: `tiny ${this.actions.isPlotted(name) ? "on" : ""}`, title: `plot ${name}` }, icon("plot"));
    button.addEventListener("click", () => {
      this.actions.plot(name);
      button.classList.toggle("on");
    });
    this.cells.push({ cell, value: (view) => value(view.a.block, view.a.row) });
    table.append(h("tr", { title: name }, h("td", {}, label), cell, h("td", { class: "unit" }, unitOf(document, name)), h("td", {}, button)));
  }

  private body(document: RunDocument, index: number): void {
    const body = document.bodies[index];
    this.host.append(h("h2", {}, body.name), h("p", { class: "kind" }, `${body.drive} body${body.material ? `, ${body.material}` : ""}`));
    const table = h("table", {});
    for (const group of ["position", "orientation", "velocity", "angular_velocity"]) {
      table.append(h("tr", { class: "group" }, h("td", { colspan: "4" }, group.replaceAll("_", " "))));
      for (const axis of group === "orientation" ? ["w", "x", "y", "z"] : ["x", "y", "z"]) {
        this.moving(table, axis, `${body.name}.${group}.${axis}`);
      }
      if (group === "velocity") this.moving(table, "speed", `${body.name}.speed`);
      if (group === "angular_velocity") this.moving(table, "speed", `${body.name}.angular_speed`);
    }
    const own = document.signals.filter((signal) => signal.name.startsWith(`${body.name}.`));
    if (own.length > 0) {
      table.append(h("tr", { class: "group" }, h("td", { colspan: "4" }, "signals")));
      own.forEach((signal) => this.moving(table, signal.name.slice(body.name.length + 1), signal.name));
    }
    table.append(h("tr", { class: "group" }, h("td", { colspan: "4" }, "mass")));
    if (body.mass !== undefined) this.fixed(table, "mass", format(body.mass), "kg");
    this.fixed(table, "centre", body.com.map((x) => format(x, 4)).join(", "), "m");
    if (body.inertia) this.fixed(table, "inertia", body.inertia.map((x) => format(x, 4)).join(", "), "kg m²");
    this.contacts.replaceChildren();
    this.host.append(table, this.contacts);
  }

  private joint(document: RunDocument, index: number): void {
    const joint = document.joints[index];
    this.host.append(h("h2", {}, joint.name), h("p", { class: "kind" }, `${joint.kind.replaceAll("_", " ")} joint`));
    const names = joint.frames.map((frame) => (frame ? (frame.body === undefined ? "world" : document.bodies[frame.body].name) : "–"));
    this.host.append(h("p", { class: "text" }, `${names[0]}  —  ${names[1]}`));
    const table = h("table", {});
    document.signals
      .filter((signal) => signal.name.startsWith(`${joint.name}.`))
      .forEach((signal) => this.moving(table, signal.name.slice(joint.name.length + 1), signal.name));
    this.host.append(table);
  }

  private touching(all: Contact[], body: number): void {
    const document = this.document!;
    const mine = all.filter((contact) => contact.body1 === body || contact.body2 === body).slice(0, 12);
    const rows = mine.map((contact) => {
      const other = contact.body1 === body ? contact.body2 : contact.body1;
      const force = Math.hypot(...contact.force);
      return h(
        "div",
        { class: "contact", onclick: () => this.actions.select({ kind: "body", index: other }) },
        h("span", { class: "name" }, document.bodies[other]?.name ?? "?"),
        h("span", { class: "number" }, `${format(force, 4)} N`),
        h("span", { class: "number soft" }, `${format(contact.depth, 3)} m`),
        h("span", { class: contact.slipping ? "slip" : "stick" }, contact.slipping ? "slips" : "sticks"),
      );
    });
    this.contacts.replaceChildren(...(rows.length ? [h("h3", {}, "touches"), ...rows] : []));
  }
}
