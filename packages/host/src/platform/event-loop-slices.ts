import type { Clock, Timers } from "./platform.ts";

/** How long steps may run in one turn of the event loop before the rest waits for the next turn. */
const SLICE_MS = 8;
/** Like `SLICE_MS`, while steps of `first`, which have priority, are waiting. */
const SHORT_SLICE_MS = 3;
/** Steps that start immediately per turn. Kept small, because the work that they cause later in the turn is unknown. */
const IMMEDIATE = 8;
/**
 * The quota of steps per turn grows by `MORE` up to `MOST`, and is halved down to `LEAST` after a turn longer than
 * `LONG_TURN_MS`.
 */
const MORE = 8;
const LEAST = 8;
const MOST = 256;
const LONG_TURN_MS = 32;
/** The number of microtasks that run after a step before the next step starts. Most steps are done by then. */
const MICROTASKS = 16;

type Step = () => void;

/**
 * Divides the event loop fairly among owners that may have large numbers of steps. A few steps start immediately. The
 * others wait, and each turn of the loop runs some of them for a few milliseconds, one per owner in rotation. So an
 * owner with thousands of steps delays itself, and hardly the others. Steps of one owner start in order. The work
 * that a step causes may come later and take longer than the step; when turns get long, fewer steps start per turn.
 */
export class Slices<Owner> {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #first: Slices<unknown> | undefined;
  /** Waiting steps by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<Owner, Step[]>();
  /**
   * `#turnStart`: when the first step of the current turn started. `#immediateCount`: how many steps of this turn
   * started immediately.
   */
  #turnStart = 0;
  #immediateCount = 0;
  #armed = false;
  /**
   * `#quota`: how many waiting steps may start per turn. `#previousTurnStart`: when the previous turn with waiting
   * steps began; undefined if none waited.
   */
  #quota = IMMEDIATE;
  #previousTurnStart: number | undefined;

  /** `first`: slices with priority. While steps wait there, the steps of this object run for a shorter time. */
  constructor(
    { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
    first?: Slices<unknown>,
  ) {
    this.#clock = clock;
    this.#timers = timers;
    this.#first = first;
  }

  /** Whether steps wait for a later turn of the event loop. */
  get hasWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Runs a step immediately, or later in its owner's turn. */
  run(owner: Owner, step: Step): void {
    if (this.#hasRoom(owner)) return step();
    const steps = this.#waiting.get(owner);
    if (steps === undefined) this.#waiting.set(owner, [step]);
    else steps.push(step);
    this.#arm();
  }

  /** Resolves when it is the owner's turn; undefined if it is the owner's turn now. */
  turn(owner: Owner): Promise<void> | undefined {
    return this.#hasRoom(owner) ? undefined : new Promise((resolve) => this.run(owner, resolve));
  }

  #hasRoom(owner: Owner): boolean {
    if (this.#waiting.has(owner)) return false;
    if (this.#immediateCount === 0) this.#turnStart = this.#clock.monotonic();
    else if (this.#immediateCount >= IMMEDIATE || this.#isOver(this.#turnStart)) return false;
    this.#immediateCount++;
    this.#arm();
    return true;
  }

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    this.#timers.soon(() => {
      this.#armed = false;
      this.#immediateCount = 0;
      if (this.#waiting.size > 0) void this.#release();
      else this.#previousTurnStart = undefined;
    });
  }

  async #release(): Promise<void> {
    const began = this.#clock.monotonic();
    const isLong = this.#previousTurnStart !== undefined && began - this.#previousTurnStart >= LONG_TURN_MS;
    this.#quota = isLong ? Math.max(LEAST, this.#quota >> 1) : Math.min(MOST, this.#quota + MORE);
    this.#previousTurnStart = began;
    // Steps that arrive during this release wait for the next turn.
    this.#immediateCount = IMMEDIATE;
    this.#arm();
    for (let left = this.#quota; left > 0 && this.#waiting.size > 0; left--) {
      this.#start(this.#next());
      for (let tasks = MICROTASKS; tasks > 0; tasks--) await Promise.resolve();
      if (this.#isOver(began)) return;
    }
  }

  /** An error of a step becomes an error of a timer, which the host logs. The other steps still run. */
  #start(step: Step): void {
    try {
      step();
    } catch (cause) {
      this.#timers.soon(() => {
        throw cause;
      });
    }
  }

  #isOver(began: number): boolean {
    return this.#clock.monotonic() - began >= (this.#first?.hasWaiting ? SHORT_SLICE_MS : SLICE_MS);
  }

  #next(): Step {
    const [owner, steps] = this.#waiting.entries().next().value!;
    this.#waiting.delete(owner);
    const step = steps.shift()!;
    if (steps.length > 0) this.#waiting.set(owner, steps);
    return step;
  }
}
