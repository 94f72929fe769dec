import type { Clock, Timers } from "./platform.ts";

/** How long steps run in one turn of the event loop before they wait for the next one. */
const SLICE_MS = 8;
/** And while others wait that go first. */
const SHORT_SLICE_MS = 3;
/** Steps that begin at once: what they lead to comes later in the same turn, and is not known yet. */
const AT_ONCE = 8;
/** How many more begin in a turn of the loop than in the one before, and when they become fewer instead. */
const MORE = 8;
const LEAST = 8;
const MOST = 256;
const LONG_TURN_MS = 32;
/** How many microtasks a step gets before the next one begins: most have done their work by then. */
const MICROTASKS = 16;

type Step = () => void;

/**
 * Shares the event loop among steps that may come in crowds. A few begin at once. The others wait, and each turn of the
 * loop takes some of them for a few milliseconds, one of each owner in rotation: whoever has thousands of steps waits
 * for them, and others hardly do. Steps of one owner begin in the order in which they came. What steps lead to may take
 * longer than they do, and comes later: when the turns of the loop get long, fewer steps begin in each.
 */
export class Slices<Owner> {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #first: Slices<unknown> | undefined;
  /** By owner, the next one first. */
  readonly #waiting = new Map<Owner, Step[]>();
  /** Of this turn of the loop: when its first step began, and how many did at once. */
  #began = 0;
  #begun = 0;
  #armed = false;
  /** How many may begin in a turn of the loop while steps wait, and when the turn before began; undefined: none waited. */
  #quota = AT_ONCE;
  #before: number | undefined;

  /** `first`: while steps of these wait, only a few of ours run. */
  constructor(
    { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
    first?: Slices<unknown>,
  ) {
    this.#clock = clock;
    this.#timers = timers;
    this.#first = first;
  }

  /** Steps wait. */
  get crowded(): boolean {
    return this.#waiting.size > 0;
  }

  /** Runs a step, now or in its turn. */
  run(owner: Owner, step: Step): void {
    if (this.#hasRoom(owner)) return step();
    const steps = this.#waiting.get(owner);
    if (steps === undefined) this.#waiting.set(owner, [step]);
    else steps.push(step);
    this.#arm();
  }

  /** Resolves when it is the owner's turn; undefined: that is now. */
  turn(owner: Owner): Promise<void> | undefined {
    return this.#hasRoom(owner) ? undefined : new Promise((resolve) => this.run(owner, resolve));
  }

  #hasRoom(owner: Owner): boolean {
    if (this.#waiting.has(owner)) return false;
    if (this.#begun === 0) this.#began = this.#clock.monotonic();
    else if (this.#begun >= AT_ONCE || this.#isOver(this.#began)) return false;
    this.#begun++;
    this.#arm();
    return true;
  }

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    this.#timers.soon(() => {
      this.#armed = false;
      this.#begun = 0;
      if (this.#waiting.size > 0) void this.#release();
      else this.#before = undefined;
    });
  }

  async #release(): Promise<void> {
    const began = this.#clock.monotonic();
    const isLong = this.#before !== undefined && began - this.#before >= LONG_TURN_MS;
    this.#quota = isLong ? Math.max(LEAST, this.#quota >> 1) : Math.min(MOST, this.#quota + MORE);
    this.#before = began;
    // Those that come meanwhile wait for the next turn of the loop.
    this.#begun = AT_ONCE;
    this.#arm();
    for (let left = this.#quota; left > 0 && this.#waiting.size > 0; left--) {
      this.#next()();
      for (let tasks = MICROTASKS; tasks > 0; tasks--) await Promise.resolve();
      if (this.#isOver(began)) return;
    }
  }

  #isOver(began: number): boolean {
    return this.#clock.monotonic() - began >= (this.#first?.crowded ? SHORT_SLICE_MS : SLICE_MS);
  }

  #next(): Step {
    const [owner, steps] = this.#waiting.entries().next().value!;
    this.#waiting.delete(owner);
    const step = steps.shift()!;
    if (steps.length > 0) this.#waiting.set(owner, steps);
    return step;
  }
}
