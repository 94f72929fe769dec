import { fault } from "../errors.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Cancel, MessageWorker, Platform } from "../platform/platform.ts";
import { Searches, type SearchNews, type SearchOrder } from "../search/file-search-scheduler.ts";

/** How long the worker thread lives without a search. */
const IDLE_MS = 10_000;

export interface EngineEvents {
  found(news: SearchNews): void;
  /** Called when the worker has ended. The searches in progress give no more results. */
  gone(why: Error): void;
}

/** Runs file searches in a worker thread, which is started for the first search and ends after a while without one. */
export class FileSearchEngine {
  readonly #platform: Platform;
  readonly #supervisor: Supervisor;
  readonly #events: EngineEvents;
  /** Searches in progress. */
  readonly #inProgress = new Set<number>();
  #worker: MessageWorker | undefined;
  #cancelIdleTimer: Cancel | undefined;
  #closed = false;

  constructor(platform: Platform, supervisor: Supervisor, events: EngineEvents) {
    this.#platform = platform;
    this.#supervisor = supervisor;
    this.#events = events;
  }

  send(order: SearchOrder): void {
    if (this.#closed && order.kind === "search") throw fault("shuttingDown");
    if (this.#closed) return;
    this.#cancelIdleTimer?.();
    if (order.kind === "search") this.#inProgress.add(order.id);
    else this.#inProgress.delete(order.id);
    if (order.kind === "end" && this.#worker === undefined) return;
    this.#worker ??= this.#open();
    this.#worker.post(order);
    this.#startIdleTimer();
  }

  /** Ends the worker permanently. Later searches are refused. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#stop();
  }

  async #stop(): Promise<void> {
    this.#cancelIdleTimer?.();
    this.#inProgress.clear();
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.close();
  }

  #open(): MessageWorker {
    const events = {
      received: (message: unknown) => this.#received(message as SearchNews),
      gone: (why: Error) => {
        this.#worker = undefined;
        this.#inProgress.clear();
        this.#events.gone(why);
      },
    };
    return this.#platform.messageWorker("file-search", events) ?? this.#inThisThread(events.received);
  }

  /** Runs the searches in the host's own thread, if the platform has no worker threads. */
  #inThisThread(received: (news: SearchNews) => void): MessageWorker {
    const { clock, timers, fileSearchAccess } = this.#platform;
    let open = true;
    const ports = {
      files: fileSearchAccess,
      now: () => clock.monotonic(),
      pause: () => new Promise<void>((resolve) => timers.soon(resolve)),
    };
    const searches = new Searches(ports, (news) => open && received(news));
    return {
      post: (order) => this.#supervisor.take("searching for files", searches.take(order as SearchOrder)),
      close: async () => {
        open = false;
        searches.close();
      },
    };
  }

  #received(news: SearchNews): void {
    if (news.isComplete) this.#inProgress.delete(news.id);
    this.#events.found(news);
    this.#startIdleTimer();
  }

  #startIdleTimer(): void {
    this.#cancelIdleTimer?.();
    if (this.#inProgress.size > 0) return;
    this.#cancelIdleTimer = this.#platform.timers.after(IDLE_MS, () =>
      this.#supervisor.take("ending the search for files", this.#stop()),
    );
  }
}
