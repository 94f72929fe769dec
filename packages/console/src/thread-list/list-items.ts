import type { ThreadRow } from "./thread-rows.ts";
import type { SectionGroup } from "./thread-sections.ts";
import { PINNED } from "./thread-sections.ts";

/** The heading of a section, or of the threads without one. */
export interface ListHeading {
  /** The section; null for the threads without a section. */
  readonly group: SectionGroup | null;
  readonly isOpen: boolean;
  /** ID of the section above this heading. If the heading is visible, the end of that section is visible, too. */
  readonly above: string | null;
}

export type ListItem = ThreadRow | ListHeading;

export function isHeading(item: ListItem): item is ListHeading {
  return "group" in item;
}

/** The ID that stands for the threads without a section in `foldedSections`. */
export const REST = "rest";

/**
 * The entries of the list: each section with its threads, then the other threads. If there are no sections, there are
 * no headings.
 */
export function listItems(
  groups: readonly SectionGroup[],
  rows: readonly ThreadRow[],
  folded: ReadonlySet<string>,
): readonly ListItem[] {
  const shown = groups.filter(({ section, rows: own }) => section.id !== PINNED || own.length > 0);
  if (shown.length === 0) return rows;
  const ids = new Set(shown.map(({ section }) => section.id));
  const items: ListItem[] = [];
  let above: string | null = null;
  for (const group of shown) {
    const isOpen = !folded.has(group.section.id);
    items.push({ group, isOpen, above });
    if (isOpen) items.push(...group.rows);
    above = isOpen ? group.section.id : null;
  }
  const isOpen = !folded.has(REST);
  items.push({ group: null, isOpen, above });
  if (!isOpen) return items;
  return items.concat(rows.filter(({ thread }) => !ids.has(thread.section?.id ?? "")));
}
