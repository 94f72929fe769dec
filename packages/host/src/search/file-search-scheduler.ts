import type { FuzzyFileSearchResult } from "@bobbin/protocol";
import { FewAtOnce } from "../platform/concurrency-limit.ts";
import { FileSearch, MAX_ENTRIES, type SearchPorts, type SearchRoots } from "./file-search.ts";

/** A request to the file searches. Plain data, because the searches may run in a worker thread. */
export type SearchOrder =
  /** Starts a search, or changes its query. A search that was dropped in the meantime starts again. */
  | { readonly kind: "search"; readonly id: number; readonly roots: SearchRoots; readonly query: string }
  | { readonly kind: "end"; readonly id: number };

/** The results of a search so far. */
export interface SearchNews {
  readonly id: number;
  readonly query: string;
  readonly files: readonly FuzzyFileSearchResult[];
  readonly isComplete: boolean;
}

/** Limit on the entries of all searches together. Beyond it, the least recently used searches are dropped. */
const MAX_ALL_ENTRIES = 8 * MAX_ENTRIES;

const MAX_RUNNING = 4;

/** Runs many searches at once, alternating between them in slices. */
export class Searches {
  readonly #ports: Omit<SearchPorts, "report">;
  readonly #report: (news: SearchNews) => void;
  /** Searches by id, the least recently used first. */
  readonly #searches = new Map<number, FileSearch>();

  constructor(ports: Omit<SearchPorts, "report" | "runningLimit">, report: (news: SearchNews) => void) {
    this.#ports = { ...ports, runningLimit: new FewAtOnce(MAX_RUNNING) };
    this.#report = report;
  }

  /** Resolves when the search has nothing more to do. */
  async take(order: SearchOrder): Promise<void> {
    if (order.kind === "end") return this.#end(order.id);
    const { id, roots, query } = order;
    const known = this.#searches.get(id);
    this.#searches.delete(id);
    const search = known ?? this.#start(id, roots, query);
    this.#searches.set(id, search);
    known?.ask(query);
    await search.run();
    this.#makeRoom();
  }

  close(): void {
    for (const id of [...this.#searches.keys()]) this.#end(id);
  }

  #start(id: number, roots: SearchRoots, query: string): FileSearch {
    return new FileSearch(roots, query, {
      ...this.#ports,
      report: (queryText, files, isComplete) => this.#report({ id, query: queryText, files, isComplete }),
    });
  }

  #end(id: number): void {
    this.#searches.get(id)?.end();
    this.#searches.delete(id);
  }

  /** Drops idle searches while there are too many entries; the most recently used one stays. */
  #makeRoom(): void {
    const all = [...this.#searches];
    let entries = all.reduce((sum, [, search]) => sum + search.entries, 0);
    for (const [id, search] of all.slice(0, -1)) {
      if (entries <= MAX_ALL_ENTRIES) return;
      if (search.isRunning) continue;
      entries -= search.entries;
      this.#end(id);
    }
  }
}
