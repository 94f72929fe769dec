// Two hosts on one home: what the second one says of threads that the first one has loaded.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import type { WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };
const SOCKET = ["--listen", "ws://127.0.0.1:0"];
const INPUT = [{ type: "text", text: "x" }];

describe("a thread that another host has loaded", () => {
  let first: HostProcess;
  let holding: WireClient;
  let asking: WireClient;
  let hostId: string;
  let threadId: string;

  beforeAll(async () => {
    const home = await freshFolder();
    first = await spawnHost({ args: SOCKET, home });
    const second = await spawnHost({ args: SOCKET, home });
    holding = await first.join(undefined, EXPERIMENTAL);
    asking = await second.join(undefined, EXPERIMENTAL);
    threadId = await holding.startThread();
    await holding.turn(threadId, "hello over there");
    hostId = (await holding.call("server/diagnostics")).hostId;
  });

  /** What the second host lists, by thread. */
  const listed = async (): Promise<Record<string, unknown>> => {
    const { data } = await asking.call("thread/list", {});
    return Object.fromEntries(data.map((thread: Record<string, unknown>) => [thread.id, thread.heldBy]));
  };

  it("[HELD-1] is shown with its host in lists, searches and thread/read", async () => {
    const own = await asking.startThread();
    await asking.turn(own, "hello here");
    await eventually(async () => (await listed())[threadId] === hostId, "the holder is listed");
    expect(await listed()).toEqual({ [threadId]: hostId, [own]: undefined });
    const { data } = await asking.call("thread/search", { searchTerm: "over there" });
    const { thread } = await asking.call("thread/read", { threadId });
    for (const shown of [data[0].thread, thread])
      expect(shown).toMatchObject({ status: { type: "notLoaded" }, heldBy: hostId });
    // The holder itself says how it is, and needs no name.
    expect((await holding.call("thread/read", { threadId })).thread).toMatchObject({
      status: { type: "idle" },
    });
    expect((await holding.call("thread/read", { threadId })).thread.heldBy).toBeUndefined();
  });

  it("[HELD-2] is refused with the name of its host by every method that needs it loaded", async () => {
    for (const [method, params] of [
      ["turn/start", { input: INPUT }],
      ["turn/steer", { input: INPUT, expectedTurnId: "t" }],
      ["turn/interrupt", { turnId: "" }],
      ["review/start", { target: { type: "uncommittedChanges" } }],
      ["thread/settings/update", { model: "m" }],
      ["thread/compact/start", {}],
      ["thread/resume", {}],
      ["thread/name/set", { name: "n" }],
      ["thread/rollback", { numTurns: 1 }],
      ["thread/files/restore", { beforeTurnId: "t" }],
      ["thread/inject_items", { items: [{ type: "message", role: "user", content: [] }] }],
      ["thread/approveGuardianDeniedAction", { event: { id: "r", status: "denied" } }],
      ["thread/queue/add", { input: INPUT, clientUserMessageId: "c" }],
      ["thread/queue/start", {}],
      ["thread/goal/set", { objective: "o" }],
      ["thread/shellCommand", { command: "true" }],
      ["thread/backgroundTerminals/list", {}],
      ["thread/archive", {}],
      ["thread/delete", {}],
    ] as const) {
      const { message, data } = await asking.refusal(method, { threadId, ...params });
      expect([method, data.code, data.retryable]).toEqual([method, "heldElsewhere", true]);
      expect(message).toContain(hostId);
    }
    expect(await asking.call("thread/unload", { threadId })).toEqual({ status: "notLoaded", heldBy: hostId });
  });

  it("[HELD-3] has no holder once its host has unloaded it, or was killed", async () => {
    const other = await holding.startThread();
    await holding.turn(other, "hello too");
    await eventually(async () => (await listed())[other] === hostId, "the holder is listed");
    await holding.call("thread/unload", { threadId });
    await eventually(
      async () => (await asking.call("thread/read", { threadId })).thread.heldBy === undefined,
      "the claim is given back",
    );
    await eventually(async () => (await listed())[threadId] === undefined, "no holder is listed");
    expect((await listed())[other]).toBe(hostId);
    await first.kill();
    expect((await asking.call("thread/read", { threadId: other })).thread.heldBy).toBeUndefined();
    await eventually(async () => (await listed())[other] === undefined, "no holder is listed");
    expect(await asking.call("thread/unload", { threadId })).toEqual({ status: "notLoaded" });
    expect((await asking.refusal("turn/start", { threadId, input: INPUT })).data.code).toBe("threadNotFound");
  });
});

describe("a subject", () => {
  it("[HELD-4] does not learn that another subject's thread is loaded elsewhere", async () => {
    const home = await freshFolder();
    await writeFile(join(home, "key"), KEY);
    const args = [
      ...SOCKET,
      "--ws-auth",
      "signed-bearer-token",
      "--ws-shared-secret-file",
      join(home, "key"),
    ];
    const [first, second] = [await spawnHost({ args, home }), await spawnHost({ args, home })];
    const joined = async (host: HostProcess, subject: string): Promise<WireClient> => {
      const client = await host.connect(undefined, signedBearer(subject));
      await client.initialize(EXPERIMENTAL);
      return client;
    };
    const ann = await joined(first, "ann");
    const threadId = await ann.startThread();
    await ann.turn(threadId, "mine");
    const missing = "01a1e11e-8538-703d-834a-e6eb57dc6a9a";
    const [bob, annAgain] = [await joined(second, "bob"), await joined(second, "ann")];
    for (const [method, params] of [
      ["turn/start", { input: INPUT }],
      ["thread/resume", {}],
      ["thread/name/set", { name: "n" }],
      ["thread/archive", {}],
      ["thread/delete", {}],
      ["thread/read", {}],
      ["thread/unload", {}],
    ] as const) {
      const answer = async (client: WireClient, id: string) => {
        const { result, error } = await client.request(method, { threadId: id, ...params });
        return JSON.stringify(result ?? error).replaceAll(id, "ID");
      };
      expect(await answer(bob, threadId)).toBe(await answer(bob, missing));
      expect(await answer(annAgain, threadId)).toMatch(/heldElsewhere|heldBy/);
    }
  });
});

it("[HELD-2] names the host of a thread that it has just started, to those who may see the thread", async () => {
  const home = await freshFolder();
  await writeFile(join(home, "key"), KEY);
  const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
  const first = await spawnHost({ args: [...SOCKET, ...auth], home });
  const second = await spawnHost({ args: [...SOCKET, ...auth, "--stdio"], home });
  const ann = await first.connect(undefined, signedBearer("ann"));
  const bob = await second.connect(undefined, signedBearer("bob"));
  const user = second.stdio();
  for (const client of [ann, bob, user]) await client.initialize(EXPERIMENTAL);
  const threadId = await ann.startThread();
  for (const [method, params] of [
    ["thread/resume", {}],
    ["thread/name/set", { name: "n" }],
    ["turn/start", { input: INPUT }],
  ] as const) {
    const { message, data } = await user.refusal(method, { threadId, ...params });
    expect([method, data.code]).toEqual([method, "heldElsewhere"]);
    expect(message).toMatch(/host [0-9a-f-]{36} on the same home/);
    expect((await bob.refusal(method, { threadId, ...params })).data.code).not.toBe("heldElsewhere");
  }
  await ann.turn(threadId, "hello");
});
