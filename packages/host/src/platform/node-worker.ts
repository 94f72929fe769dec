import { existsSync } from "node:fs";
import type { Worker as Thread } from "node:worker_threads";
import type { Worker } from "./platform.ts";

/** What goes to a thread, and what comes back. */
export interface Question {
  readonly id: number;
  readonly message: unknown;
}
export type Reply =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: Failure };

/** An error's own fields do not travel by themselves. */
export interface Failure {
  readonly message: string;
  readonly code?: unknown;
  readonly errcode?: unknown;
}

/** How long a thread stays that nobody asks anything. */
const IDLE_MS = 10_000;

interface Waiting {
  resolve(answer: unknown): void;
  reject(why: Error): void;
}

/** A thread that runs a file; it is started when it is first asked something, and goes when nobody asks any more. */
export class NodeWorker implements Worker {
  readonly #file: string;
  readonly #idleMs: number;
  #running: Running | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(file: string, idleMs = IDLE_MS) {
    this.#file = file;
    this.#idleMs = idleMs;
  }

  async ask(message: unknown): Promise<unknown> {
    clearTimeout(this.#idle);
    if (this.#running === undefined || this.#running.dead) this.#running = new Running(this.#file);
    const running = this.#running;
    try {
      return await running.ask(message);
    } finally {
      if (!running.busy) this.#idle = setTimeout(() => void this.close(), this.#idleMs).unref();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const running = this.#running;
    this.#running = undefined;
    await running?.end();
  }
}

/** One thread, from its start to its end. */
class Running {
  dead = false;
  readonly #thread: Promise<Thread>;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(file: string) {
    this.#thread = this.#start(file);
    // Whoever asks is told.
    this.#thread.catch(() => {
      this.dead = true;
    });
  }

  get busy(): boolean {
    return this.#waiting.size > 0;
  }

  async ask(message: unknown): Promise<unknown> {
    const id = ++this.#lastId;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    try {
      (await this.#thread).postMessage({ id, message } satisfies Question);
      return await answer;
    } finally {
      this.#waiting.delete(id);
    }
  }

  async end(): Promise<void> {
    const thread = await this.#thread.catch(() => undefined);
    await thread?.terminate();
  }

  async #start(file: string): Promise<Thread> {
    if (!existsSync(file)) throw new Error(`there is no ${file}`);
    const { Worker: NodeThread } = await import("node:worker_threads");
    const thread = new NodeThread(file);
    thread.unref();
    thread.on("message", (reply: Reply) => {
      const waiting = this.#waiting.get(reply.id);
      if ("answer" in reply) waiting?.resolve(reply.answer);
      else waiting?.reject(Object.assign(new Error(reply.failure.message), reply.failure));
    });
    const gone = (cause: Error) => {
      this.dead = true;
      for (const { reject } of this.#waiting.values()) reject(cause);
    };
    thread.on("error", gone);
    thread.on("exit", () => gone(new Error("the thread has ended")));
    return thread;
  }
}
