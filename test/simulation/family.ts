// A thread and its helpers, read from their journals.
import { expect } from "vitest";
import { checkJournals, type JournalRecord, journals, recordsOf } from "../model/journals.ts";
import { owed } from "../model/owed.ts";
import type { World } from "./world.ts";

export interface Family {
  readonly parent: readonly JournalRecord[];
  readonly children: ReadonlyMap<string, readonly JournalRecord[]>;
}

export function familyOf({ disk }: World, threadId: string): Family {
  const all = journals(disk).map((path) => recordsOf(disk, path));
  const factsOf = ([created]: readonly JournalRecord[]) =>
    created!.facts as { readonly id: string; readonly parentThreadId: string | null };
  const parent = all.find((records) => factsOf(records).id === threadId)!;
  const children = all.filter((records) => factsOf(records).parentThreadId === threadId);
  return { parent, children: new Map(children.map((records) => [factsOf(records).id, records])) };
}

/** The last messages of helpers in completed turns. */
export function results({ children }: Family): readonly string[] {
  return [...children.values()].flat().flatMap((record) => {
    const answer = record.type === "turnEnded" ? (record.answer as { text?: string } | null) : null;
    return answer?.text === undefined ? [] : [answer.text];
  });
}

/** How often the parent's model got a text: in the output of a wait, or in a note. */
export function timesShown({ parent }: Family, text: string): number {
  return parent
    .flatMap((record) => {
      if (record.type === "itemsInjected")
        return (record.items as unknown[]).map((item) => JSON.stringify(item));
      // The output of a close contains the state before it.
      return record.type === "toolAnswered" && !String(record.output).includes("previous_status")
        ? [String(record.output)]
        : [];
    })
    .filter((shown) => shown.includes(text)).length;
}

/**
 * Checks a family whose hosts are closed: the parent's model got each result once, nothing is left to do, and each
 * helper took each of its inputs once.
 */
export function checkFamily(world: World, threadId: string): void {
  checkJournals(world.disk);
  const family = familyOf(world, threadId);
  for (const result of results(family)) expect(timesShown(family, result), result).toBe(1);
  // There are no tool servers to notify.
  expect(owed(family.parent).filter((one) => !/^(closed|callCancelled) /.test(one))).toEqual([]);
  const due = family.parent.filter(({ type }) => type === "helperDue").map(({ childId }) => childId);
  expect(new Set(due).size).toBe(due.length);
  for (const childId of family.children.keys()) expect(due).toContain(childId);
  const taken = [...family.children.values()].flat().flatMap((record) => {
    return record.type === "inputAccepted" ? [String(record.messageId)] : [];
  });
  expect(new Set(taken).size, "each input is taken once").toBe(taken.length);
  const sent = inputs(family.parent, "helperDue", "helperInputSent");
  for (const input of taken) expect(sent).toContain(input);
}

/** The names of inputs in the order in which records of these types have them. */
function inputs(records: readonly JournalRecord[], ...types: readonly string[]): readonly string[] {
  return records.flatMap((record) =>
    types.includes(record.type) ? [(record.input as { id: string }).id] : [],
  );
}
