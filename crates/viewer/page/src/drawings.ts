// Surfaces by equations, and water: grids whose corners are worked out anew for every view.

import * as THREE from "three";
import { type Actors, viridis } from "./actors";
import { format, h } from "./dom";
import type { Drawing, RunDocument, Water } from "./protocol";
import type { View } from "./track";

/** Squares along each side of a surface of water. */
const SQUARES = 96;
/** Water reaches so far around the scene, in its sizes. */
const AROUND = 1.5;

/** The operations of a program, as Rust names them. */
const OPERATIONS: Record<string, (a: number, b: number, c: number) => number> = {
  Add: (a, b) => a + b,
  Sub: (a, b) => a - b,
  Mul: (a, b) => a * b,
  Div: (a, b) => a / b,
  Neg: (a) => -a,
  Pow: (a, b) => a ** b,
  ThreeHalves: (a) => a * Math.sqrt(a),
  Sqrt: Math.sqrt,
  Abs: Math.abs,
  Sign: Math.sign,
  Min: Math.min,
  Max: Math.max,
  Floor: Math.floor,
  Ceil: Math.ceil,
  Mod: (a, b) => a - b * Math.floor(a / b),
  Hypot: (a, b) => Math.hypot(a, b),
  Sin: Math.sin,
  Cos: Math.cos,
  Tan: Math.tan,
  Asin: Math.asin,
  Acos: Math.acos,
  Atan: Math.atan,
  Atan2: Math.atan2,
  Exp: Math.exp,
  Log: Math.log,
  Tanh: Math.tanh,
  Less: (a, b) => Number(a < b),
  LessEqual: (a, b) => Number(a <= b),
  Equal: (a, b) => Number(a === b),
  NotEqual: (a, b) => Number(a !== b),
  And: (a, b) => Number(a !== 0 && b !== 0),
  Or: (a, b) => Number(a !== 0 || b !== 0),
  Not: (a) => Number(a === 0),
  If: (a, b, c) => (a !== 0 ? b : c),
};

/** A program ready to run. */
class Program {
  private registers: Float64Array;
  private steps: { operation: (a: number, b: number, c: number) => number; arguments: [number, number, number] }[];
  private first: number;

  constructor(private drawing: Drawing) {
    const inputs = 3 + drawing.reads.length;
    this.first = inputs + drawing.constants.length;
    this.registers = new Float64Array(this.first + drawing.code.length);
    this.registers.set(drawing.constants, inputs);
    this.steps = drawing.code.map(([name, args]) => ({ operation: OPERATIONS[name], arguments: args }));
  }

  /** Time and signals for the evaluations that follow. */
  at(time: number, signals: number[]): void {
    this.registers[2] = time;
    this.registers.set(signals, 3);
  }

  evaluate(u: number, v: number, out: number[]): void {
    const r = this.registers;
    r[0] = u;
    r[1] = v;
    for (let k = 0; k < this.steps.length; k++) {
      const { operation, arguments: args } = this.steps[k];
      r[this.first + k] = operation(r[args[0]], r[args[1]], r[args[2]]);
    }
    this.drawing.outputs.forEach((register, i) => (out[i] = r[register]));
  }
}

/** A grid of n by m squares, each of two triangles; `apart` gives every triangle corners of its own. */
class Grid {
  readonly mesh: THREE.Mesh<THREE.BufferGeometry, THREE.MeshStandardMaterial>;
  /** Corners of triangles: which place of the grid each is. */
  readonly corners: Uint32Array;
  readonly positions: Float32Array;
  readonly colours: Float32Array;

  constructor(readonly n: number, readonly m: number, readonly apart: boolean, material: THREE.MeshStandardMaterial) {
    const faces: number[] = [];
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < m; j++) {
        const a = i * (m + 1) + j;
        faces.push(a, a + m + 1, a + m + 2, a, a + m + 2, a + 1);
      }
    }
    this.corners = new Uint32Array(faces);
    const count = apart ? faces.length : (n + 1) * (m + 1);
    const geometry = new THREE.BufferGeometry();
    this.positions = new Float32Array(3 * count);
    this.colours = new Float32Array(3 * count).fill(1);
    geometry.setAttribute("position", new THREE.BufferAttribute(this.positions, 3).setUsage(THREE.DynamicDrawUsage));
    geometry.setAttribute("color", new THREE.BufferAttribute(this.colours, 3).setUsage(THREE.DynamicDrawUsage));
    if (!apart) geometry.setIndex(faces);
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  /** Puts a place of every corner and its colour. */
  fill(places: Float32Array, colour: (place: number, triangle: number, out: THREE.Color) => void, coloured: boolean): void {
    const rgb = new THREE.Color();
    const count = this.positions.length / 3;
    for (let k = 0; k < count; k++) {
      const place = this.apart ? this.corners[k] : k;
      this.positions.set(places.subarray(3 * place, 3 * place + 3), 3 * k);
      if (!coloured) continue;
      colour(place, Math.floor(k / 3), rgb);
      rgb.toArray(this.colours, 3 * k);
    }
    const { position, color } = this.mesh.geometry.attributes as Record<string, THREE.BufferAttribute>;
    position.needsUpdate = true;
    color.needsUpdate = coloured;
    this.mesh.geometry.computeVertexNormals();
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.mesh.removeFromParent();
  }
}

function material(opacity: number): THREE.MeshStandardMaterial {
  const transparent = opacity < 1;
  return new THREE.MeshStandardMaterial({ vertexColors: true, side: THREE.DoubleSide, roughness: 0.6, transparent, opacity, depthWrite: !transparent });
}

export class Drawings {
  readonly root = new THREE.Group();
  private drawn: { drawing: Drawing; program: Program; grid: Grid }[] = [];
  private waters: { water: Water; grid: Grid }[] = [];

  enter(document: RunDocument): void {
    for (const { grid } of [...this.drawn, ...this.waters]) grid.dispose();
    this.drawn = (document.drawings ?? []).map((drawing) => {
      const grid = new Grid(drawing.grid[0], drawing.grid[1], drawing.coloured === "triangle", material(drawing.opacity));
      grid.mesh.matrixAutoUpdate = false;
      return { drawing, program: new Program(drawing), grid };
    });
    this.waters = (document.waters ?? []).map((water) => {
      const squares = water.waves.length > 0 ? SQUARES : 1;
      const surface = material(0.45);
      surface.color.set("#3b82c4");
      surface.roughness = 0.15;
      return { water, grid: new Grid(squares, squares, false, surface) };
    });
    for (const { grid } of [...this.drawn, ...this.waters]) this.root.add(grid.mesh);
  }

  /** As they are in a view of a scene of this size around this centre. */
  place(view: View, actors: Actors, centre: THREE.Vector3, size: number): void {
    const between = (of: (ref: View["a"]) => number): number => {
      const a = of(view.a);
      return view.w > 0 ? a + view.w * (of(view.b) - a) : a;
    };
    const time = between(({ block, row }) => block.time[row]);
    for (const { drawing, program, grid } of this.drawn) {
      program.at(time, drawing.reads.map((k) => between(({ block, row }) => block.signals[row * block.signalCount + k])));
      grid.mesh.matrix.copy(actors.frame(drawing.on));
      draw(drawing, program, grid);
    }
    for (const { water, grid } of this.waters) wave(water, grid, centre, AROUND * size, time);
  }

  /** What the colours mean. */
  legend(): HTMLElement[] {
    return this.drawn
      .filter(({ drawing }) => drawing.coloured)
      .map(({ drawing: { name, range } }) => h("div", { class: "scale" }, `${name} `, h("span", {}, format(range[0], 3)), h("span", { class: "viridis" }), h("span", {}, format(range[1], 3))));
  }
}

/** The corners of a drawing, and its colours. */
function draw(drawing: Drawing, program: Program, grid: Grid): void {
  const { n, m } = grid;
  const [[u0, u1], [v0, v1]] = drawing.ranges;
  const [places, values, out] = [new Float32Array(3 * (n + 1) * (m + 1)), new Float64Array((n + 1) * (m + 1)), [0, 0, 0, 0]];
  const at = (i: number, j: number): void => program.evaluate(u0 + (u1 - u0) * (i / n), v0 + (v1 - v0) * (j / m), out);
  for (let i = 0; i <= n; i++) {
    for (let j = 0; j <= m; j++) {
      const k = i * (m + 1) + j;
      at(i, j);
      places.set(out.slice(0, 3), 3 * k);
      values[k] = out[3];
    }
  }
  const [low, high] = drawing.range;
  const paint = (value: number, rgb: THREE.Color): void => {
    if (Number.isFinite(value)) viridis(Math.max(0, Math.min(1, (value - low) / (high - low))), rgb);
    else rgb.setRGB(0.5, 0.5, 0.5);
  };
  if (drawing.coloured === "triangle") {
    // its number is that in the middle
    const third = (triangle: number, rgb: THREE.Color): void => {
      const square = Math.floor(triangle / 2);
      const [i, j] = [Math.floor(square / m), square % m];
      const [di, dj] = triangle % 2 === 0 ? [2 / 3, 1 / 3] : [1 / 3, 2 / 3];
      at(i + di, j + dj);
      paint(out[3], rgb);
    };
    return grid.fill(places, (_, triangle, rgb) => third(triangle, rgb), true);
  }
  at(n / 2, m / 2);
  const middle = out[3];
  grid.fill(
    places,
    (place, _, rgb) => {
      if (drawing.coloured) paint(drawing.coloured === "shape" ? middle : values[place], rgb);
      else rgb.setRGB(...drawing.colour, THREE.SRGBColorSpace);
    },
    true,
  );
}

/** The surface of water around the scene, at this time. */
function wave(water: Water, grid: Grid, centre: THREE.Vector3, half: number, time: number): void {
  const up = new THREE.Vector3(...water.up);
  const x = Math.abs(up.x) < 0.9 ? new THREE.Vector3(1, 0, 0) : new THREE.Vector3(0, 1, 0);
  x.addScaledVector(up, -up.dot(x)).normalize();
  const y = up.clone().cross(x);
  const middle = centre.clone().addScaledVector(up, water.level - up.dot(centre));
  const { n } = grid;
  const places = new Float32Array(3 * (n + 1) * (n + 1));
  const waves = water.waves.map(({ along, ...rest }) => ({ ...rest, along: new THREE.Vector3(...along) }));
  const point = new THREE.Vector3();
  for (let i = 0; i <= n; i++) {
    for (let j = 0; j <= n; j++) {
      point.copy(middle).addScaledVector(x, half * ((2 * i) / n - 1)).addScaledVector(y, half * ((2 * j) / n - 1));
      const height = waves.reduce((sum, w) => sum + w.amplitude * Math.cos(w.number * w.along.dot(point) - w.omega * time + w.phase), 0);
      point.addScaledVector(up, height).toArray(places, 3 * (i * (n + 1) + j));
    }
  }
  grid.fill(places, () => undefined, false);
}
