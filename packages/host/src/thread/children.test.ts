import { expect, it } from "vitest";
import type { RapEvent } from "../core/rap/records.ts";
import type { ThreadRecord } from "../core/records.ts";
import { newThread } from "../core/test-thread.ts";
import { MemoryJournal } from "../journal/memory.ts";
import type { Actor } from "./actor.ts";
import { Children } from "./children.ts";
import type { Registry } from "./registry.ts";

const event: RapEvent = {
  id: "event_1",
  kind: "event",
  call: { callId: "c", server: "desk", via: "desk", tool: "watch", args: "{}" },
  output: "a bird",
  success: true,
  shown: { content: [], _meta: null },
};

/** What is done about a child whose journal has these records, and that is not loaded. */
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
  const children = new Children({
    registry,
    idle: {},
    clock: { now: () => 1 },
    unlist: async () => {},
    sync: async (threadId: string) => void done.push(`synced ${threadId}`),
  } as never);
  const parent = { journal } as unknown as Actor;
  await children.perform(parent, newThread(), { childId: "child", task: { kind: "event", event } }).then(
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
