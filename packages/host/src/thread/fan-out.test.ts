import { expect, it } from "vitest";
import type { Commit } from "../core/records.ts";
import { nodePlatform } from "../platform/node.ts";
import { MemoryJournal } from "../store/memory/in-memory-journal.ts";
import { FanOut, type FollowedThread } from "./fan-out.ts";
import type { Outgoing, Recipient, Subscription } from "./subscription.ts";
import { UndeliveredSubscriptions } from "./undelivered-subscriptions.ts";

function recipient(): Recipient & { readonly heard: string[] } {
  const heard: string[] = [];
  return {
    heard,
    wantsCursors: false,
    isExperimental: false,
    wants: () => true,
    deliver: (_: Subscription, { frame }: Outgoing) => void heard.push(...frame.messages),
    undelivered: new UndeliveredSubscriptions(),
    congested: false,
    waitForRoom() {},
  } as unknown as Recipient & { readonly heard: string[] };
}

it("a follower whose journal cannot be read catches up when it can", async () => {
  const journal = new MemoryJournal();
  const renamed = (seq: number, name: string): Commit => ({
    seq,
    epoch: 1,
    prev: seq - 1,
    records: [{ type: "renamed", at: 1, name }],
  });
  await journal.append(renamed(1, "one"));
  await journal.append(renamed(2, "two"));
  let failures = 2;
  const forwards = journal.forwards.bind(journal);
  journal.forwards = (from) => {
    if (failures-- > 0) throw new Error("EMFILE");
    return forwards(from);
  };
  const armed: (() => void)[] = [];
  const reported: unknown[] = [];
  const thread: FollowedThread = {
    id: "t",
    clock: nodePlatform().clock,
    timers: { after: (_: number, run: () => void) => armed.push(run) } as never,
    journal,
    head: 2,
    requests: [],
    gone: false,
    bringUp: (subscription) => subscription.caughtUp(),
    supervise: (_, work) => void work.catch((cause) => reported.push(cause)),
    secretOf: () => undefined,
  };
  const follower = recipient();
  new FanOut(thread).add(follower, { epoch: 1, seq: 1, index: 0 });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  for (let tries = 0; tries < 2; tries++) {
    await settled();
    expect(follower.heard).toEqual([]);
    armed.shift()!();
  }
  await settled();
  expect(follower.heard).toEqual([expect.stringContaining('"two"')]);
  expect([reported.length, armed.length]).toEqual([2, 0]);
});
