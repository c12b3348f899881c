// Where the page begins: finds its runs, inside it or on the server it came from.

import { App, type Progress } from "./app";
import { h } from "./dom";
import { type RunEvent, type SceneDocument, decode } from "./protocol";
import { EmbeddedTrack, LiveTrack, RecordedTrack, type Track } from "./track";

declare global {
  interface Window {
    tippe?: App;
  }
}

const host = document.getElementById("app")!;

/** A message instead of the picture. */
function trouble(title: string, text: string, help: string, beside = false): void {
  document.querySelector(".trouble")?.remove();
  document.body.append(h("div", { class: beside ? "trouble beside" : "trouble", role: "alert" }, h("h1", {}, title), h("p", {}, text), h("p", { class: "soft" }, help)));
}

function start(embedded: boolean): App | undefined {
  try {
    const app = new App(host, embedded);
    window.tippe = app;
    return app;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const help = "Switch on hardware acceleration, or open this address in another browser. `tippe plot` draws curves without it.";
    if (/webgl|context/i.test(reason)) trouble("No WebGL", `This browser cannot draw in three dimensions: ${reason}`, help);
    else trouble("The viewer could not start", reason, "Please report this.");
    return undefined;
  }
}

function readScene(text: string): SceneDocument {
  const scene = JSON.parse(text) as SceneDocument;
  if (scene.protocol !== 1) throw new Error(`protocol ${scene.protocol} is not known to this page`);
  return scene;
}

function openEmbedded(element: HTMLElement): void {
  const app = start(true);
  if (!app) return;
  const scene = readScene(element.textContent ?? "");
  const data = (id: string): string => document.getElementById(id)?.textContent?.trim() ?? "";
  const tracks = scene.runs.map((run, k) => new EmbeddedTrack(run, data(`rows-${k}`), (run.surfaces ?? []).map((_, i) => data(`surface-${k}-${i}`)), data(`grains-${k}`)));
  app.enter(tracks, false);
  app.player.playing = true;
}

/** A page that is served: it follows what the server shows. */
class Served {
  private generation = -1;
  private name = "";
  private live: LiveTrack | undefined;
  private socket: WebSocket | undefined;
  private began = 0;

  constructor(private readonly app: App) {
    app.wire = { send: (message) => this.socket?.readyState === WebSocket.OPEN && this.socket.send(JSON.stringify(message)) };
    this.connect();
  }

  private connect(): void {
    const address = new URL("live", location.href);
    address.protocol = "ws:";
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => this.message(event.data as string | ArrayBuffer);
    socket.onclose = () => this.app.note("tippe has ended; what has come so far can still be seen");
    this.socket = socket;
  }

  private message(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      this.live?.push(decode(data));
      this.app.received();
      return;
    }
    const message = JSON.parse(data) as { type: string; generation: number; events: RunEvent[] } & Progress;
    if (message.type === "stage" && message.generation !== this.generation) {
      this.generation = message.generation;
      void this.load();
    } else if (message.type === "progress" && this.live) this.app.news(message, message.events);
  }

  async load(): Promise<void> {
    try {
      const answer = await fetch("scene");
      if (!answer.ok) throw new Error(await answer.text());
      const scene = readScene(await answer.text());
      document.querySelector(".trouble")?.remove();
      if (scene.trouble) {
        // while a scene is being written its last picture stays
        if (this.name === "" && scene.runs.length > 0) this.show(scene);
        const seen = this.name !== "";
        const title = seen ? "The scene cannot be run as it stands" : "There is nothing to show";
        trouble(title, scene.trouble, "The page comes back by itself when this is put right.", seen);
        return;
      }
      if (scene.runs.length === 0) return;
      this.show(scene);
    } catch (error) {
      trouble("The run cannot be shown", error instanceof Error ? error.message : String(error), "");
    }
  }

  private show(scene: SceneDocument): void {
    const { app } = this;
    const before = this.live;
    this.live = undefined;
    const name = scene.runs.map((run) => run.name).join("|");
    const keep = name === this.name;
    const wasNewest = app.player.newest;
    this.name = name;
    const failed = (reason: string): void => trouble("The run cannot be read on", reason, "What was read before is still there.");
    const tracks = scene.runs.map((run, k): Track => {
      if (!run.live) return new RecordedTrack(run, `run/${k}`, () => app.touch(), failed);
      this.live = new LiveTrack(run, `run/${k}`, () => app.touch());
      return this.live;
    });
    app.enter(tracks, keep);
    if (this.live) {
      this.began = performance.now();
      app.wire?.send({ type: "ready" });
      return;
    }
    // A run that went by faster than it can be watched is played from its start; one that was watched stays at its end.
    const watched = before !== undefined && (performance.now() - this.began) / 1000 > 0.6 * (before.last - before.first) && before.rows > 20;
    if (watched && wasNewest) app.seek(app.player.last);
    else if (!keep || wasNewest) {
      app.seek(app.player.first);
      app.player.playing = true;
    }
  }
}

const embedded = document.getElementById("scene");
if (embedded) {
  try {
    openEmbedded(embedded);
  } catch (error) {
    trouble("This file is not whole", error instanceof Error ? error.message : String(error), "Export it again with `tippe view RUN --html FILE`.");
  }
} else {
  const app = start(false);
  if (app) new Served(app);
}
