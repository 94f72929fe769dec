// What people have seen of a thread: thread/readState/update and thread/readState/changed.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { MockModel, refuse, responses, silent, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import type { WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };
const CHANGED = "thread/readState/changed";
const NOBODY = "01a1e0d3-0000-7000-8000-000000000000";

interface ReadState {
  readonly firstUnread: { readonly type: string; readonly turnId?: string } | null;
  readonly revision: string;
}

const read = async (client: WireClient, threadId: string): Promise<ReadState> =>
  (await client.call("thread/read", { threadId })).readState;
const update = (threadId: string, expectedRevision: string, type: "read" | "unread") => ({
  threadId,
  expectedRevision,
  operation: { type },
});
const mark = async (
  client: WireClient,
  threadId: string,
  expectedRevision: string,
  type: "read" | "unread",
): Promise<ReadState> =>
  (await client.call("thread/readState/update", update(threadId, expectedRevision, type))).readState;
/** Marks the thread as read, whatever it was. */
const seen = async (client: WireClient, threadId: string): Promise<ReadState> =>
  mark(client, threadId, (await read(client, threadId)).revision, "read");
const told = (client: WireClient): ReadState[] => client.told(CHANGED).map(({ params }) => params.readState);
const turn = (turnId: string) => ({ type: "turn", turnId });

describe.each(["stdio", "websocket"] as const)("the read state, on %s", (transport) => {
  /** A host, a client on the transport, and another one on the other. */
  async function stage(home?: string): Promise<{ host: HostProcess; client: WireClient; other: WireClient }> {
    const args = ["--listen", "ws://127.0.0.1:0", "--stdio"];
    const host = await spawnHost({ args, ...(home !== undefined && { home }) });
    const [socket, stdio] = [await host.join(undefined, EXPERIMENTAL), host.stdio()];
    await stdio.initialize(EXPERIMENTAL);
    return transport === "stdio"
      ? { host, client: stdio, other: socket }
      : { host, client: socket, other: stdio };
  }

  it("[READ-1] starts with the first result, and is sent to subscribers of the thread", async () => {
    const { host, client, other } = await stage();
    const plain = await host.join();
    const threadId = await client.startThread();
    expect(await read(client, threadId)).toEqual({ firstUnread: null, revision: `initial:${threadId}` });
    await plain.call("thread/resume", { threadId });
    const first = await client.turn(threadId, "Hello");
    const methods = client.frames.map(({ method }) => method);
    expect(methods.slice(-3)).toEqual([CHANGED, "thread/status/changed", "turn/completed"]);
    const [state] = told(client);
    expect(state).toEqual({ firstUnread: turn(first), revision: expect.any(String) });
    expect(await read(other, threadId)).toEqual(state);
    expect((await other.call("thread/list", {})).readStates).toEqual({ [threadId]: state });
    // A second one is a change, but not the first that is unread.
    await client.turn(threadId, "And again");
    const [, second] = told(client);
    expect(second).toEqual({ firstUnread: turn(first), revision: expect.any(String) });
    expect(second!.revision).not.toBe(state!.revision);
    expect((await other.call("thread/list", {})).readStates).toEqual({ [threadId]: second });
    // Who does not follow it, and who does without the capability, hears of the turns and not of this.
    await plain.until(() => plain.count("turn/completed") === 2, "two turns");
    expect([other.count(CHANGED), plain.count(CHANGED)]).toEqual([0, 0]);
  });

  it("[READ-2] changes only with the current revision; others are notified before the reply", async () => {
    const { client, other } = await stage();
    const threadId = await client.startThread();
    const turnId = await client.turn(threadId, "Hello");
    const { revision } = await read(other, threadId);
    const seenByOther = await mark(other, threadId, revision, "read");
    expect(seenByOther).toEqual({ firstUnread: null, revision: expect.any(String) });
    await client.until(() => client.count(CHANGED) === 2, "the mark");
    expect(told(client)).toEqual([{ firstUnread: turn(turnId), revision }, seenByOther]);
    // A mark upon what is not there any more is not taken.
    expect(await client.refusal("thread/readState/update", update(threadId, revision, "unread"))).toEqual({
      code: -32600,
      message: "read state changed",
      data: {
        code: "readStateChanged",
        retryable: false,
        reason: "readStateConflict",
        readState: seenByOther,
      },
    });
    expect(await read(other, threadId)).toEqual(seenByOther);
    const unread = await mark(client, threadId, seenByOther.revision, "unread");
    expect(unread).toEqual({ firstUnread: { type: "threadStart" }, revision: expect.any(String) });
    const [notified, replied] = client.frames.slice(-2);
    expect([notified!.method, notified!.params.readState]).toEqual([CHANGED, unread]);
    expect(replied!.result).toEqual({ readState: unread });
    expect(other.count(CHANGED)).toBe(0);
    // It stays so through turns, until someone has read it.
    await client.turn(threadId, "Go on");
    expect((await read(client, threadId)).firstUnread).toEqual({ type: "threadStart" });
    expect((await seen(client, threadId)).firstUnread).toBeNull();
  });

  it("[READ-2] is refused without a thread", async () => {
    const { client } = await stage();
    const ask = (threadId: string) =>
      client.refusal("thread/readState/update", update(threadId, "x", "read"));
    expect(await ask(NOBODY)).toEqual({
      code: -32600,
      message: `thread not loaded: ${NOBODY}`,
      data: { code: "threadNotLoaded", retryable: false },
    });
    expect(await ask("bad")).toMatchObject({ code: -32602, data: { code: "malformedThreadId" } });
  });

  it("[READ-4] outlives an archive, a restart, a kill and a lost index", async () => {
    const home = await freshFolder("home");
    let { host, client, other } = await stage(home);
    const threadId = await client.startThread();
    const turnId = await client.turn(threadId, "Hello");
    await client.call("thread/archive", { threadId });
    const state = await read(client, threadId);
    expect(state.firstUnread).toEqual(turn(turnId));
    expect((await other.call("thread/list", { archived: true })).readStates).toEqual({ [threadId]: state });
    await client.call("thread/unarchive", { threadId });
    // It is not loaded, and nobody follows it: a mark is kept all the same.
    const marked = await mark(other, threadId, state.revision, "unread");
    host.signal("SIGTERM");
    expect((await host.exited).code).toBe(0);
    ({ host, client, other } = await stage(home));
    expect(await read(client, threadId)).toEqual(marked);
    expect((await client.call("thread/list", {})).readStates).toEqual({ [threadId]: marked });
    await client.call("thread/resume", { threadId });
    const last = await mark(client, threadId, marked.revision, "read");
    await host.kill();
    for (const name of readdirSync(home)) if (name.startsWith("threads.v")) rmSync(join(home, name));
    ({ host, client, other } = await stage(home));
    expect((await other.call("thread/list", {})).readStates).toEqual({ [threadId]: last });
    expect(await read(client, threadId)).toEqual(last);
  });

  it("[READ-4] goes back with the turn that a revert drops, and is not taken over by a fork", async () => {
    const { client, other } = await stage();
    const threadId = await client.startThread();
    const first = await client.turn(threadId, "One");
    const second = await client.turn(threadId, "Two");
    await seen(client, threadId);
    const third = await client.turn(threadId, "Three");
    const { thread } = await other.call("thread/fork", { threadId });
    expect(await read(client, thread.id)).toEqual({ firstUnread: null, revision: `initial:${thread.id}` });
    const before = await read(client, threadId);
    expect(before.firstUnread).toEqual(turn(third));
    await client.call("thread/revert", { threadId, beforeTurnId: third });
    const after = await read(client, threadId);
    expect(after).toEqual({ firstUnread: null, revision: expect.any(String) });
    expect(after.revision).not.toBe(before.revision);
    expect(told(client).at(-1)).toEqual(after);
    // What was read before has not changed by another revert.
    await client.call("thread/revert", { threadId, beforeTurnId: second });
    expect(await read(client, threadId)).toEqual(after);
    await client.call("thread/revert", { threadId, beforeTurnId: first });
    expect(await read(client, threadId)).toEqual(after);
  });

  it("[READ-5] does not exist for an ephemeral thread", async () => {
    const { client } = await stage();
    const threadId = await client.startThread({ ephemeral: true });
    await client.turn(threadId, "Hello");
    expect(await read(client, threadId)).toBeNull();
    expect(await client.refusal("thread/readState/update", update(threadId, "x", "read"))).toEqual({
      code: -32600,
      message: "thread read state unavailable",
      data: { code: "noReadState", retryable: false },
    });
    expect(client.count(CHANGED)).toBe(0);
  });
});

it("[READ-3] counts completed and failed turns, and no others", async () => {
  const model = await MockModel.start(say("hello"));
  const { home, cwd } = await modelHome("responses", model.url, {
    top: ['sandbox_mode = "danger-full-access"'],
    provider: ["request_max_retries = 0", "stream_max_retries = 0"],
  });
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"], env: { SHELL: "/bin/sh" } });
  const client = await host.join(undefined, EXPERIMENTAL);
  const threadId = await client.startThread({ cwd });
  /** The turn that is unread after something; it is read then. */
  const unreadAfter = async (work: () => Promise<unknown>): Promise<ReadState["firstUnread"]> => {
    await work();
    const { firstUnread } = await read(client, threadId);
    await seen(client, threadId);
    return firstUnread;
  };
  const ended = async (method: string, params: object): Promise<string> => {
    const from = client.frames.length;
    await client.call(method, { threadId, ...params });
    return (await client.about(threadId, "turn/completed", from)).params.turn.id;
  };
  let turnId = "";
  const say1 = async () => {
    turnId = await client.turn(threadId, "go");
  };
  expect(await unreadAfter(say1)).toEqual(turn(turnId));
  // Only comments on what it does.
  model.reply(stream(responses.stream(responses.message("I look around.", "msg_2", "commentary"))));
  expect(await unreadAfter(say1)).toBeNull();
  model.reply(stream(responses.stream(responses.message("All done.", "msg_3", "final_answer"))));
  expect(await unreadAfter(say1)).toEqual(turn(turnId));
  model.reply(stream(responses.stream()));
  expect(await unreadAfter(say1)).toBeNull();
  model.reply(refuse(400, { error: { message: "no" } }));
  expect(await unreadAfter(say1)).toEqual(turn(turnId));
  model.reply(silent(""));
  const interrupted = async () => {
    const running = await client.say(threadId, "go");
    await client.call("turn/interrupt", { threadId, turnId: running });
    await client.turnCompleted(running);
  };
  expect(await unreadAfter(interrupted)).toBeNull();
  model.reply(say("in short"));
  expect(await unreadAfter(() => ended("thread/compact/start", {}))).toBeNull();
  expect(await unreadAfter(() => ended("thread/shellCommand", { command: "true" }))).toBeNull();
  model.reply(say("looks fine"));
  let review = "";
  const reviewed = async () => {
    review = await ended("review/start", { target: { type: "custom", instructions: "look" } });
  };
  expect(await unreadAfter(reviewed)).toEqual(turn(review));
});
