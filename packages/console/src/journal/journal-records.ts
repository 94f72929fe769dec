import type { Bobbin } from "@bobbin/client";
import type { JournalEntry, Params } from "@bobbin/protocol";
import { signal } from "@preact/signals";
import { typesOf } from "./record-groups.ts";

export interface JournalFilter {
  /** A record type or group of types; empty for all. */
  readonly type: string;
  readonly text: string;
  readonly turnId: string;
}

const PAGE = 100;
/** After this many pages without a match the search pauses, and the user decides whether it continues. */
const MAX_EMPTY_PAGES = 25;

/** The records of a thread as far as they were read, newest first. */
export class JournalRecords {
  readonly entries = signal<readonly JournalEntry[]>([]);
  readonly isReading = signal(false);
  /** Whether the beginning of the journal was reached. */
  readonly isComplete = signal(false);
  /** Whether a long search without a match has paused. */
  readonly isPaused = signal(false);
  readonly problem = signal<string | undefined>(undefined);
  readonly #client: Pick<Bobbin, "request">;
  readonly #threadId: string;
  readonly #filter: JournalFilter;
  #older: string | null = null;
  #newest: string | null = null;
  #isReadingOlder = false;
  #isClosed = false;
  #last: Promise<void> = Promise.resolve();

  constructor(client: Pick<Bobbin, "request">, threadId: string, filter: JournalFilter) {
    this.#client = client;
    this.#threadId = threadId;
    this.#filter = filter;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Reads older records, until one matches. */
  async readOlder(): Promise<void> {
    if (this.#isReadingOlder || this.isComplete.value) return;
    this.#isReadingOlder = true;
    this.isPaused.value = false;
    await this.#inTurn(async () => {
      for (let pages = 0; !this.#isClosed; pages++) {
        if (pages === MAX_EMPTY_PAGES) {
          this.isPaused.value = true;
          return;
        }
        const found = await this.#page(this.#older === null ? {} : { cursor: this.#older });
        if (this.#isClosed) return;
        this.#newest ??= found.newestCursor;
        this.#older = found.nextCursor;
        this.isComplete.value = found.nextCursor === null;
        if (found.data.length > 0) this.entries.value = [...this.entries.value, ...found.data];
        if (found.data.length > 0 || found.nextCursor === null) return;
      }
    });
    this.#isReadingOlder = false;
  }

  /** Reads the records that were written since the last read. */
  async readNewer(): Promise<void> {
    await this.#inTurn(async () => {
      for (let cursor = this.#newest; cursor !== null && !this.#isClosed; ) {
        const found = await this.#page({ cursor, sortDirection: "asc" });
        if (this.#isClosed) return;
        this.#newest = found.newestCursor ?? this.#newest;
        cursor = found.nextCursor;
        if (found.data.length > 0) this.entries.value = [...found.data.reverse(), ...this.entries.value];
      }
    });
  }

  #page(more: Partial<Params<"thread/journal/read">>) {
    const { type, text, turnId } = this.#filter;
    const types = typesOf(type);
    return this.#client.request("thread/journal/read", {
      threadId: this.#threadId,
      limit: PAGE,
      ...(types !== undefined && { types }),
      ...(text !== "" && { searchTerm: text }),
      ...(turnId !== "" && { turnId }),
      ...more,
    });
  }

  /** Runs reads one at a time, because each begins at the cursor where the previous one ended. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(() => (this.#isClosed ? undefined : this.#attempt(work)));
    return this.#last;
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    this.isReading.value = true;
    try {
      await work();
      this.problem.value = undefined;
    } catch (cause) {
      this.problem.value = cause instanceof Error ? cause.message : String(cause);
    } finally {
      this.isReading.value = false;
    }
  }
}
