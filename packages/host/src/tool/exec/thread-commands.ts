import type { ProcessOwner } from "../../process/process-manager.ts";
import type { LiveOutput } from "../tool.ts";
import type { RunningCommand } from "./running-command.ts";

/** Starts a user's command once its item is durable. */
export type PendingStart = (turnId: string, live: LiveOutput) => Promise<RunningCommand>;

/** The running commands of all loaded threads, by thread and item. */
export class ThreadCommands {
  readonly #running = new Map<string, Map<string, RunningCommand>>();
  readonly #pending = new Map<string, PendingStart>();
  readonly #owners = new Map<string, ProcessOwner>();
  /** Commands that are being started, by thread. Their sandboxes may already exist. */
  readonly #starting = new Map<string, Set<Promise<void>>>();
  /** Threads that are being unloaded. The signal aborts when the unload is done. */
  readonly #leaving = new Map<string, AbortController>();

  /** The owner of a thread's processes. All of them end when the thread is unloaded. */
  owner(threadId: string): ProcessOwner {
    const owner = this.#owners.get(threadId) ?? { threadId };
    this.#owners.set(threadId, owner);
    return owner;
  }

  /**
   * Marks a thread as unloading, so that no more commands are started. Returns the owner of its processes, if the
   * thread ever had any.
   */
  leave(threadId: string): ProcessOwner | undefined {
    const owner = this.#owners.get(threadId);
    if (owner !== undefined && !this.#leaving.has(threadId))
      this.#leaving.set(threadId, new AbortController());
    return owner;
  }

  /**
   * Resolves to true if the thread stays loaded. If it is being unloaded, waits until that is done and resolves to
   * false. The unload itself completes the items of the thread's commands, so the caller must start no command and
   * report no end.
   */
  async stays(threadId: string, signal: AbortSignal): Promise<boolean> {
    const leaving = this.#leaving.get(threadId)?.signal;
    if (leaving === undefined) return true;
    const over = AbortSignal.any([signal, leaving]);
    await new Promise<void>((resolve) => {
      over.addEventListener("abort", () => resolve(), { once: true });
      if (over.aborted) resolve();
    });
    return false;
  }

  /** Announces the start of a command. Call the returned function when the command runs or has failed to start. */
  announceStart(threadId: string): () => void {
    let resolve = (): void => {};
    const settled = new Promise<void>((done) => {
      resolve = done;
    });
    const starting = this.#starting.get(threadId) ?? new Set();
    this.#starting.set(threadId, starting.add(settled));
    return () => {
      starting.delete(settled);
      if (starting.size === 0) this.#starting.delete(threadId);
      resolve();
    };
  }

  /** Resolves when every announced start has succeeded or failed. */
  async startsSettled(threadId: string): Promise<void> {
    await Promise.all([...(this.#starting.get(threadId) ?? [])]);
  }

  /** Removes and returns the owner of an unloaded thread's processes, if the thread ever had any. */
  takeOwner(threadId: string): ProcessOwner | undefined {
    this.#leaving.get(threadId)?.abort();
    this.#leaving.delete(threadId);
    const owner = this.#owners.get(threadId);
    this.#owners.delete(threadId);
    return owner;
  }

  get(threadId: string, itemId: string): RunningCommand | undefined {
    return this.#running.get(threadId)?.get(itemId);
  }

  of(threadId: string): readonly RunningCommand[] {
    return [...(this.#running.get(threadId)?.values() ?? [])];
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

  /** Remembers a command to start once its item is durable. */
  prepare(itemId: string, start: PendingStart): void {
    this.#pending.set(itemId, start);
  }

  takePrepared(itemId: string): PendingStart | undefined {
    const start = this.#pending.get(itemId);
    this.#pending.delete(itemId);
    return start;
  }
}
