import type { Supervisor } from "../observe/supervise.ts";
import type { Platform, ProgramStart } from "../platform/platform.ts";
import { ManagedProcess, type ProcessListener } from "./managed-process.ts";
import type { ProcessMarks } from "./process-marks.ts";

/**
 * Whose a process is: a connection, a thread. No process outlives its owner, nor does anything that it started, in whichever
 * session.
 */
export type ProcessOwner = object;

export interface ProcessManagerPorts {
  readonly platform: Pick<Platform, "spawn" | "timers" | "markedProcesses">;
  readonly supervisor: Supervisor;
  readonly marks: ProcessMarks;
}

/** How long processes that were asked to end may take. */
const GRACE_MS = 500;

/** What an owner has started. */
interface Owned {
  /** Begins the mark of each of its processes. */
  readonly mark: string;
  readonly starting: Set<Promise<unknown>>;
  readonly running: Set<ManagedProcess>;
  started: number;
}

/** Every process that the host has started and that is not gone. */
export class ProcessManager {
  readonly #ports: ProcessManagerPorts;
  readonly #owners = new WeakMap<ProcessOwner, Owned>();
  /** Those with a process that runs or is being started. */
  readonly #active = new Map<ProcessOwner, Owned>();
  #ownersEver = 0;
  #closed = false;

  constructor(ports: ProcessManagerPorts) {
    this.#ports = ports;
  }

  /** Throws Node's error where the program cannot be started. */
  async start(
    owner: ProcessOwner,
    program: ProgramStart,
    listener: ProcessListener,
  ): Promise<ManagedProcess> {
    if (this.#closed) throw new Error("the host is ending");
    const owned = this.#owned(owner);
    const starting = this.#start(owner, owned, program, listener);
    owned.starting.add(starting);
    this.#active.set(owner, owned);
    try {
      return await starting;
    } finally {
      owned.starting.delete(starting);
      this.#rest(owner, owned);
    }
  }

  /** Ends all processes of an owner, and what they left running; resolves when they are gone. */
  async end(owner: ProcessOwner): Promise<void> {
    const owned = this.#owners.get(owner);
    if (owned === undefined) return;
    // What is being started finds that its owner is gone.
    this.#owners.delete(owner);
    await Promise.allSettled(owned.starting);
    const { markedProcesses } = this.#ports.platform;
    const running = [...owned.running];
    await this.#askToEnd(running);
    for (const process of running) process.kill();
    await markedProcesses.end([owned.mark]);
    await Promise.all(running.map(({ ended }) => ended));
  }

  /** Ends every process; none can be started any more. */
  async close(): Promise<void> {
    const { platform, marks } = this.#ports;
    this.#closed = true;
    await Promise.all([...this.#active.keys()].map((owner) => this.end(owner)));
    if (marks.isUsed) await platform.markedProcesses.end([marks.host]);
    await marks.close();
  }

  async #start(
    owner: ProcessOwner,
    owned: Owned,
    program: ProgramStart,
    listener: ProcessListener,
  ): Promise<ManagedProcess> {
    const { platform, supervisor, marks } = this.#ports;
    await marks.ready();
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
        this.#rest(owner, owned);
      }),
    );
    return managed;
  }

  /** Asks processes to end; resolves when they have, or when they have had a moment for it. */
  async #askToEnd(processes: readonly ManagedProcess[]): Promise<void> {
    if (processes.length === 0) return;
    const { timers, markedProcesses } = this.#ports.platform;
    let over = (): void => {};
    const grace = new Promise<void>((resolve) => {
      over = resolve;
    });
    const cancel = timers.after(GRACE_MS, over);
    // A program that tidies up may start others for it, which are not to be asked.
    const unasked = processes.filter((process) => process.leaveTime(grace)).map(({ mark }) => mark);
    const areAsked =
      (unasked.length > 0 && (await markedProcesses.ask(unasked))) || unasked.length < processes.length;
    if (areAsked) await Promise.race([grace, Promise.all(processes.map(({ ended }) => ended))]);
    cancel();
    over();
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
    };
    this.#owners.set(owner, owned);
    return owned;
  }

  #rest(owner: ProcessOwner, { starting, running }: Owned): void {
    if (starting.size === 0 && running.size === 0) this.#active.delete(owner);
  }
}
