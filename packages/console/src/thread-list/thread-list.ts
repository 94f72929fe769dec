import type { Bobbin, Notification } from "@bobbin/client";
import type { Thread } from "@bobbin/protocol";
import { type Signal, signal } from "@preact/signals";
import { ReadThrottle } from "../parts/read-throttle.ts";
import { ReasonsInSight } from "./reasons-in-sight.ts";
import { fitsStatus, isGrouped, NO_FILTER, type ThreadFilter } from "./thread-filter.ts";
import { type PageCursor, readThreadPage, type ThreadPage } from "./thread-pages.ts";
import {
  applyToRows,
  lacksTitle,
  recencyOf,
  type ThreadRow,
  withSection,
  withThread,
} from "./thread-rows.ts";
import { ThreadSections } from "./thread-sections.ts";
import { UniqueRows } from "./unique-rows.ts";

/** The list of threads. Pages are read as the user scrolls; notifications keep the rows that were read up to date. */
export class ThreadList {
  readonly rows: Signal<readonly ThreadRow[]> = signal([]);
  readonly filter: Signal<ThreadFilter> = signal(NO_FILTER);
  readonly isReading = signal(false);
  readonly problem = signal<string | undefined>(undefined);
  /** Folders of the threads that were read, for the filter. */
  readonly folders: Signal<readonly string[]> = signal([]);
  /** Owners of the threads that were read. */
  readonly owners: Signal<readonly string[]> = signal([]);
  readonly reasons: ReasonsInSight;
  readonly sections: ThreadSections;
  readonly client: Bobbin;
  readonly #sectionReads = new ReadThrottle(() => this.reloadSections());
  /** The rows that were read, in the order in which they are shown. */
  #shown = new UniqueRows();
  /** Rows that will replace `#shown` when all of them are read. */
  #incoming: UniqueRows | undefined;
  #next: PageCursor | null = null;
  #lastInSight: string | undefined;
  #reading: AbortController | undefined;

  constructor(client: Bobbin) {
    this.client = client;
    this.reasons = new ReasonsInSight(client);
    this.sections = new ThreadSections(client, this.filter, (threads) => this.#collect(threads));
    client.onNotification((notification) => {
      const now = Math.floor(Date.now() / 1000);
      this.#edit((rows) => applyToRows(rows, notification, this.filter.value, now));
      this.sections.apply(notification, now);
      if (notification.method === "thread/status/changed") void this.#readTitle(notification.params.threadId);
      if (notification.method === "thread/started") {
        this.#collect([notification.params.thread]);
        void this.#readOwner(notification);
      }
      if (notification.method === "thread/section/changed") this.#moved(notification.params);
      if (notification.method === "threadSection/changed") this.#sectionReads.request();
    });
    client.onConnection(({ state }) => {
      // The host did not send changes that happened while there was no connection.
      if (state === "connected") void this.#readAgain();
    });
  }

  /** Changes the filter and reads the list again. Reads for the earlier filter are aborted. */
  async setFilter(change: Partial<ThreadFilter>): Promise<void> {
    this.filter.value = { ...this.filter.value, ...change };
    await this.reload();
  }

  /** Reads the first page again. */
  async reload(): Promise<void> {
    await Promise.all([this.#readFromStart(1), this.reloadSections()]);
  }

  /** Called with the rows that are in sight. After a reconnect, the list is read as far as these rows. */
  sighted(rows: readonly ThreadRow[]): void {
    this.#lastInSight = rows.at(-1)?.thread.id;
    this.reasons.sighted(rows);
  }

  async #readAgain(): Promise<void> {
    const last = this.#shown.rows.findIndex(({ thread }) => thread.id === this.#lastInSight);
    await Promise.all([this.#readFromStart(last + 1), this.reloadSections()]);
  }

  /** Reads the sections again. */
  async reloadSections(): Promise<void> {
    if (!isGrouped(this.filter.value)) return;
    await this.sections.reload().catch(() => {
      // Reads of the list, from the same host, show the error.
    });
  }

  /** Shows a thread in the section that it was moved to. Its place in that section is read from the host. */
  #moved({ threadId, sectionId }: { readonly threadId: string; readonly sectionId: string | null }): void {
    const row = this.rows.value.find(({ thread }) => thread.id === threadId);
    const section = this.sections.moved(threadId, sectionId, row);
    this.#edit((rows) => withSection(rows, threadId, section));
    this.#sectionReads.request();
  }

  /** Reads the next page. Does nothing while a page is being read, or at the end of the list. */
  async more(): Promise<void> {
    const { value: filter } = this.filter;
    if (this.#next === null || this.#reading !== undefined) return;
    await this.#during(async (signal) => {
      const { rows, next } = await readThreadPage(this.client, filter, this.#next, signal);
      if (signal.aborted) return;
      this.#next = next;
      this.#append(this.#shown, rows);
    });
  }

  /** Reads at least `count` rows, or all. The old rows are shown meanwhile, so that the list does not jump. */
  async #readFromStart(count: number): Promise<void> {
    const { value: filter } = this.filter;
    this.#reading?.abort();
    const incoming = new UniqueRows();
    this.#incoming = incoming;
    await this.#during(async (signal) => {
      let next: PageCursor | null = null;
      do {
        const page: ThreadPage = await readThreadPage(this.client, filter, next, signal);
        if (signal.aborted) return;
        next = page.next;
        this.#append(incoming, page.rows);
      } while (next !== null && incoming.rows.length < count);
      this.#next = next;
      this.#shown = incoming;
    });
    if (this.#incoming === incoming) this.#incoming = undefined;
  }

  /** Runs a read. Its error is shown unless the read was aborted. */
  async #during(read: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const reading = new AbortController();
    this.#reading = reading;
    this.isReading.value = true;
    try {
      await read(reading.signal);
      if (!reading.signal.aborted) this.problem.value = undefined;
    } catch (cause) {
      if (!reading.signal.aborted)
        this.problem.value = cause instanceof Error ? cause.message : String(cause);
    } finally {
      if (this.#reading === reading) {
        this.#reading = undefined;
        this.rows.value = this.#shown.rows;
        this.isReading.value = false;
      }
    }
  }

  /** Reads the title of a thread that had none when it was listed. */
  async #readTitle(threadId: string): Promise<void> {
    const row = this.rows.value.find(({ thread }) => thread.id === threadId);
    if (row === undefined || !lacksTitle(row.thread)) return;
    // A thread that was deleted meanwhile has left the list.
    const read = await this.client.request("thread/read", { threadId }).catch(() => undefined);
    if (read !== undefined) this.#edit((rows) => withThread(rows, read.thread));
  }

  /** Shows a new thread of the filter's owner. The owner is read, because the notification does not name it. */
  async #readOwner({ method, params }: Extract<Notification, { method: "thread/started" }>): Promise<void> {
    if (this.filter.value.owner === "") return;
    const read = await this.client
      .request("thread/read", { threadId: params.thread.id })
      .catch(() => undefined);
    if (read === undefined) return;
    const now = Math.floor(Date.now() / 1000);
    const started = { method, params: { thread: read.thread } };
    this.#edit((rows) => applyToRows(rows, started, this.filter.value, now));
  }

  #append(to: UniqueRows, page: readonly ThreadRow[]): void {
    to.append(page);
    to.edit((rows) => this.#arranged(rows));
    this.#collect(page.map(({ thread }) => thread));
  }

  /** Changes the rows that are shown, and those that are being read to replace them. */
  #edit(change: (rows: readonly ThreadRow[]) => readonly ThreadRow[]): void {
    for (const part of [this.#shown, this.#incoming]) {
      part?.edit((rows) => {
        const next = change(rows);
        return next === rows ? rows : this.#arranged(next);
      });
    }
    this.rows.value = this.#shown.rows;
  }

  /** The rows that fit a status filter, in their order. Loaded threads change both while their pages are read. */
  #arranged(rows: readonly ThreadRow[]): readonly ThreadRow[] {
    const { status, search } = this.filter.value;
    if (status === "all") return rows;
    const fitting = rows.filter(({ thread }) => fitsStatus(thread, status));
    if (search !== "") return fitting;
    return fitting.sort(({ thread: one }, { thread: other }) => {
      return recencyOf(other) - recencyOf(one) || (one.id < other.id ? 1 : -1);
    });
  }

  /** Adds the folders and owners of threads that were read to the choices of the filters. */
  #collect(threads: readonly Thread[]): void {
    addMissing(
      this.folders,
      threads.map(({ cwd }) => cwd),
    );
    addMissing(
      this.owners,
      threads.flatMap(({ owner }) => owner ?? []),
    );
  }
}

function addMissing(known: Signal<readonly string[]>, found: readonly string[]): void {
  const all = new Set([...known.value, ...found]);
  if (all.size !== known.value.length) known.value = [...all].sort();
}
