import type { Random } from "./random.ts";

/** The owner of tasks and timers. When it dies, they are dropped. */
export interface Owner {
  readonly name: string;
  readonly alive: boolean;
}

interface Task {
  readonly owner: Owner | undefined;
  readonly label: string;
  readonly run: () => void;
}

interface Source {
  readonly name: string;
  /**
   * How often the source is picked, relative to the others. Some sources are slow and some fast, different for each
   * seed.
   */
  readonly weight: number;
  tasks: Task[];
}

interface Timer extends Task {
  readonly due: number;
}

interface Countdown {
  left: number;
  readonly label: string;
  readonly run: () => void;
}

/** The label of deliveries on a connection. The reader's own label says more. */
export const DELIVERY = "delivery";
const TRACE_LENGTH = 40;
const EPOCH_MS = Date.UTC(2030, 0, 1);
/** Virtual milliseconds that a step takes; each seed uses one of them. With slow steps, deadlines win races. */
const PACES = [0, 0, 0.05, 5, 250] as const;

/**
 * Decides what happens next. Everything that can happen is a task of a source (one end of a connection, a file, a
 * model's stream). Sources are picked at random; tasks of one source keep their order. Time advances a little with
 * every step, and jumps to the next timer when nothing else is left to do.
 */
export class Scheduler {
  readonly random: Random;
  readonly #sources = new Map<string, Source>();
  #ready: Source[] = [];
  #timers: Timer[] = [];
  #countdowns: Countdown[] = [];
  #quiet: { readonly ms: number; readonly resolve: () => void }[] = [];
  readonly #waits = new Map<symbol, string>();
  readonly #trace: string[] = [];
  /** Virtual milliseconds that a step takes on average; with 0, only timers move the clock. */
  pace: number;
  #elapsed = 0;
  #steps = 0;
  #hash = 0;
  /** The offset of the wall clock. A scenario may change it, also backwards. */
  skew = 0;

  constructor(random: Random) {
    this.random = random;
    this.pace = random.pick(PACES);
  }

  /** Virtual milliseconds since the run began. */
  get elapsed(): number {
    return this.#elapsed;
  }

  get wallClock(): number {
    return Math.floor(EPOCH_MS + this.#elapsed + this.skew);
  }

  get steps(): number {
    return this.#steps;
  }

  /** The last events, for people. */
  get trace(): readonly string[] {
    return this.#trace.slice(-TRACE_LENGTH);
  }

  /** Equal for runs that took the same course. */
  get fingerprint(): string {
    return `${this.#steps}:${this.#hash >>> 0}`;
  }

  /** `run` happens after everything that `source` has posted before, and in any order relative to other sources. */
  post(source: string, label: string, run: () => void, owner?: Owner): void {
    if (owner?.alive === false) return;
    let found = this.#sources.get(source);
    if (found === undefined) {
      found = { name: source, weight: 0.02 + this.random.fraction() ** 3, tasks: [] };
      this.#sources.set(source, found);
    }
    if (found.tasks.length === 0) this.#ready.push(found);
    found.tasks.push({ owner, label, run });
  }

  /** The returned function cancels the timer, even if it is already due and waits to run. */
  after(ms: number, source: string, label: string, run: () => void, owner?: Owner): () => void {
    if (owner?.alive === false) return () => {};
    let cancelled = false;
    const timer: Timer = {
      owner,
      label,
      due: this.#elapsed + Math.max(ms, 0),
      run: () => {
        const due = () => {
          if (!cancelled) run();
        };
        this.post(source, label, due, owner);
      },
    };
    const at = this.#timers.findIndex((other) => other.due > timer.due);
    if (at === -1) this.#timers.push(timer);
    else this.#timers.splice(at, 0, timer);
    return () => {
      cancelled = true;
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Runs between two steps, `steps` from now. Used for crashes and cuts. */
  inSteps(steps: number, label: string, run: () => void): void {
    this.#countdowns.push({ left: steps, label, run });
  }

  /** Resolves when nothing is ready and no timer is due within `ms`. */
  quiet(ms = 0): Promise<void> {
    return new Promise((resolve) => this.#quiet.push({ ms, resolve }));
  }

  /** Names what is waited for while `promise` is pending. Reported when the run hangs. */
  async waitFor<T>(what: string, promise: Promise<T>): Promise<T> {
    const key = Symbol(what);
    this.#waits.set(key, what);
    try {
      return await promise;
    } finally {
      this.#waits.delete(key);
    }
  }

  /** Performs one task. Returns false if nothing is left that could happen by itself. */
  step(): boolean {
    if (this.#countDown()) return true;
    if (this.#ready.length === 0 && !this.#wakeQuiet() && !this.#jump()) return this.#hurryCountdown();
    this.#steps++;
    this.#elapsed += this.pace * this.random.fraction() * 2;
    this.#fireDue();
    if (this.#ready.length === 0) return true;
    const source = this.#pickSource();
    const task = source.tasks.shift()!;
    if (source.tasks.length === 0) this.#ready = this.#ready.filter((other) => other !== source);
    if (task.label !== DELIVERY) this.note(source.name, task.label);
    task.run();
    return true;
  }

  /** Drops the tasks and timers of a dead owner. */
  drop(owner: Owner): void {
    this.#timers = this.#timers.filter((timer) => timer.owner !== owner);
    for (const source of this.#ready) source.tasks = source.tasks.filter((task) => task.owner !== owner);
    this.#ready = this.#ready.filter((source) => source.tasks.length > 0);
  }

  /** The remaining tasks of an owner. */
  left(owner: Owner): readonly string[] {
    const tasks = this.#ready.flatMap(({ name, tasks }) => tasks.map((task) => ({ name, ...task })));
    return [
      ...tasks.filter((task) => task.owner === owner).map(({ name, label }) => `${name}: ${label}`),
      ...this.#timers.filter((timer) => timer.owner === owner).map(({ label }) => `timer: ${label}`),
    ];
  }

  /** What the run waits for. */
  get waiting(): readonly string[] {
    return [...this.#waits.values()];
  }

  note(source: string, label: string): void {
    if (this.#trace.length >= TRACE_LENGTH * 4) this.#trace.splice(0, TRACE_LENGTH * 3);
    const line = `#${this.#steps} +${Math.round(this.#elapsed)}ms ${source}: ${label}`;
    this.#trace.push(line);
    for (let at = 0; at < line.length; at++)
      this.#hash = Math.imul(this.#hash ^ line.charCodeAt(at), 16777619);
  }

  #pickSource(): Source {
    let total = 0;
    for (const source of this.#ready) total += source.weight;
    let at = this.random.fraction() * total;
    for (const source of this.#ready) {
      at -= source.weight;
      if (at < 0) return source;
    }
    return this.#ready.at(-1)!;
  }

  #countDown(): boolean {
    const over = this.#countdowns.filter((countdown) => countdown.left-- <= 0);
    this.#countdowns = this.#countdowns.filter((countdown) => !over.includes(countdown));
    for (const { label, run } of over) {
      this.note("fate", label);
      run();
    }
    return over.length > 0;
  }

  /** If nothing is left to do, the countdowns end now. */
  #hurryCountdown(): boolean {
    const [next] = this.#countdowns.sort((one, other) => one.left - other.left);
    if (next !== undefined) next.left = 0;
    return next !== undefined;
  }

  #wakeQuiet(): boolean {
    const nextDue = this.#timers[0]?.due ?? Number.POSITIVE_INFINITY;
    const quiet = this.#quiet.filter(({ ms }) => nextDue > this.#elapsed + ms);
    this.#quiet = this.#quiet.filter((waiter) => !quiet.includes(waiter));
    for (const { resolve } of quiet) resolve();
    return quiet.length > 0;
  }

  #jump(): boolean {
    const next = this.#timers[0];
    if (next === undefined) return false;
    this.#elapsed = Math.max(this.#elapsed, next.due);
    return true;
  }

  #fireDue(): void {
    while (this.#timers.length > 0 && this.#timers[0]!.due <= this.#elapsed) this.#timers.shift()!.run();
  }
}
