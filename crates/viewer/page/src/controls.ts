// Keys and sticks of a gamepad that set the inputs of a run that is going on.

/** An input as the scene describes it. */
export interface Input {
  name: string;
  start: number;
  low: number;
  high: number;
}

/** What moves an input: keys for less and more, an axis of a gamepad in the standard order with its sign, buttons for less and more. */
export interface Binding {
  keys: [string, string];
  axis?: [number, number];
  buttons?: [number, number];
  /** A key or button moves it by one, and it stays: a gear lever. */
  steps?: boolean;
}

/** Of the first inputs, in order; up counts as more. Held, an input goes to its end; let go, back to its start. */
const FIRST: Binding[] = [
  { keys: ["ArrowDown", "ArrowUp"], axis: [1, -1] },
  { keys: ["ArrowLeft", "ArrowRight"], axis: [0, 1] },
  { keys: ["PageDown", "PageUp"], axis: [3, -1] },
  { keys: ["Delete", "Insert"], axis: [2, 1] },
];
/** Of a vehicle, by what its inputs are called: pedals on the triggers, the wheel on a stick, gears on the shoulder buttons. */
const VEHICLE: Record<string, Binding> = {
  throttle: { keys: ["", "ArrowUp"], buttons: [-1, 7] },
  brake: { keys: ["", "ArrowDown"], buttons: [-1, 6] },
  steer: { keys: ["ArrowRight", "ArrowLeft"], axis: [0, -1] },
  gear: { keys: ["PageDown", "PageUp"], buttons: [4, 5], steps: true },
  clutch_pedal: { keys: ["", "Delete"], buttons: [-1, 1] },
  handbrake: { keys: ["", "Insert"], buttons: [-1, 0] },
};

/** The last part of a name. */
const last = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** What moves each of these inputs. With a throttle or a steering wheel the first vehicle is driven, else the first inputs are. */
export function bindings(names: string[]): (Binding | undefined)[] {
  const seat = names.find((name) => name.includes(".") && ["throttle", "steer"].includes(last(name)));
  if (seat === undefined) return names.map((_, k) => FIRST[k]);
  const vehicle = seat.slice(0, seat.lastIndexOf(".") + 1);
  return names.map((name) => (name === vehicle + last(name) ? VEHICLE[last(name)] : undefined));
}

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
  bound: (Binding | undefined)[] = [];
  private readonly held = new Set<string>();
  private readonly pressed = new Set<number>();
  private sent: number[] = [];
  private driven: boolean[] = [];

  constructor(private readonly set: (input: number, value: number) => void) {}

  enter(inputs: Input[]): void {
    this.inputs = inputs;
    this.bound = bindings(inputs.map((input) => input.name));
    this.held.clear();
    this.pressed.clear();
    this.sent = inputs.map((input) => input.start);
    this.driven = inputs.map(() => false);
  }

  /** A key goes down or up; true if it is one of ours. */
  key(name: string, down: boolean): boolean {
    const k = this.bound.findIndex((own) => own?.keys.includes(name));
    const own = this.bound[k];
    if (!own) return false;
    if (own.steps) {
      if (down && !this.held.has(name)) this.step(k, own.keys.indexOf(name) === 1 ? 1 : -1);
    }
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

  /** Which keys move an input, in words. */
  keysOf(k: number): string {
    const keys = this.bound[k]?.keys.filter((key) => key !== "") ?? [];
    return keys.length > 0 ? `keys ${keys.join(", ")}` : "no keys";
  }

  /** An input has a new value, from a slider or from here. */
  moved(k: number, value: number): void {
    this.sent[k] = value;
  }

  private step(k: number, by: number): void {
    const { low, high } = this.inputs[k];
    const value = Math.max(low, Math.min(high, Math.round(this.sent[k]) + by));
    if (value === this.sent[k]) return;
    this.sent[k] = value;
    this.set(k, value);
  }

  /** Looks at keys, sticks and buttons, and sets what changed. */
  drive(): void {
    if (this.inputs.length === 0) return;
    const pad = navigator.getGamepads?.().find((one) => one?.connected);
    this.inputs.forEach((input, k) => {
      const own = this.bound[k];
      if (!own) return;
      if (own.steps) {
        own.buttons?.forEach((button, which) => {
          const down = pad?.buttons[button]?.pressed ?? false;
          if (down && !this.pressed.has(button)) this.step(k, which === 1 ? 1 : -1);
          if (down) this.pressed.add(button);
          else this.pressed.delete(button);
        });
        return;
      }
      const [less, more] = own.keys;
      let share = (this.held.has(more) ? 1 : 0) - (this.held.has(less) ? 1 : 0);
      const [back, forth] = (own.buttons ?? []).map((button) => pad?.buttons[button]?.value ?? 0);
      if (share === 0 && own.buttons) share = forth - back;
      const stick = pad && own.axis ? own.axis[1] * (pad.axes[own.axis[0]] ?? 0) : 0;
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
