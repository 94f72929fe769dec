import { existsSync } from "node:fs";
import type { Worker as WorkerThread } from "node:worker_threads";
import type { MessageWorker, MessageWorkerEvents } from "./platform.ts";

/**
 * A worker thread that exchanges messages with the host, in both directions. It starts with the first message to it.
 */
export class NodeMessageWorker implements MessageWorker {
  readonly #file: string;
  readonly #events: MessageWorkerEvents;
  readonly #maxHeapMb: number;
  #thread: Promise<WorkerThread> | undefined;

  constructor(file: string, events: MessageWorkerEvents, maxHeapMb = MAX_HEAP_MB) {
    this.#file = file;
    this.#events = events;
    this.#maxHeapMb = maxHeapMb;
  }

  post(message: unknown): void {
    const thread = this.#thread ?? this.#start();
    // An error is ignored here: the event `gone` reports once that the worker thread could not start, and why.
    thread.then(
      (started) => started.postMessage(message),
      () => {},
    );
  }

  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    const started = await thread?.catch(() => undefined);
    await started?.terminate();
  }

  #start(): Promise<WorkerThread> {
    const thread = this.#open();
    this.#thread = thread;
    const gone = (why: Error): void => {
      // The end of a worker that was closed is expected.
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      this.#events.gone(why);
    };
    thread.then((started) => {
      started.on("message", (message) => {
        if (this.#thread === thread) this.#events.received(message);
      });
      started.on("error", gone);
      started.on("exit", () => gone(new Error("the worker thread has ended")));
    }, gone);
    return thread;
  }

  async #open(): Promise<WorkerThread> {
    if (!existsSync(this.#file)) throw new Error(`the worker file ${this.#file} does not exist`);
    const { Worker: NodeWorkerThread } = await import("node:worker_threads");
    const thread = new NodeWorkerThread(this.#file, {
      resourceLimits: { maxOldGenerationSizeMb: this.#maxHeapMb },
    });
    thread.unref();
    return thread;
  }
}

/** Heap limit of the worker thread. Beyond it only the worker ends, not the host. */
const MAX_HEAP_MB = 1024;
