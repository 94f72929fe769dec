/**
 * Everything that the host takes from the world, in one place: a whole host runs on fakes of it in the
 * simulation. Areas that need more (files, fetch, processes) get their port here when they need it.
 */
export interface Platform {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  readonly files: Files;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that only ever grow; for durations. */
  monotonic(): number;
}

export interface Timers {
  /** Runs once after `ms`; the returned function cancels. Never keeps the process alive. */
  after(ms: number, run: () => void): Cancel;
  /** Runs once when the current tick's input has been handled. */
  soon(run: () => void): void;
}

export type Cancel = () => void;

export interface Files {
  /** The whole file, or undefined if there is none. */
  readText(path: string): Promise<string | undefined>;
}

export interface Ids {
  /** UUIDv7: sortable by time of creation. */
  uuid(): string;
  /** A random safe integer above zero; for server requests. */
  integer(): number;
}
