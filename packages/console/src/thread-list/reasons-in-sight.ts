import type { Bobbin } from "@bobbin/client";
import { type Signal, signal } from "@preact/signals";
import { ReadThrottle } from "../parts/read-throttle.ts";
import { loadSummary } from "../thread-page/load-reasons.ts";
import type { ThreadRow } from "./thread-rows.ts";

/** Why the loaded threads in sight are loaded. The host is asked about these threads only, and not if there are none. */
export class ReasonsInSight {
  /** The reasons as text, by thread ID. */
  readonly texts: Signal<ReadonlyMap<string, string>> = signal(new Map());
  readonly #client: Bobbin;
  readonly #reads = new ReadThrottle(() => this.#read());
  #threadIds: readonly string[] = [];

  constructor(client: Bobbin) {
    this.#client = client;
  }

  /** Called with the rows in sight. Reads the reasons if another loaded thread is among them. */
  sighted(rows: readonly ThreadRow[]): void {
    const before = new Set(this.#threadIds);
    this.#threadIds = rows
      .filter(({ thread }) => thread.status.type !== "notLoaded")
      .map(({ thread }) => thread.id);
    if (this.#threadIds.some((id) => !before.has(id))) this.#reads.request();
  }

  /** Reads the reasons again, which change without a notification. */
  refresh(): void {
    if (this.#threadIds.length > 0) this.#reads.request();
  }

  async #read(): Promise<void> {
    // Reads of the list, from the same host, show the error.
    const read = await this.#client
      .request("server/diagnostics", { threadIds: [...this.#threadIds] })
      .catch(() => undefined);
    if (read?.threads)
      this.texts.value = new Map(read.threads.map((thread) => [thread.threadId, loadSummary(thread)]));
  }
}
