import { expect, it } from "vitest";
import { newThread } from "../../../../test/support/test-thread.ts";
import type { RapEvent } from "../core/rap/records.ts";
import type { ThreadRecord } from "../core/records.ts";
import { MemoryJournal } from "../store/memory/in-memory-journal.ts";
import type { Actor } from "./actor.ts";
import { ChildEffectPerformer } from "./child-effect-performer.ts";
import type { Registry } from "./registry.ts";

const event: RapEvent = {
  id: "event_1",
  kind: "event",
  call: { callId: "c", server: "desk", via: "desk", tool: "watch", args: "{}" },
  output: "a bird",
  success: true,
  shown: { content: [], _meta: null },
};

const NEVER = new AbortController().signal;

/** The calls that are made for a child that is not loaded and whose journal has these records. */
async function doneWith(...records: ThreadRecord[]): Promise<readonly string[]> {
  const journal = new MemoryJournal();
  await journal.append({ seq: 1, epoch: 1, prev: 0, records });
  const done: string[] = [];
  const registry = {
    read: (_id: string, _access: unknown, look: (...of: unknown[]) => unknown) =>
      look(journal, { ...newThread(), status: { type: "notLoaded" } }),
    withStored: async () => void done.push("removed"),
    start: async () => {
      done.push("started");
      throw new Error("enough");
    },
  } as unknown as Registry;
  const children = new ChildEffectPerformer({
    registry,
    idle: {},
    clock: { now: () => 1 },
    sync: async (threadId: string) => void done.push(`synced ${threadId}`),
  } as never);
  const parent = { journal } as unknown as Actor;
  await children
    .perform(parent, newThread(), { childId: "child", task: { kind: "event", event } }, NEVER)
    .then(
      (what) => done.push(what!),
      () => {},
    );
  return done;
}

it("a child that has handled its event is synced, and not begun again, though it was closed before its parent knew of it", async () => {
  const received: ThreadRecord = { type: "eventReceived", at: 1, event, key: null };
  const closed: ThreadRecord = { type: "closed", at: 2, reason: "unsubscribed" };
  expect(await doneWith(received, closed)).toEqual(["synced child", "childMade"]);
});

it("half a child that was closed is made anew", async () => {
  expect(await doneWith({ type: "closed", at: 2, reason: "lost" })).toEqual(["removed", "started"]);
});

it("a child in another host is looked at again until it has ended there", async () => {
  const looks: (string | undefined)[] = ["other host", "other host", undefined];
  const registry = {
    read: async (_id: string, _access: unknown, look: (...of: unknown[]) => unknown) =>
      look(new MemoryJournal(), { ...newThread(), status: { type: "notLoaded" } }, looks.shift()),
  } as unknown as Registry;
  const pauses: number[] = [];
  const timers = {
    after(ms: number, run: () => void) {
      pauses.push(ms);
      queueMicrotask(run);
      return () => {};
    },
  };
  const children = new ChildEffectPerformer({ registry, timers } as never);
  const parent = { journal: new MemoryJournal() } as unknown as Actor;
  const ended = await children.perform(parent, newThread(), { childId: "child", task: null }, NEVER);
  expect([ended, looks, pauses.length]).toEqual(["childEnded", [], 2]);
});
