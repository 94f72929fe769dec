import { expect, it } from "vitest";
import { after, decided, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { blobNameOf, blobReference, blobsOf } from "./blobs.ts";

const NAME = `${"ab".repeat(32)}.png`;

it("reads back the name in a reference, and in nothing else", () => {
  expect(blobNameOf(blobReference(NAME))).toBe(NAME);
  for (const text of [
    NAME,
    `kept:${NAME} `,
    `kept:${"ab".repeat(31)}.png`,
    "kept:",
    `kept:${"x".repeat(200)}`,
  ])
    expect(blobNameOf(text)).toBeUndefined();
});

it("names the blobs of every record that has some", () => {
  const blobs = { one: "1.png", two: "2.png" };
  const record = (fields: object) => fields as ThreadRecord;
  expect(blobsOf(record({ type: "itemCompleted", blobs }))).toEqual(["1.png", "2.png"]);
  expect(blobsOf(record({ type: "toolAnswered", blobs }))).toEqual(["1.png", "2.png"]);
  expect(blobsOf(record({ type: "toolAnswered" }))).toEqual([]);
  expect(blobsOf(record({ type: "eventInjected", event: { blobs } }))).toEqual(["1.png", "2.png"]);
  expect(blobsOf(record({ type: "eventInjected", event: {} }))).toEqual([]);
  const kept = [{ kind: "user", blobs }, { kind: "user" }, { kind: "summary", blobs: { other: "3.png" } }];
  expect(blobsOf(record({ type: "compacted", kept }))).toEqual(["1.png", "2.png"]);
  expect(blobsOf(record({ type: "turnEnded", blobs }))).toEqual([]);
});

it("records the blobs of a user's files with the message that names them, however it comes", () => {
  const input = [{ type: "localImage" as const, path: "/work/cat.png" }];
  const blobs = { "/work/cat.png": NAME };
  const message = { userItemId: "v", clientUserMessageId: null, input };
  const starts: Command = {
    ...message,
    kind: "startTurn",
    at: 2,
    turnId: "turn-1",
    outputSchema: null,
    changes: {},
    blobs,
  };
  const steers: Command = { ...message, kind: "steer", at: 2, expectedTurnId: "turn-1", blobs };
  const submission = { id: "q", clientUserMessageId: "c", input };
  const startsQueued: Command = {
    kind: "startQueued",
    at: 2,
    id: null,
    turnId: "turn-1",
    userItemId: "v",
    asked: true,
    blobs,
  };
  const completedBy = (state: ThreadState, command: Command): ThreadRecord | undefined =>
    decided(state, command).records.find(({ type }) => type === "itemCompleted");
  const item = { type: "userMessage", id: "v", content: input };
  for (const record of [
    completedBy(newThread(), starts),
    completedBy(after(newThread(), startTurn()), steers),
    completedBy(after(newThread(), { kind: "queueInput", at: 1, submission }), startsQueued),
  ]) {
    expect(record).toMatchObject({ item, blobs });
    expect(Object.keys(record!).sort()).toEqual(["at", "blobs", "item", "turnId", "type"]);
  }
  expect(completedBy(newThread(), startTurn())).not.toHaveProperty("blobs");
});
