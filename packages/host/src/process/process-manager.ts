import type { Supervisor } from "../observe/supervise.ts";
import type { Platform, ProgramStart } from "../platform/platform.ts";
import { ManagedProcess, type ProcessListener } from "./managed-process.ts";

/**
 * Whose a process is: it never outlives its owner. A connection owns what its client started.
 */
export type ProcessOwner = object;

export interface ProcessManagerPorts {
  readonly platform: Pick<Platform, "spawn" | "timers">;
  readonly supervisor: Supervisor;
}

/** Every process that the host has started and that is not gone. */
export class ProcessManager {
  readonly #ports: ProcessManagerPorts;
  readonly #byOwner = new Map<ProcessOwner, Set<ManagedProcess>>();
  /** Owners that are gone for good: what is still being started for one ends at once. */
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
    const { platform, supervisor } = this.#ports;
    if (this.#closed) throw new Error("the host is ending");
    const running = await platform.spawn(program);
    const managed = new ManagedProcess(running, platform, listener);
    const owned = this.#byOwner.get(owner) ?? new Set();
    this.#byOwner.set(owner, owned.add(managed));
    supervisor.take(
      "a process",
      managed.ended.then(() => {
        owned.delete(managed);
        if (owned.size === 0 && this.#byOwner.get(owner) === owned) this.#byOwner.delete(owner);
      }),
    );
    if (this.#closed) void managed.terminate();
    return managed;
  }

  #of(owner: ProcessOwner): readonly ManagedProcess[] {
    return [...(this.#byOwner.get(owner) ?? [])];
  }

  /** Ends all processes of an owner; resolves when they are gone. */
  async end(owner: ProcessOwner): Promise<void> {
    await Promise.all(this.#of(owner).map((process) => process.terminate()));
  }

  /** Ends every process; none can be started any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#byOwner.keys()].map((owner) => this.end(owner)));
  }
}
