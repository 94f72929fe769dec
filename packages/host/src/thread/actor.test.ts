import { expect, it } from "vitest";
import { fold } from "../core/fold.ts";
import type { ThreadRecord } from "../core/records.ts";
import { MemoryJournal } from "../journal/memory.ts";
import { nodePlatform } from "../platform/node.ts";
import { Actor } from "./actor.ts";
import { allTurns } from "./history.ts";

const created: ThreadRecord = {
  type: "created",
  at: 1,
  facts: {
    id: "t",
    owner: "o",
    ephemeral: true,
    source: "vscode",
    originator: null,
    cliVersion: "0",
    serviceName: null,
    threadSource: null,
    forkedFromId: null,
    parentThreadId: null,
  },
  settings: {
    model: "m",
    modelProvider: "p",
    serviceTier: null,
    cwd: "/",
    approvalPolicy: "never",
    approvalsReviewer: "user",
    sandbox: { type: "dangerFullAccess" },
    effort: null,
    summary: null,
    personality: null,
  },
  load: {},
  docs: [],
};

it("gives every turn a commit of its own to begin with, also if several come at once", async () => {
  const journal = new MemoryJournal();
  await journal.append({ seq: 1, epoch: 1, prev: 0, records: [created] });
  const actor = new Actor({ state: fold(undefined, created), seq: 1 }, journal, {
    platform: nodePlatform(),
    broadcast() {},
    mustSync: () => false,
    reconcile() {},
    committed() {},
    woken() {},
    visited() {},
    failed() {},
    supervise() {},
    secretOf: () => undefined,
  });
  const start = {
    kind: "startTurn",
    at: 2,
    userItemId: "u",
    clientUserMessageId: null,
    input: [],
    outputSchema: null,
    changes: {},
  } as const;
  await Promise.all([
    actor.submit({ ...start, turnId: "a" }),
    actor.submit({ kind: "compact", at: 2, turnId: "b" }),
    actor.submit({ kind: "interrupt", at: 2, turnId: "b" }),
    actor.submit({ ...start, turnId: "c" }),
  ]);
  const starts: number[] = [];
  for await (const { commit } of journal.forwards()) {
    starts.push(commit.records.filter(({ type }) => type === "turnStarted").length);
  }
  expect(starts).toEqual([0, 1, 1, 1]);
  expect((await allTurns(journal)).map(({ id, status }) => `${id} ${status}`)).toEqual([
    "a interrupted",
    "b interrupted",
    "c inProgress",
  ]);
});
