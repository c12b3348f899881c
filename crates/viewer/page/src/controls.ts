// Keys and sticks of a gamepad that set the inputs of a run that is going on.

/** An input as the scene describes it. */
export interface Input {
  name: string;
  start: number;
  low: number;
  high: number;
}

/** Keys of the first inputs: less, more. Held, the input goes to its end; let go, back to its start. */
export const KEYS: [string, string][] = [
  ["ArrowDown", "ArrowUp"],
  ["ArrowLeft", "ArrowRight"],
  ["PageDown", "PageUp"],
  ["Delete", "Insert"],
];

/** Axes of a gamepad in the standard order, by input; up counts as more. */
const AXES: [number, number][] = [[1, -1], [0, 1], [3, -1], [2, 1]];
/** Sticks do not rest at zero exactly. */
const DEAD = 0.12;
/** Changes smaller than this share of the range are not worth a message. */
const FINE = 1 / 500;

/** A share from -1 (low) over 0 (start) to 1 (high) as a value. */
export function valueOf(input: Input, share: number): number {
  return share < 0 ? input.start + share * (input.start - input.low) : input.start + share * (input.high - input.start);
}

export class Controls {
  inputs: Input[] = [];
  private readonly held = new Set<string>();
  private sent: number[] = [];
  private driven: boolean[] = [];

  constructor(private readonly set: (input: number, value: number) => void) {}

  enter(inputs: Input[]): void {
    this.inputs = inputs;
    this.held.clear();
    this.sent = inputs.map((input) => input.start);
    this.driven = inputs.map(() => false);
  }

  /** A key goes down or up; true if it is one of ours. */
  key(name: string, down: boolean): boolean {
    const k = KEYS.findIndex((pair) => pair.includes(name));
    if (k < 0 || k >= this.inputs.length) return false;
    if (down) this.held.add(name);
    else this.held.delete(name);
    this.drive();
    return true;
  }

  /** The window lost the keyboard: nothing is held any more. */
  release(): void {
    this.held.clear();
    this.drive();
  }

  /** Looks at keys and sticks, and sets what changed. */
  drive(): void {
    if (this.inputs.length === 0) return;
    const pad = navigator.getGamepads?.().find((one) => one?.connected);
    this.inputs.forEach((input, k) => {
      const [less, more] = KEYS[k] ?? ["", ""];
      let share = (this.held.has(more) ? 1 : 0) - (this.held.has(less) ? 1 : 0);
      const axis = AXES[k];
      const stick = pad && axis ? axis[1] * (pad.axes[axis[0]] ?? 0) : 0;
      if (share === 0 && Math.abs(stick) > DEAD) share = (Math.sign(stick) * (Math.abs(stick) - DEAD)) / (1 - DEAD);
      // Sliders rule where neither key nor stick is moved.
      if (share === 0 && !this.driven[k]) return;
      this.driven[k] = share !== 0;
      const value = valueOf(input, Math.max(-1, Math.min(1, share)));
      if (Math.abs(value - this.sent[k]) <= FINE * (input.high - input.low) && share !== 0) return;
      this.sent[k] = value;
      this.set(k, value);
    });
  }
}
