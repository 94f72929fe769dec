import { existsSync } from "node:fs";
import type { Worker as WorkerThread } from "node:worker_threads";
import type { Worker } from "./platform.ts";

/** Messages between the host and the worker thread. */
export interface Question {
  readonly id: number;
  readonly message: unknown;
}
export type Reply =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: Failure };

/** An error as plain data, because `postMessage` drops additional fields of errors. */
export interface Failure {
  readonly message: string;
  readonly code?: unknown;
  readonly errcode?: unknown;
}

/** An idle worker thread ends after this time. */
const IDLE_MS = 10_000;

interface Waiting {
  resolve(answer: unknown): void;
  reject(why: Error): void;
}

/** A worker thread that answers requests. It starts with the first request and ends when it is idle. */
export class NodeWorker implements Worker {
  readonly #file: string;
  readonly #idleMs: number;
  #running: WorkerRun | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(file: string, idleMs = IDLE_MS) {
    this.#file = file;
    this.#idleMs = idleMs;
  }

  async ask(message: unknown): Promise<unknown> {
    clearTimeout(this.#idle);
    if (this.#running === undefined || this.#running.dead) this.#running = new WorkerRun(this.#file);
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

/** One worker thread from its start to its end. */
class WorkerRun {
  dead = false;
  readonly #thread: Promise<WorkerThread>;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(file: string) {
    this.#thread = this.#start(file);
    // The error is ignored here; it rejects the request that waits for this thread.
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

  async #start(file: string): Promise<WorkerThread> {
    if (!existsSync(file)) throw new Error(`the worker file ${file} does not exist`);
    const { Worker: NodeWorkerThread } = await import("node:worker_threads");
    const thread = new NodeWorkerThread(file);
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
    thread.on("exit", () => gone(new Error("the worker thread has ended")));
    return thread;
  }
}
