import type { ThreadRow } from "./thread-rows.ts";

/** Rows of different threads. The cost of appending a page does not depend on the number of rows before it. */
export class UniqueRows {
  #rows: readonly ThreadRow[] = [];
  /** IDs of the threads; undefined if an edit changed which threads there are. */
  #ids: Set<string> | undefined = new Set();

  get rows(): readonly ThreadRow[] {
    return this.#rows;
  }

  /** Appends a page. Threads that are already in the list are left out: they became recent after the list was read. */
  append(page: readonly ThreadRow[]): void {
    this.#ids ??= new Set(this.#rows.map(({ thread }) => thread.id));
    const ids = this.#ids;
    const added = page.filter(({ thread }) => !ids.has(thread.id));
    for (const { thread } of added) ids.add(thread.id);
    this.#rows = this.#rows.concat(added);
  }

  /** Changes rows, adds one or removes one. */
  edit(change: (rows: readonly ThreadRow[]) => readonly ThreadRow[]): void {
    const before = this.#rows;
    this.#rows = change(before);
    // An edit that leaves the number of rows the same leaves the threads the same.
    if (this.#rows.length !== before.length) this.#ids = undefined;
  }
}
