import type { Bobbin, Notification } from "@bobbin/client";
import type { Thread, ThreadListResponse, ThreadSection } from "@bobbin/protocol";
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ThreadFilter } from "./thread-filter.ts";
import { applyToRows, type ThreadRow, withSection } from "./thread-rows.ts";

/** The built-in section. It has no heading while it is empty. */
export const PINNED = "01984de2-8f74-7c91-a3b2-5c5e937cf318";

/** A section with those of its threads that were read so far, in the order that the user gave them. */
export interface SectionGroup {
  readonly section: ThreadSection;
  readonly rows: readonly ThreadRow[];
  /** The cursor of the next page; null if all threads were read, undefined if none was read. */
  readonly next: string | null | undefined;
}

const PAGE = 50;
const SECTIONS_A_PAGE = 100;

/** The sections of threads. A section is read when its heading becomes visible, and then page by page. */
export class ThreadSections {
  readonly groups: Signal<readonly SectionGroup[]> = signal([]);
  readonly #client: Bobbin;
  readonly #filter: ReadonlySignal<ThreadFilter>;
  readonly #onRead: (threads: readonly Thread[]) => void;
  /** The rows of each section that is being read, which will replace or follow those that are shown. */
  readonly #reading = new Map<string, { rows: readonly ThreadRow[] }>();
  /** The number of moves in each section. A page whose read began before the last move is out of date. */
  readonly #moves = new Map<string, number>();
  /** Aborts reads for an earlier filter. */
  #round = new AbortController();

  /** `onRead` is called with the threads of each page that was read. */
  constructor(
    client: Bobbin,
    filter: ReadonlySignal<ThreadFilter>,
    onRead: (threads: readonly Thread[]) => void,
  ) {
    this.#client = client;
    this.#filter = filter;
    this.#onRead = onRead;
  }

  apply(notification: Notification, now: number): void {
    const { value: groups } = this.groups;
    const changed = (before: readonly ThreadRow[]) =>
      applyToRows(before, notification, this.#filter.value, now, "given");
    for (const reading of this.#reading.values()) reading.rows = changed(reading.rows);
    const next = groups.map((group) => {
      const rows = changed(group.rows);
      return rows === group.rows ? group : { ...group, rows };
    });
    if (next.some((group, at) => group !== groups[at])) this.groups.value = next;
  }

  /**
   * Shows a thread at the end of the section that it was moved to, until the section is read again. `row` is used if
   * the thread was in no section. Returns the section, without a name if it is not known yet.
   */
  moved(threadId: string, sectionId: string | null, row: ThreadRow | undefined): ThreadSection | null {
    const section =
      sectionId === null
        ? null
        : (this.#find(sectionId)?.section ?? { id: sectionId, name: "", appearance: null });
    const rows = this.groups.value.flatMap((group) => group.rows);
    const found = rows.find(({ thread }) => thread.id === threadId) ?? row;
    const before = this.placeOf(threadId)?.group.section.id;
    for (const id of new Set([before, sectionId])) this.#countMove(id);
    this.groups.value = this.groups.value.map((group) => {
      const others = group.rows.filter(({ thread }) => thread.id !== threadId);
      if (group.section.id !== sectionId || found === undefined) return { ...group, rows: others };
      // A thread that is moved within its section keeps its place until the section is read again.
      const isHere = others.length < group.rows.length;
      return { ...group, rows: withSection(isHere ? group.rows : [...others, found], threadId, section) };
    });
    return section;
  }

  /** The section that shows a thread, and the thread's place in it. */
  placeOf(threadId: string): { readonly group: SectionGroup; readonly at: number } | undefined {
    for (const group of this.groups.value) {
      const at = group.rows.findIndex(({ thread }) => thread.id === threadId);
      if (at >= 0) return { group, at };
    }
    return undefined;
  }

  /** Shows a thread before another one of its section, or at the end, until the section is read again. */
  reorder(threadId: string, beforeThreadId: string | undefined): void {
    const place = this.placeOf(threadId);
    if (place === undefined) return;
    this.#countMove(place.group.section.id);
    const row = place.group.rows[place.at]!;
    const rows = place.group.rows.filter((other) => other !== row);
    const to = rows.findIndex(({ thread }) => thread.id === beforeThreadId);
    rows.splice(to < 0 ? rows.length : to, 0, row);
    this.groups.value = this.groups.value.map((group) =>
      group === place.group ? { ...group, rows } : group,
    );
  }

  /** Reads the sections again. The threads of each section are read when it is visible. */
  async reload(): Promise<void> {
    this.#round.abort();
    const round = new AbortController();
    this.#round = round;
    this.#reading.clear();
    try {
      await this.#read(round.signal);
    } catch (cause) {
      // If the read was aborted, a later call reads everything again.
      if (!round.signal.aborted) throw cause;
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const sections: ThreadSection[] = [];
    let cursor: string | null = null;
    do {
      const page: { data: ThreadSection[]; nextCursor: string | null } = await this.#client.request(
        "threadSection/list",
        { limit: SECTIONS_A_PAGE, ...(cursor !== null && { cursor }) },
        { signal },
      );
      sections.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor !== null);
    if (signal.aborted) return;
    const known = new Map(this.groups.value.map((group) => [group.section.id, group]));
    this.groups.value = sections.map((section) => ({
      section,
      // The old rows are shown until the threads are read again, so that the list does not jump.
      rows: known.get(section.id)?.rows ?? [],
      next: undefined,
    }));
    await this.more(PINNED);
  }

  /**
   * Reads the next page of a section. After a reload, reads as many threads as were read before, so that the list does
   * not jump. Does nothing while a page is being read, or at the end.
   */
  async more(sectionId: string): Promise<void> {
    const group = this.#find(sectionId);
    if (group === undefined || group.next === null || this.#reading.has(sectionId)) return;
    const { signal } = this.#round;
    const moves = this.#moves.get(sectionId);
    const reading: { rows: readonly ThreadRow[] } = { rows: [] };
    this.#reading.set(sectionId, reading);
    try {
      const isFirst = group.next === undefined;
      let next: string | null = group.next ?? null;
      do {
        const page: ThreadListResponse = await this.#page(sectionId, next, signal);
        // After a move, the section is read again anyway.
        if (signal.aborted || this.#moves.get(sectionId) !== moves) return;
        this.#onRead(page.data);
        reading.rows = [...reading.rows, ...page.data.map((thread) => ({ thread }))];
        next = page.nextCursor;
      } while (isFirst && next !== null && reading.rows.length < group.rows.length);
      const before = isFirst ? [] : (this.#find(sectionId)?.rows ?? []);
      const rows = [...before, ...reading.rows];
      this.groups.value = this.groups.value.map((other) =>
        other.section.id === sectionId ? { ...other, rows, next } : other,
      );
    } finally {
      if (!signal.aborted) this.#reading.delete(sectionId);
    }
  }

  #page(sectionId: string, cursor: string | null, signal: AbortSignal): Promise<ThreadListResponse> {
    const { folder, owner } = this.#filter.value;
    return this.#client.request(
      "thread/list",
      {
        sectionId,
        limit: PAGE,
        sortKey: "section_position",
        sortDirection: "asc",
        ...(cursor !== null && { cursor }),
        ...(folder !== "" && { cwd: folder }),
        ...(owner !== "" && { owner }),
      },
      { signal },
    );
  }

  #countMove(sectionId: string | null | undefined): void {
    if (sectionId != null) this.#moves.set(sectionId, (this.#moves.get(sectionId) ?? 0) + 1);
  }

  #find(sectionId: string): SectionGroup | undefined {
    return this.groups.value.find(({ section }) => section.id === sectionId);
  }
}
