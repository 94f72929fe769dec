import type { Supervisor } from "../observe/supervise.ts";
import type { Platform, ProgramStart } from "../platform/platform.ts";
import { ManagedProcess, type ProcessListener } from "./managed-process.ts";
import type { ProcessMarks } from "./process-marks.ts";

/**
 * The owner of a process: a connection or a thread. Neither a process nor its descendants outlive the owner, in any
 * session.
 */
export type ProcessOwner = object;

export interface ProcessManagerPorts {
  readonly platform: Pick<Platform, "spawn" | "timers" | "markedProcesses">;
  readonly supervisor: Supervisor;
  readonly marks: ProcessMarks;
}

/** Grace period between SIGTERM and SIGKILL. */
const GRACE_MS = 2_000;

/** The processes of one owner. */
interface Owned {
  /** Prefix of the marks of the owner's processes. */
  readonly mark: string;
  readonly starting: Set<Promise<unknown>>;
  readonly running: Set<ManagedProcess>;
  started: number;
  isEnding: boolean;
}

/** Starts and ends all processes of the host. */
export class ProcessManager {
  readonly #ports: ProcessManagerPorts;
  readonly #owners = new WeakMap<ProcessOwner, Owned>();
  /** The owners with a process that runs or is being started. */
  readonly #active = new Set<Owned>();
  #ownersEver = 0;
  #closed = false;

  constructor(ports: ProcessManagerPorts) {
    this.#ports = ports;
  }

  /** Starts a program. Throws Node's error if that fails. */
  async start(
    owner: ProcessOwner,
    program: ProgramStart,
    listener: ProcessListener,
  ): Promise<ManagedProcess> {
    if (this.#closed) throw new Error("the host is ending");
    const owned = this.#owned(owner);
    const starting = this.#start(owned, program, listener);
    owned.starting.add(starting);
    this.#active.add(owned);
    try {
      return await starting;
    } finally {
      owned.starting.delete(starting);
      this.#deactivateIfIdle(owned);
    }
  }

  /** Ends all processes of an owner and their descendants; resolves when they have ended. */
  async end(owner: ProcessOwner): Promise<void> {
    const owned = this.#owners.get(owner);
    if (owned === undefined) return;
    // Processes that the owner starts from now on are not ended by this call.
    this.#owners.delete(owner);
    await this.#endAll(owned);
  }

  /** Ends every process; no further one can be started. */
  async close(): Promise<void> {
    const { platform, marks } = this.#ports;
    this.#closed = true;
    // Waits also for owners that are being ended already.
    await Promise.all([...this.#active].map((owned) => this.#endAll(owned)));
    if (marks.isUsed) await platform.markedProcesses.end([marks.host]);
    await marks.close();
  }

  async #endAll(owned: Owned): Promise<void> {
    owned.isEnding = true;
    // A start in progress fails if it has not spawned its program yet. Otherwise the program is ended below.
    await Promise.allSettled(owned.starting);
    const { markedProcesses } = this.#ports.platform;
    const running = [...owned.running];
    await this.#askToEnd(running);
    for (const process of running) process.kill();
    await markedProcesses.end([owned.mark]);
    await Promise.all(running.map(({ ended }) => ended));
  }

  async #start(owned: Owned, program: ProgramStart, listener: ProcessListener): Promise<ManagedProcess> {
    const { platform, supervisor, marks } = this.#ports;
    await marks.ready();
    if (owned.isEnding) throw new Error("it was ended before it started");
    const mark = `${owned.mark}${++owned.started}.`;
    const running = await platform.spawn({ ...program, env: { ...program.env, ...marks.variable(mark) } });
    const managed = new ManagedProcess(running, {
      timers: platform.timers,
      listener,
      mark,
      askToEnd: (process) => this.#askToEnd([process]),
      endDescendants: () => platform.markedProcesses.end([mark]),
    });
    owned.running.add(managed);
    supervisor.take(
      "a process",
      managed.ended.then(() => {
        owned.running.delete(managed);
        this.#deactivateIfIdle(owned);
      }),
    );
    return managed;
  }

  /** Sends SIGTERM; resolves when the processes have ended, or after the grace period. */
  async #askToEnd(processes: readonly ManagedProcess[]): Promise<void> {
    if (processes.length === 0) return;
    const { timers, markedProcesses } = this.#ports.platform;
    let endGrace = (): void => {};
    const grace = new Promise<void>((resolve) => {
      endGrace = resolve;
    });
    const cancel = timers.after(GRACE_MS, endGrace);
    // SIGTERM is sent only once: a program may start others that clean up, and these must not get it.
    const notSignalled = processes.filter((process) => process.setGrace(grace)).map(({ mark }) => mark);
    const anySignalled =
      (notSignalled.length > 0 && (await markedProcesses.ask(notSignalled))) ||
      notSignalled.length < processes.length;
    if (anySignalled) await Promise.race([grace, Promise.all(processes.map(({ ended }) => ended))]);
    cancel();
    endGrace();
  }

  #owned(owner: ProcessOwner): Owned {
    const known = this.#owners.get(owner);
    if (known !== undefined) return known;
    const mark = `${this.#ports.marks.host}.${++this.#ownersEver}.`;
    const owned = {
      mark,
      starting: new Set<Promise<unknown>>(),
      running: new Set<ManagedProcess>(),
      started: 0,
      isEnding: false,
    };
    this.#owners.set(owner, owned);
    return owned;
  }

  #deactivateIfIdle(owned: Owned): void {
    if (owned.starting.size === 0 && owned.running.size === 0) this.#active.delete(owned);
  }
}
