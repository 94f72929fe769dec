import { fault } from "../errors.ts";
import { commitAt } from "../store/index-updates.ts";
import { BadCursor } from "../store/list-cursor.ts";
import type {
  Occurrence,
  OccurrencePlace,
  OccurrenceQuery,
  SearchPage,
  SearchQuery,
  ThreadIndex,
  ThreadPage,
  ThreadQuery,
  ThreadRow,
} from "../store/thread-index.ts";
import { turnCursorAt } from "./turn-pages.ts";

/** An occurrence of a search term in a thread, with the cursor of a page of turns that starts at its turn. */
export interface FoundText extends Occurrence {
  readonly turnCursor: string;
}

/** Page size of queries that read all pages. */
const PAGE_SIZE = 100;

const EVERY_THREAD = {
  owner: undefined,
  archived: false,
  modelProviders: undefined,
  sourceKinds: undefined,
  cwds: undefined,
  searchTerm: undefined,
  sectionId: undefined,
  parentThreadId: undefined,
  ancestorThreadId: undefined,
  limit: PAGE_SIZE,
} as const;

/** Lists and searches threads by means of the index. */
export class ThreadQueries {
  readonly #index: Pick<ThreadIndex, "list" | "search" | "occurrences">;
  readonly #complete: () => Promise<void> | undefined;

  /** `complete`: resolves when the index contains what dead hosts wrote last. */
  constructor(
    index: Pick<ThreadIndex, "list" | "search" | "occurrences">,
    complete: () => Promise<void> | undefined,
  ) {
    this.#index = index;
    this.#complete = complete;
  }

  async list(query: ThreadQuery): Promise<ThreadPage> {
    await this.#complete();
    return this.#index.list(query).catch(badCursor);
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    await this.#complete();
    return this.#index.search(query).catch(badCursor);
  }

  /** The occurrences of a search term in one thread. */
  async occurrences(
    query: OccurrenceQuery,
  ): Promise<{ readonly found: readonly FoundText[]; readonly next: OccurrencePlace | null }> {
    const { occurrences, next } = await this.#index.occurrences(query);
    const found = occurrences.map((one) => ({ ...one, turnCursor: turnCursorAt(commitAt(one.place)) }));
    return { found, next };
  }

  /** The threads of a section, in their order. */
  inSection(owner: string | undefined, sectionId: string): AsyncIterable<ThreadRow> {
    return this.#all({
      ...EVERY_THREAD,
      owner,
      sectionId,
      sortKey: "section_position",
      sortDirection: "asc",
      cursor: undefined,
    });
  }

  /** The threads of a thread's helpers and of their helpers, newest first. All of them have the same owner. */
  async descendantHelpers(threadId: string, archived: boolean): Promise<readonly string[]> {
    const ids: string[] = [];
    const helpers = this.#all({
      ...EVERY_THREAD,
      archived,
      sourceKinds: ["subAgentThreadSpawn"],
      ancestorThreadId: threadId,
      sortKey: "created_at",
      sortDirection: "desc",
      cursor: undefined,
    });
    for await (const { id } of helpers) ids.push(id);
    return ids;
  }

  async *#all(query: ThreadQuery): AsyncIterable<ThreadRow> {
    let cursor: string | undefined;
    do {
      const { rows, nextCursor } = await this.#index.list({ ...query, cursor });
      yield* rows;
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
}

function badCursor(cause: unknown): never {
  if (cause instanceof BadCursor) throw fault("invalidCursor", cause.cursor);
  throw cause;
}
