import type { ProcessOwner } from "../../process/process-manager.ts";
import type { LiveOutput } from "../tool.ts";
import type { RunningCommand } from "./running-command.ts";

/** A command of the user that is about to be started. */
export type PendingStart = (turnId: string, live: LiveOutput) => Promise<RunningCommand>;

/** The commands of all threads that run in this host, by thread and item. */
export class ThreadCommands {
  readonly #running = new Map<string, Map<string, RunningCommand>>();
  readonly #pending = new Map<string, PendingStart>();
  readonly #owners = new Map<string, ProcessOwner>();

  /** Who owns a thread's processes, and what they left running: all of it ends with the thread's load. */
  owner(threadId: string): ProcessOwner {
    const owner = this.#owners.get(threadId) ?? { threadId };
    this.#owners.set(threadId, owner);
    return owner;
  }

  /** The owner of a thread that is unloaded, if it ever had processes. */
  takeOwner(threadId: string): ProcessOwner | undefined {
    const owner = this.#owners.get(threadId);
    this.#owners.delete(threadId);
    return owner;
  }

  get(threadId: string, itemId: string): RunningCommand | undefined {
    return this.#running.get(threadId)?.get(itemId);
  }

  count(threadId: string): number {
    return this.#running.get(threadId)?.size ?? 0;
  }

  add(threadId: string, itemId: string, command: RunningCommand): void {
    const all = this.#running.get(threadId) ?? new Map();
    this.#running.set(threadId, all.set(itemId, command));
  }

  delete(threadId: string, itemId: string): void {
    const all = this.#running.get(threadId);
    all?.delete(itemId);
    if (all?.size === 0) this.#running.delete(threadId);
  }

  /** What is to be started once it is durable that it runs. */
  prepare(itemId: string, start: PendingStart): void {
    this.#pending.set(itemId, start);
  }

  takePrepared(itemId: string): PendingStart | undefined {
    const start = this.#pending.get(itemId);
    this.#pending.delete(itemId);
    return start;
  }
}
