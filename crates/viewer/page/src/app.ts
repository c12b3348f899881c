// The page as a whole: panels around the picture, keys, and the loop that draws.

import { type Layer } from "./overlays";
import { EnergyPanel } from "./energy";
import { Film, gltf, screenshot } from "./exports";
import { Inspector } from "./inspector";
import { Player, SPEEDS } from "./player";
import { Plots } from "./plots";
import { Stage, type Theme } from "./stage";
import { Timeline } from "./timeline";
import { type Chosen, Tree } from "./tree";
import { Controls } from "./controls";
import { Dashboard } from "./dashboard";
import { format, h, icon, save } from "./dom";
import type { RunDocument, RunEvent } from "./protocol";
import type { LiveTrack, Track, View } from "./track";
import type * as THREE from "three";

/** What the page asks of a run that is going on. */
export interface Wire {
  send(message: Record<string, unknown>): void;
}

export interface Progress {
  until: number;
  step: number | null;
  limiter: number | null;
  steps: number;
  contacts: number;
  event_count: number;
  wall: number;
  held: boolean;
}

const LAYERS: { layer: Layer; label: string; key: string; title: string }[] = [
  { layer: "patches", label: "Patches", key: "a", title: "polygons over which surfaces touch, by pressure; with forces: the share of each (runs made with --patches)" },
  { layer: "contacts", label: "Contacts", key: "c", title: "contact points and normals; red ones slip" },
  { layer: "forces", label: "Forces", key: "x", title: "contact forces: normal yellow, friction red, torque violet; length goes with the square root" },
  { layer: "joints", label: "Joints", key: "j", title: "joints and their axes" },
  { layer: "mass", label: "Mass", key: "m", title: "centres of mass" },
  { layer: "frames", label: "Frames", key: "v", title: "body frames: x red, y green, z blue" },
  { layer: "inertia", label: "Inertia", key: "i", title: "boxes of equal mass and inertia" },
  { layer: "islands", label: "Islands", key: "n", title: "one colour for bodies that touch or hang together" },
  { layer: "reach", label: "Reach", key: "g", title: "boxes that bodies do not leave before their horizon ends (runs made with --reach)" },
];

const HELP: [string, string][] = [
  ["Space", "play, pause (in a live run: hold, go on)"],
  ["→ ←  or  . ,", "one row forward, back"],
  ["Shift →  ←", "next, previous event"],
  ["+ -", "faster, slower"],
  ["Home End", "first, last moment"],
  ["L", "loop"],
  ["drag", "orbit; right button or Shift: pan; wheel: zoom"],
  ["click", "select; double click: look at it"],
  ["Ctrl drag", "pull at a body, in a live run of the realtime clock"],
  ["↑ ↓  or  ← →", "first, second input of a live run, or throttle, brake and steering; also Page Up/Down, Insert/Delete and a gamepad"],
  ["F", "look at the selection, or at everything"],
  ["K", "follow the selected body"],
  ["1 … 6", "look along +x -x +y -y +z -z"],
  ["0 or R", "first view"],
  ["O", "orthographic or perspective"],
  ["[ ]", "previous, next body"],
  ["Esc", "nothing selected, nothing followed"],
  ["A C X J M V I N G", "patches, contacts, forces, joints, mass, frames, inertia, islands, reach"],
  ["T W H", "transparent, wire frame, colliding shapes only"],
  ["B", "colour by body, material, speed"],
  ["E P", "energy panel, plots"],
  ["/", "search"],
  ["S", "save a picture"],
  ["D", "dark or light"],
  ["Tab", "panels on, off"],
  ["?", "this list"],
];

export class App {
  readonly stage: Stage;
  readonly player = new Player();
  readonly timeline: Timeline;
  readonly plots: Plots;
  readonly energy: EnergyPanel;
  readonly inspector: Inspector;
  readonly tree: Tree;
  /** Time the last picture took [ms], smoothed. */
  scriptTime = 0;
  wire: Wire | undefined;
  progress: Progress | undefined;
  private tracks: Track[] = [];
  private chosen: Chosen | undefined;
  private view: View | undefined;
  private dirty = true;
  private last = performance.now();
  private framed = false;
  private acknowledge = false;
  private refreshed = 0;
  private readonly film = new Film();
  private readonly status: Record<string, HTMLElement> = {};
  private readonly notes = h("div", { class: "notes", "aria-live": "polite" });
  private readonly layers = new Map<Layer, HTMLElement>();
  private readonly title = h("span", { class: "title" });
  private readonly badge = h("span", { class: "badge" });
  private readonly legend = h("div", { class: "legend" });
  private readonly label = h("div", { class: "label", hidden: "" });
  private readonly playButton = h("button", { class: "play", title: "play, pause (Space)", onclick: () => this.playPause() }, icon("play"));
  private readonly liveButton = h("button", { class: "live", title: "follow the run", hidden: "", onclick: () => this.goLive() }, "live");
  private readonly clock = h("output", { class: "clock" });
  private readonly speed = h("select", { title: "speed (+ -)", "aria-label": "speed" });
  private readonly loopButton = h("button", { title: "loop (L)", class: "on", onclick: () => this.setLoop(!this.player.loop) }, icon("loop"));
  private readonly dashboard = new Dashboard();
  private readonly inputs = h("section", { class: "inputs", hidden: "" });
  private readonly controls = new Controls((input, value) => this.setInput(input, value));
  private sliders: { slider: HTMLInputElement; value: HTMLElement }[] = [];
  private readonly help: HTMLDialogElement;
  private readonly exportMenu: HTMLDetailsElement;
  private readonly style = { text: "", faint: "", accent: "" };

  constructor(host: HTMLElement, readonly embedded: boolean) {
    const picture = h("main", { class: "stage" });
    this.stage = new Stage(picture, () => this.touch());
    this.timeline = new Timeline(this.player, () => this.touch());
    const go = (time: number): void => {
      this.player.seek(time);
      this.touch();
    };
    this.plots = new Plots(this.player, go, (reason) => this.note(reason));
    this.energy = new EnergyPanel(this.player, go);
    const plot = (name: string): void => void this.plots.toggle(name).then(() => this.touch());
    const isPlotted = (name: string): boolean => this.plots.names.includes(name);
    this.inspector = new Inspector({ plot, isPlotted, select: (chosen) => this.select(chosen) });
    this.tree = new Tree({
      select: (chosen) => this.select(chosen),
      focus: (chosen) => {
        this.select(chosen);
        this.stage.frameSelection();
        this.touch();
      },
      setVisible: (bodies, visible) => {
        for (const body of bodies) this.stage.actors.visible[body] = visible;
        this.stage.actors.refresh();
        this.touch();
      },
      isVisible: (body) => this.stage.actors.visible[body],
      colourOf: (body) => `#${this.stage.actors.colours[body].getHexString()}`,
      choose: (body, colour) => {
        this.stage.actors.choose(body, colour);
        this.touch();
      },
      plot,
      isPlotted,
    });
    this.help = this.helpDialog();
    this.exportMenu = this.exports();
    picture.append(this.legend, this.label, this.notes);
    host.append(
      this.header(),
      h("aside", { class: "left" }, this.tree.host),
      picture,
      h("aside", { class: "right" }, this.dashboard.host, this.inputs, this.inspector.host, this.energy.host),
      this.plots.host,
      this.transport(),
      this.strip(),
      this.help,
    );
    this.mouse(picture);
    window.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("keyup", (event) => this.controls.key(event.key, false));
    window.addEventListener("blur", () => this.controls.release());
    const wanted = new URLSearchParams(location.search).get("theme");
    const kept = readSetting("tippe.theme");
    const system = window.matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
    this.dress((wanted ?? kept ?? system) === "light" ? "light" : "dark");
    requestAnimationFrame((now) => this.frame(now));
  }

  private header(): HTMLElement {
    const buttons = LAYERS.map(({ layer, label, key, title }) => {
      const button = h("button", { class: "layer", title: `${title} (${key.toUpperCase()})`, onclick: () => this.toggleLayer(layer) }, label);
      this.layers.set(layer, button);
      return button;
    });
    return h(
      "header",
      {},
      h("span", { class: "brand" }, "Tippe"),
      this.title,
      this.badge,
      h("span", { class: "gap" }),
      h("span", { class: "layers" }, ...buttons),
      h("span", { class: "gap" }),
      h("button", { title: "save a picture (S)", onclick: () => this.attempt(screenshot(this.stage, this.name())) }, icon("camera")),
      this.exportMenu,
      h("button", { title: "dark or light (D)", onclick: () => this.dress(this.stage.dressed === "dark" ? "light" : "dark") }, icon("sun")),
      h("button", { title: "keys (?)", onclick: () => this.help.showModal() }, icon("help")),
    );
  }

  private exports(): HTMLDetailsElement {
    const film = h("button", {}, "Film (webm)");
    film.addEventListener("click", () => {
      try {
        this.film.toggle(this.stage, this.name());
        if (this.film.running && !this.player.playing) this.playPause();
        film.textContent = this.film.running ? "Stop the film" : "Film (webm)";
        film.classList.toggle("recording", this.film.running);
      } catch (error) {
        this.note(String(error instanceof Error ? error.message : error));
      }
    });
    const model = h("button", { onclick: () => this.attempt(gltf(this.stage, this.tracks[0]).then((blob) => save(blob, `${this.name()}.glb`))) }, "Model with motion (glTF)");
    const page = h("button", { onclick: () => this.attempt(this.saveHtml()) }, "Page with the run (HTML)");
    const picture = h("button", { onclick: () => this.attempt(screenshot(this.stage, this.name())) }, "Picture (PNG)");
    const list = h("div", { class: "menu" }, picture, film, model);
    if (!this.embedded) list.append(page);
    const details = h("details", { class: "export" }, h("summary", { title: "save" }, icon("down")), list);
    list.addEventListener("click", () => (details.open = false));
    return details;
  }

  private async saveHtml(): Promise<void> {
    const answer = await fetch("html");
    if (!answer.ok) throw new Error(await answer.text());
    save(new Blob([await answer.arrayBuffer()], { type: "text/html" }), `${this.name()}.html`);
  }

  private attempt(work: Promise<void>): void {
    work.catch((error: unknown) => this.note(error instanceof Error ? error.message : String(error)));
  }

  private transport(): HTMLElement {
    for (const speed of SPEEDS) this.speed.append(h("option", { value: speed }, `${speed} ×`));
    this.speed.addEventListener("change", () => {
      this.player.speed = Number(this.speed.value);
      this.speed.blur();
    });
    this.speed.value = "1";
    return h(
      "footer",
      { class: "transport" },
      h("button", { title: "to the start (Home)", onclick: () => this.seek(this.player.first) }, icon("start")),
      h("button", { title: "one row back (←)", onclick: () => this.step(-1) }, icon("back")),
      this.playButton,
      h("button", { title: "one row forward (→)", onclick: () => this.step(1) }, icon("forward")),
      this.loopButton,
      this.speed,
      this.clock,
      this.timeline.canvas,
      this.liveButton,
    );
  }

  private strip(): HTMLElement {
    const item = (name: string, title: string): HTMLElement => {
      this.status[name] = h("span", { class: "item", title });
      return this.status[name];
    };
    return h(
      "footer",
      { class: "strip" },
      item("clock", "clock"),
      item("row", "row shown"),
      item("step", "step"),
      item("rate", "simulated time over wall time of the run"),
      item("contacts", "contacts now"),
      item("events", "events of the run"),
      item("gap", "largest distance of a body between the two runs"),
      h("span", { class: "gap" }),
      item("warnings", "what is worth knowing"),
      item("script", "script time of a picture"),
    );
  }

  private helpDialog(): HTMLDialogElement {
    const rows = HELP.map(([keys, what]) => h("tr", {}, h("td", {}, ...keys.split("  or  ").flatMap((k, i) => [i ? " or " : "", h("kbd", {}, k)])), h("td", {}, what)));
    const dialog = h("dialog", { class: "help" }, h("h2", {}, "Keys"), h("table", {}, ...rows), h("button", { onclick: () => dialog.close() }, "Close"));
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    return dialog;
  }

  /** Puts runs on the page. */
  enter(tracks: Track[], keep: boolean): void {
    const selection = keep && this.chosen ? this.nameOf(this.chosen) : undefined;
    const layers = { ...this.stage.overlays.on };
    this.tracks = tracks;
    this.player.tracks = tracks;
    this.stage.enter(tracks, keep);
    this.stage.overlays.on.islands = layers.islands;
    const document = tracks[0].document;
    if (!keep) {
      this.player.time = this.player.first;
      this.framed = false;
      // A run of milliseconds is shown in slow motion, so that it lasts some seconds.
      const seconds = this.player.end - this.player.first;
      this.player.speed = document.live ? 1 : (SPEEDS.filter((speed) => speed <= Math.max(0.01, Math.min(1, seconds))).pop() ?? 1);
      this.speed.value = String(this.player.speed);
      this.stage.overlays.on.joints = document.joints.length > 0 && document.bodies.length <= 200;
    } else {
      this.player.time = Math.max(this.player.first, Math.min(this.player.last, this.player.time));
    }
    this.player.pinned = undefined;
    this.player.newest = document.live;
    this.liveButton.hidden = !document.live;
    this.progress = undefined;
    this.title.textContent = document.title || document.name;
    window.document.title = `${document.title || document.name} · Tippe`;
    this.tree.enter(document);
    this.inspector.enter(document);
    this.dashboard.enter(document);
    this.energy.enter(tracks[0]);
    this.select(selection ? this.find(selection) : undefined);
    this.timeline.events = [];
    void tracks[0].events().then(
      (list) => {
        this.timeline.events = list.events;
        if (list.omitted) this.note(`${list.omitted} more events are not marked`);
        this.touch();
      },
      (error: unknown) => this.note(error instanceof Error ? error.message : String(error)),
    );
    void this.plots.reload(tracks);
    this.showInputs(document);
    this.showLegend();
    this.showLayers();
    this.setBadge();
    this.touch();
  }

  private setBadge(): void {
    const { live, status, every } = this.tracks[0].document;
    const text = live ? (this.progress?.held ? "held" : "live") : status === "complete" ? "" : status.replaceAll("_", " ");
    this.badge.textContent = text || (every && every > 1 ? `every ${every}th row` : "");
    this.badge.className = `badge ${live ? "live" : status}`;
  }

  /** A slider for every input of a run that is going on. */
  private showInputs(document: RunDocument): void {
    const inputs = document.live ? (document.inputs ?? []) : [];
    this.inputs.hidden = inputs.length === 0;
    const ranges = inputs.map(({ name, start, low, high }) => {
      const reach = 10 * Math.max(1, Math.abs(start));
      return { name, start, low: low ?? -reach, high: high ?? reach };
    });
    this.controls.enter(ranges);
    this.sliders = ranges.map(({ name, start, low, high }) => ({
      slider: h("input", { type: "range", min: low, max: high, step: (high - low) / 1000, value: start, "aria-label": name }),
      value: h("output", { class: "number" }, format(start, 4)),
    }));
    const rows = ranges.map(({ name, start }, k) => {
      const { slider, value } = this.sliders[k];
      slider.addEventListener("input", () => this.setInput(k, Number(slider.value)));
      const back = h("button", { class: "tiny", title: "back to its start" }, icon("start"));
      back.addEventListener("click", () => this.setInput(k, start));
      return h("div", { class: "slider", title: this.controls.keysOf(k) }, h("label", {}, name), slider, value, back);
    });
    this.inputs.replaceChildren(h("h2", {}, "Inputs"), ...rows);
  }

  /** Sets a number of a run that is going on, and shows it. */
  private setInput(input: number, value: number): void {
    this.controls.moved(input, value);
    const shown = this.sliders[input];
    if (shown) {
      shown.slider.value = String(value);
      shown.value.textContent = format(value, 4);
    }
    this.wire?.send({ type: "input", input, value });
  }

  private showLegend(): void {
    this.legend.replaceChildren(...this.stage.surfaces.legend(), ...this.stage.drawings.legend());
    if (this.tracks.length < 2) return;
    const name = (document: RunDocument): string => `${document.name}, ${document.clock}`;
    this.legend.append(
      h("div", {}, h("span", { class: "swatch solid" }), name(this.tracks[0].document)),
      h("div", {}, h("span", { class: "swatch ghost" }), name(this.tracks[1].document)),
    );
  }

  /** Rows of a run that is going on have come. */
  received(): void {
    this.acknowledge = true;
    this.touch();
  }

  news(progress: Progress, events: RunEvent[]): void {
    this.progress = progress;
    (this.tracks[0] as LiveTrack).add?.(events);
    if (events.length) this.timeline.events = [...this.timeline.events.slice(-20_000), ...events];
    this.setBadge();
    this.showPlay();
  }

  private name(): string {
    return this.tracks[0]?.document.name || "tippe";
  }

  private nameOf(chosen: Chosen): { kind: Chosen["kind"]; name: string } | undefined {
    const document = this.tracks[0]?.document;
    const list = chosen.kind === "body" ? document?.bodies : document?.joints;
    return list ? { kind: chosen.kind, name: list[chosen.index].name } : undefined;
  }

  private find(wanted: { kind: Chosen["kind"]; name: string }): Chosen | undefined {
    const document = this.tracks[0].document;
    const list = wanted.kind === "body" ? document.bodies : document.joints;
    const index = (list as { name: string }[]).findIndex((one) => one.name === wanted.name);
    return index < 0 ? undefined : { kind: wanted.kind, index };
  }

  select(chosen: Chosen | undefined): void {
    this.chosen = chosen;
    this.stage.select(chosen?.kind === "body" ? chosen.index : undefined);
    if (chosen?.kind === "joint" && !this.stage.overlays.on.joints) this.toggleLayer("joints");
    this.inspector.choose(chosen);
    this.tree.mark(chosen);
    this.touch();
  }

  toggleLayer(layer: Layer): void {
    this.stage.overlays.toggle(layer);
    this.showLayers();
    this.touch();
  }

  private showLayers(): void {
    for (const [layer, button] of this.layers) button.classList.toggle("on", this.stage.overlays.on[layer]);
  }

  playPause(): void {
    const live = this.tracks[0]?.document.live;
    if (live && this.player.newest) this.wire?.send({ type: this.progress?.held ? "go" : "hold" });
    else this.player.toggle();
    this.showPlay();
    this.touch();
  }

  private goLive(): void {
    this.player.newest = true;
    this.player.pinned = undefined;
    this.showPlay();
    this.touch();
  }

  step(by: number): void {
    const live = this.tracks[0]?.document.live;
    if (live && this.player.newest && this.progress?.held && by > 0) this.wire?.send({ type: "step" });
    else this.player.step(by);
    this.showPlay();
    this.touch();
  }

  seek(time: number): void {
    this.player.seek(time);
    this.showPlay();
    this.touch();
  }

  private nextEvent(by: number): void {
    const times = this.timeline.events.map((event) => event.time);
    const slack = 1e-9 * Math.max(1, Math.abs(this.player.time));
    const next = by > 0 ? times.find((t) => t > this.player.time + slack) : times.filter((t) => t < this.player.time - slack).pop();
    if (next !== undefined) this.seek(next);
  }

  private setLoop(on: boolean): void {
    this.player.loop = on;
    this.loopButton.classList.toggle("on", on);
  }

  private showPlay(): void {
    const live = this.tracks[0]?.document.live && this.player.newest;
    const going = live ? !this.progress?.held : this.player.playing;
    this.playButton.replaceChildren(icon(going ? "pause" : "play"));
    this.liveButton.classList.toggle("on", this.player.newest);
  }

  /** Something changed: the next picture is drawn anew. */
  touch(): void {
    this.dirty = true;
  }

  private frame(now: number): void {
    requestAnimationFrame((next) => this.frame(next));
    const seconds = Math.min(0.25, (now - this.last) / 1000);
    this.last = now;
    const began = performance.now();
    const was = this.player.time;
    this.controls.drive();
    this.player.advance(seconds);
    if (this.player.time !== was) this.dirty = true;
    if (this.dirty && this.tracks.length > 0) {
      this.dirty = false;
      this.drawNow();
      this.scriptTime += 0.1 * (performance.now() - began - this.scriptTime);
    }
    if (this.acknowledge) {
      this.acknowledge = false;
      this.wire?.send({ type: "ready" });
    }
    if (this.tracks[0]?.document.live && now - this.refreshed > 500) {
      this.refreshed = now;
      void this.plots.reload(this.tracks);
      void this.energy.load();
    }
  }

  private drawNow(): void {
    const view = this.player.view(this.tracks[0]);
    if (view) {
      this.view = view;
      this.stage.actors.place(view);
      this.stage.place(this.tracks[0], view);
      const contacts = this.stage.overlays.place(view);
      const time = view.a.block.time[view.a.row];
      this.stage.overlays.placePatches(this.tracks[0].patches?.(time));
      this.stage.overlays.placeReach(this.stage.overlays.on.reach ? this.tracks[0].reach?.(time) : []);
      this.inspector.show(view);
      this.dashboard.show(view);
      this.energy.show(view);
      this.showStatus(view, contacts.length);
      if (!this.framed) {
        this.framed = true;
        this.stage.frameMotion(this.tracks[0]);
        this.stage.overlays.place(view);
      }
    }
    const other = this.tracks[1];
    if (other && this.stage.ghost) {
      const ghost = other.at(this.player.time);
      if (ghost) {
        this.stage.ghost.place(ghost);
        if (view) this.showGap();
      }
    }
    this.stage.draw();
    this.showLabel();
    this.plots.frame();
    this.timeline.draw(this.style);
    this.clock.textContent = `${this.player.time.toFixed(4)} s`;
    this.showPlay();
    if (this.player.playing) this.speed.value = String(this.player.speed);
  }

  private showLabel(): void {
    const k = this.stage.selected;
    this.label.hidden = k === undefined;
    if (k === undefined) return;
    const place = this.stage.actors.position(k).project(this.stage.camera);
    const { clientWidth: w, clientHeight: hgt } = this.stage.host;
    this.label.hidden = place.z > 1 || Math.abs(place.x) > 1 || Math.abs(place.y) > 1 || !Number.isFinite(this.stage.actors.radii[k]);
    this.label.textContent = this.tracks[0].document.bodies[k].name;
    this.label.style.transform = `translate(${((place.x + 1) / 2) * w + 12}px, ${((1 - place.y) / 2) * hgt - 26}px)`;
  }

  private showGap(): void {
    const ghost = this.stage.ghost!;
    const places = new Map(this.tracks[1].document.bodies.map((body, k) => [body.name, k]));
    let [most, who] = [0, ""];
    this.tracks[0].document.bodies.forEach((body, k) => {
      const other = places.get(body.name);
      if (other === undefined || body.drive === "fixed") return;
      const gap = this.stage.actors.position(k).distanceTo(ghost.position(other));
      if (gap > most) [most, who] = [gap, body.name];
    });
    this.status.gap.textContent = `gap ${format(most, 3)} m${who ? ` (${who})` : ""}`;
  }

  private showStatus(view: View, contacts: number): void {
    const document = this.tracks[0].document;
    const set = (name: string, text: string): void => {
      if (this.status[name].textContent !== text) this.status[name].textContent = text;
    };
    set("clock", document.clock);
    set("row", `row ${view.index + 1} of ${this.tracks[0].rows}`);
    const p = this.progress;
    const limiter = p?.limiter !== null && p?.limiter !== undefined ? ` by ${document.bodies[p.limiter]?.name}` : "";
    const step = p ? p.step : typeof document.settings.step === "number" ? document.settings.step : null;
    set("step", step ? `step ${format(step, 3)} s${limiter}` : `tolerance ${format(Number(document.settings.tolerance ?? NaN), 3)}`);
    const report = document.report;
    const rate = p && p.wall > 0 ? (this.player.last - document.start) / p.wall : report && report.wall_s > 0 ? report.sim_s / report.wall_s : NaN;
    set("rate", Number.isFinite(rate) ? `${format(rate, 3)} × real time` : "");
    set("contacts", `${contacts} contact${contacts === 1 ? "" : "s"}`);
    set("events", `${p ? p.event_count : this.timeline.events.length} events`);
    const warnings = document.warnings.length + (document.failure ? 1 : 0);
    set("warnings", warnings ? `⚠ ${warnings}` : "");
    this.status.warnings.title = [document.failure ?? "", ...document.warnings].filter(Boolean).join("\n");
    set("script", `${this.scriptTime.toFixed(1)} ms`);
  }

  private mouse(picture: HTMLElement): void {
    let from: [number, number] = [0, 0];
    // Before the camera hears of it.
    picture.addEventListener("pointerdown", (event) => this.grasp(event), { capture: true });
    picture.addEventListener("pointerdown", (event) => (from = [event.clientX, event.clientY]));
    picture.addEventListener("click", (event) => {
      if (Math.hypot(event.clientX - from[0], event.clientY - from[1]) > 4 || event.target !== this.stage.renderer.domElement) return;
      const hit = this.stage.pick(event.clientX, event.clientY);
      this.select(hit ? { kind: "body", index: hit.body } : undefined);
    });
    picture.addEventListener("dblclick", () => {
      if (this.stage.selected === undefined) return;
      this.stage.frameSelection();
      this.touch();
    });
    picture.addEventListener("wheel", () => this.touch(), { passive: true });
    picture.addEventListener("pointermove", (event) => {
      if (event.buttons) this.touch();
    });
  }

  /** Ctrl and drag: a spring from the point of a body under the mouse to where the mouse goes. The run records it like any input. */
  private grasp(event: PointerEvent): void {
    const run = this.tracks[0]?.document;
    if (!(event.ctrlKey || event.metaKey) || event.button !== 0 || !run?.live) return;
    event.stopPropagation();
    const hit = this.stage.pick(event.clientX, event.clientY);
    if (!hit) return;
    if (run.clock !== "realtime" || run.bodies[hit.body].drive !== "free") {
      this.note(run.clock === "realtime" ? `${run.bodies[hit.body].name} does not move` : "only a run of the realtime clock can be pulled at");
      return;
    }
    const { body, point } = hit;
    const at = point.clone().applyMatrix4(this.stage.actors.matrix(body).invert());
    const pull = (to: THREE.Vector3): void => {
      this.stage.overlays.hand = { body, at, to };
      this.wire?.send({ type: "pull", body, at: at.toArray(), to: to.toArray() });
      this.touch();
    };
    const move = (next: PointerEvent): void => pull(this.stage.across(next.clientX, next.clientY, point));
    const end = (): void => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      this.stage.overlays.hand = undefined;
      this.wire?.send({ type: "let_go" });
      this.touch();
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
    pull(point.clone());
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target instanceof HTMLInputElement && target.type !== "color") return;
    if (this.help.open) return;
    // Keys of inputs rule while the run goes on; held, the arrows step as ever.
    const going = this.tracks[0]?.document.live && this.player.newest && !this.progress?.held;
    if (going && !event.shiftKey && this.controls.key(event.key, true)) {
      event.preventDefault();
      return;
    }
    const { stage } = this;
    const body = (by: number): void => {
      const n = this.tracks[0].document.bodies.length;
      this.select({ kind: "body", index: ((stage.selected ?? (by > 0 ? -1 : 0)) + by + n) % n });
    };
    const layer = LAYERS.find((one) => one.key === event.key.toLowerCase());
    const axes = ["x", "-x", "y", "-y", "z", "-z"] as const;
    const actions: Record<string, () => void> = {
      " ": () => this.playPause(),
      ArrowRight: () => (event.shiftKey ? this.nextEvent(1) : this.step(1)),
      ArrowLeft: () => (event.shiftKey ? this.nextEvent(-1) : this.step(-1)),
      ".": () => this.step(1),
      ",": () => this.step(-1),
      "+": () => this.changeSpeed(1),
      "=": () => this.changeSpeed(1),
      "-": () => this.changeSpeed(-1),
      Home: () => this.seek(this.player.first),
      End: () => this.seek(this.player.last),
      l: () => this.setLoop(!this.player.loop),
      f: () => stage.frameSelection(),
      k: () => this.toggleFollow(),
      o: () => stage.toggleOrthographic(),
      r: () => stage.home(),
      "0": () => stage.home(),
      "[": () => body(-1),
      "]": () => body(1),
      Escape: () => {
        stage.track(undefined);
        this.select(undefined);
      },
      t: () => (stage.actors.transparent = this.toggled("transparent")),
      w: () => (stage.actors.wireframe = this.toggled("wire")),
      h: () => (stage.actors.collidingOnly = this.toggled("colliding")),
      b: () => this.nextColouring(),
      e: () => (this.energy.host.hidden = !this.energy.host.hidden),
      p: () => this.togglePlots(),
      s: () => this.attempt(screenshot(stage, this.name())),
      d: () => this.dress(stage.dressed === "dark" ? "light" : "dark"),
      "/": () => this.tree.focusSearch(),
      "?": () => this.help.showModal(),
      Tab: () => document.getElementById("app")?.classList.toggle("bare"),
    };
    axes.forEach((axis, i) => (actions[String(i + 1)] = () => stage.axis(axis)));
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = layer ? () => this.toggleLayer(layer.layer) : actions[name];
    if (!action || this.tracks.length === 0) return;
    event.preventDefault();
    action();
    this.touch();
  }

  private readonly switches = new Set<string>();

  private toggled(name: string): boolean {
    if (this.switches.delete(name)) return false;
    this.switches.add(name);
    return true;
  }

  private toggleFollow(): void {
    const body = this.stage.follow === undefined ? this.stage.selected : undefined;
    this.stage.track(body);
    this.note(body === undefined ? "following nobody" : `following ${this.tracks[0].document.bodies[body].name}`);
  }

  private togglePlots(): void {
    const k = this.stage.selected;
    if (this.plots.names.length > 0) this.plots.host.hidden = !this.plots.host.hidden;
    else if (k !== undefined) void this.plots.toggle(`${this.tracks[0].document.bodies[k].name}.position.z`);
    else this.note("select something, then click the curve beside a number");
  }

  private nextColouring(): void {
    const order = ["body", "material", "speed"] as const;
    const now = order.indexOf(this.stage.actors.colouredBy as (typeof order)[number]);
    const next = order[(now + 1) % order.length];
    if (this.stage.overlays.on.islands) this.toggleLayer("islands");
    this.stage.actors.colourBy(next);
    this.note(`coloured by ${next}`);
  }

  private changeSpeed(by: number): void {
    this.player.faster(by);
    this.speed.value = String(this.player.speed);
  }

  dress(theme: Theme): void {
    document.documentElement.dataset.theme = theme;
    keepSetting("tippe.theme", theme);
    this.stage.dress(theme);
    const style = getComputedStyle(document.documentElement);
    this.style.text = style.getPropertyValue("--soft").trim();
    this.style.faint = style.getPropertyValue("--line").trim();
    this.style.accent = style.getPropertyValue("--accent").trim();
    this.plots.rebuild();
    this.energy.rebuild();
    this.touch();
  }

  /** A line for the user that goes away again. */
  note(text: string): void {
    const line = h("div", { class: "note" }, text);
    this.notes.append(line);
    setTimeout(() => line.remove(), 6000);
  }

  /** What is shown now, for tests and scripts. */
  state(): Record<string, unknown> {
    const { player, stage } = this;
    return {
      ready: this.view !== undefined,
      idle: !this.dirty,
      time: player.time,
      first: player.first,
      last: player.last,
      playing: player.playing,
      pinned: player.pinned,
      newest: player.newest,
      live: this.tracks[0]?.document.live ?? false,
      runs: this.tracks.length,
      rows: this.tracks[0]?.rows ?? 0,
      selected: stage.selected,
      events: this.timeline.events.length,
      plots: [...this.plots.names],
      viewpoint: stage.viewpoint(),
      scriptTime: this.scriptTime,
      held: this.progress?.held ?? false,
      hand: stage.overlays.hand?.body,
      positions: Array.from({ length: Math.min(8, stage.actors?.poses.length / 7 || 0) }, (_, k) => stage.actors.position(k).toArray()),
    };
  }
}

function readSetting(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    // A page from a file may have no storage.
    return null;
  }
}

function keepSetting(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The setting lasts as long as the page.
  }
}
