import type { Thread } from "@bobbin/protocol";
import { expect, it } from "vitest";
import { isHeading, type ListItem, listItems, REST } from "./list-items.ts";
import type { ThreadRow } from "./thread-rows.ts";
import { PINNED, type SectionGroup } from "./thread-sections.ts";

function row(id: string, sectionId?: string): ThreadRow {
  const section = sectionId === undefined ? null : { id: sectionId, name: sectionId, appearance: null };
  return { thread: { id, section } as Thread };
}

function group(id: string, ...threads: string[]): SectionGroup {
  return {
    section: { id, name: id, appearance: null },
    rows: threads.map((thread) => row(thread, id)),
    next: null,
  };
}

function read(items: readonly ListItem[]): string {
  return items
    .map((item) => (isHeading(item) ? `[${item.group?.section.id ?? "rest"}]` : item.thread.id))
    .join(" ");
}

it("has no headings without sections, and none for an empty section of pinned threads", () => {
  const rows = [row("a"), row("b")];
  expect(listItems([group(PINNED)], rows, new Set())).toBe(rows);
});

it("shows each thread once: in its section, or among the rest if its section is gone", () => {
  const rows = [row("a", "work"), row("b"), row("c", "deleted")];
  const items = listItems([group(PINNED), group("work", "a", "d")], rows, new Set());
  expect(read(items)).toBe("[work] a d [rest] b c");
});

it("leaves out the threads of folded sections, whose ends are never in sight", () => {
  const groups = [group("work", "a"), group("home", "e")];
  const items = listItems(groups, [row("b")], new Set(["work"]));
  expect(read(items)).toBe("[work] [home] e [rest] b");
  expect(items.filter(isHeading).map(({ above }) => above)).toEqual([null, null, "home"]);
  expect(read(listItems(groups, [row("b")], new Set([REST])))).toBe("[work] a [home] e [rest]");
});
