// How a thread comes to be loaded, and what it says of itself: start, resume, fork, read.
import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { deltas, story } from "../support/story.ts";
import type { WireClient } from "../support/wire-client.ts";

const NOBODY = "01a1e0d3-0000-7000-8000-000000000000";
const SOCKET = ["--listen", "ws://127.0.0.1:0"];

let host: HostProcess;
let client: WireClient;
beforeAll(async () => {
  host = await spawnHost({ args: [...SOCKET, "-c", "model=configured"] });
  client = await host.join(undefined, { experimentalApi: true });
});

/** A thread that was talked to, and is not loaded. */
async function stored(texts: readonly string[], params: object = {}): Promise<[string, string[]]> {
  const threadId = await client.startThread(params);
  const turns: string[] = [];
  for (const text of texts) turns.push(await client.turn(threadId, text));
  expect(await client.call("thread/unload", { threadId })).toEqual({ status: "unloaded" });
  return [threadId, turns];
}

function git(cwd: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" };
  const who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
  return execFileSync("git", [...who, ...args], { cwd, env, encoding: "utf8" }).trim();
}

describe("thread/start", () => {
  it("[LIFE-1] [LIFE-2] fills every field, and uses the requested settings", async () => {
    const cwd = await freshFolder("work");
    const before = Math.floor(Date.now() / 1000);
    const from = client.frames.length;
    const { result } = await client.request(
      "thread/start",
      {
        cwd,
        model: "asked",
        approvalPolicy: "never",
        sandbox: "workspace-write",
        personality: "friendly",
        serviceName: "billing",
        sessionStartSource: "startup",
        threadSource: "user",
        developerInstructions: "d",
        baseInstructions: "b",
      },
      "start",
    );
    const { thread } = result;
    await client.about(thread.id, "thread/started", from);
    expect(story(client.frames.slice(from), thread.id)).toEqual(["reply start", "thread/started"]);
    expect(result).toMatchObject({
      model: "asked",
      modelProvider: "offline",
      cwd,
      approvalPolicy: "never",
      sandbox: { type: "workspaceWrite" },
      instructionSources: [],
    });
    expect(thread).toMatchObject({
      sessionId: thread.id,
      forkedFromId: null,
      parentThreadId: null,
      preview: "",
      ephemeral: false,
      historyMode: "paginated",
      modelProvider: "offline",
      model: "asked",
      status: { type: "idle" },
      cwd,
      cliVersion: "0.169.0",
      originator: "scenario",
      source: "vscode",
      threadSource: "user",
      gitInfo: null,
      name: null,
      turns: [],
      canAcceptDirectInput: true,
    });
    for (const key of ["createdAt", "updatedAt", "recencyAt"]) {
      expect(thread[key]).toBeGreaterThanOrEqual(before);
      expect(thread[key]).toBeLessThanOrEqual(Date.now() / 1000);
    }
    const day = new Date(thread.createdAt * 1000).toISOString().slice(0, 10).replaceAll("-", "/");
    expect(thread.path.startsWith(join(host.home, "sessions", day, "rollout-"))).toBe(true);
    expect(thread.path.endsWith(`-${thread.id}.jsonl`)).toBe(true);
    // The file is made when it is first used.
    await client.turn(thread.id, "to be kept");
    expect(existsSync(thread.path)).toBe(true);
    expect(statSync(thread.path).mode & 0o077).toBe(0);
  });

  it("[LIFE-3] leaves nothing on disk of an ephemeral one, which has no path and is not listed", async () => {
    const { thread } = await client.call("thread/start", { ephemeral: true });
    expect(thread).toMatchObject({ ephemeral: true, path: null });
    await client.turn(thread.id, "hush");
    expect((await client.call("thread/read", { threadId: thread.id })).thread.preview).toBe("hush");
    expect((await client.call("thread/resume", { threadId: thread.id })).thread.turns).toHaveLength(1);
    const { data } = await client.call("thread/list", { limit: 100 });
    expect(data.map(({ id }: { id: string }) => id)).not.toContain(thread.id);
    await client.call("thread/unload", { threadId: thread.id });
    expect((await client.refusal("thread/read", { threadId: thread.id })).message).toBe(
      `thread not loaded: ${thread.id}`,
    );
    expect((await client.refusal("thread/resume", { threadId: thread.id })).message).toBe(
      `no rollout found for thread id ${thread.id}`,
    );
  });

  it("[LIFE-4] reads commit, branch and origin from the files of a repository", async () => {
    const repo = join(await freshFolder("git"), "repo");
    await mkdir(join(repo, "deep", "down"), { recursive: true });
    git(repo, "init", "-q");
    const gitInfo = async (cwd: string): Promise<object> =>
      (await client.call("thread/start", { cwd, ephemeral: true })).thread.gitInfo;
    expect(await gitInfo(repo)).toEqual({ sha: null, branch: "main", originUrl: null });
    await writeFile(join(repo, "a"), "a");
    git(repo, "add", "a");
    git(repo, "commit", "-qm", "one");
    git(repo, "remote", "add", "upstream", "https://example.com/other.git");
    git(repo, "remote", "add", "origin", "https://example.com/repo.git");
    const sha = git(repo, "rev-parse", "HEAD");
    const originUrl = "https://example.com/repo.git";
    expect(await gitInfo(join(repo, "deep", "down"))).toEqual({ sha, branch: "main", originUrl });
    git(repo, "pack-refs", "--all");
    expect(await gitInfo(repo)).toEqual({ sha, branch: "main", originUrl });
    git(repo, "worktree", "add", "-q", "../tree", "-b", "feature/x");
    const tree = join(repo, "../tree");
    git(tree, "commit", "-qm", "two", "--allow-empty");
    const second = git(tree, "rev-parse", "HEAD");
    expect(second).not.toBe(sha);
    expect(await gitInfo(tree)).toEqual({ sha: second, branch: "feature/x", originUrl });
    git(tree, "checkout", "-q", "--detach");
    expect(await gitInfo(tree)).toEqual({ sha: second, branch: null, originUrl });
    // A fork is in a repository as any new thread is.
    const origin = await client.startThread({ cwd: tree });
    await client.turn(origin, "one");
    const { thread: fork } = await client.call("thread/fork", { threadId: origin });
    expect(fork.gitInfo).toEqual({ sha: second, branch: null, originUrl });
    // What the files say when a thread starts is kept with it.
    const threadId = await client.startThread({ cwd: tree });
    await client.call("thread/unload", { threadId });
    git(tree, "checkout", "-q", "feature/x");
    expect((await client.call("thread/resume", { threadId })).thread.gitInfo.branch).toBeNull();
  });

  it("[LIFE-5] takes the preview from the first user message, and only turns touch updatedAt", async () => {
    const threadId = await client.startThread();
    await client.turn(threadId, "what it is about");
    await client.turn(threadId, "something else");
    const { thread } = await client.call("thread/read", { threadId });
    expect(thread.preview).toBe("what it is about");
    await client.call("thread/unload", { threadId });
    await eventually(() => Math.floor(Date.now() / 1000) > thread.updatedAt, "another second");
    const resumed = (await client.call("thread/resume", { threadId })).thread;
    expect(resumed.updatedAt).toBe(thread.updatedAt);
    await client.call("thread/name/set", { threadId, name: "n" });
    expect((await client.call("thread/read", { threadId })).thread.updatedAt).toBe(thread.updatedAt);
    await client.turn(threadId, "now");
    const after = (await client.call("thread/read", { threadId })).thread;
    expect(after.updatedAt).toBeGreaterThan(thread.updatedAt);
    expect(after.createdAt).toBe(thread.createdAt);
  });
});

describe("thread/resume", () => {
  it("[LIFE-6] [GOAL-7] of an unloaded thread notifies of idle, replies, then notifies of usage and goal; of a loaded one, of no status", async () => {
    const [threadId, turns] = await stored(["one", "two"]);
    const witness = await host.join();
    const ask = async (params: object, id: string): Promise<string[]> => {
      const from = client.frames.length;
      await client.request("thread/resume", { threadId, ...params }, id);
      await client.call("thread/loaded/list");
      return story(client.frames.slice(from, -1), threadId);
    };
    const idle = "thread/status/changed idle";
    const told = ["thread/tokenUsage/updated", "thread/goal/cleared"];
    expect(await ask({}, "cold")).toEqual([idle, "reply cold", ...told]);
    expect(client.told("thread/tokenUsage/updated").at(-1)!.params.turnId).toBe(turns[1]);
    expect(await ask({}, "warm")).toEqual(["reply warm", ...told]);
    expect(await ask({ excludeTurns: true }, "less")).toEqual(["reply less", "thread/goal/cleared"]);
    const page = { excludeTurns: true, initialTurnsPage: { limit: 1 } };
    expect(await ask(page, "page")).toEqual(["reply page", ...told]);
    await client.call("thread/unload", { threadId });
    await client.about(threadId, "thread/closed");
    expect(await ask({ excludeTurns: true }, "cold less")).toEqual([idle, "reply cold less", ...told]);
    await witness.call("thread/loaded/list");
    expect(story(witness.frames, threadId).slice(1, -1)).toEqual([
      idle,
      "thread/status/changed notLoaded",
      "thread/closed",
      idle,
    ]);
    await witness.close();
  });

  it("[LIFE-6] has the thread's own effort when it is loaded again, or that of the request", async () => {
    const [threadId] = await stored(["one"], { config: { model_reasoning_effort: "high" } });
    const resumed = async (params: object = {}): Promise<unknown> => {
      const { reasoningEffort, thread } = await client.call("thread/resume", { threadId, ...params });
      expect(thread.reasoningEffort).toBe(reasoningEffort);
      return reasoningEffort;
    };
    expect(await resumed()).toBe("high");
    await client.call("thread/unload", { threadId });
    await client.about(threadId, "thread/closed");
    expect(await resumed({ config: { model_reasoning_effort: "low" } })).toBe("low");
  });

  it("[LIFE-7] returns all turns, none, or a page of them with cursors", async () => {
    const [threadId, turns] = await stored(["one", "two", "three"]);
    const full = await client.call("thread/resume", { threadId });
    expect(full.thread.historyMode).toBe("paginated");
    expect(full.thread.turns.map(({ id }: { id: string }) => id)).toEqual(turns);
    expect(full.thread.turns[0]).toMatchObject({ itemsView: "full", status: "completed" });
    expect(full.initialTurnsPage).toBeNull();
    const page = await client.call("thread/resume", {
      threadId,
      excludeTurns: true,
      initialTurnsPage: { limit: 1 },
    });
    expect(page.thread.turns).toEqual([]);
    const { turnsBackwardsCursor, itemsBackwardsCursor } = page;
    const same = await client.call("thread/turns/list", { threadId, limit: 1 });
    expect(page.initialTurnsPage).toEqual(same);
    const back = await client.call("thread/turns/list", { threadId, cursor: turnsBackwardsCursor });
    expect(back.data.map(({ id }: { id: string }) => id)).toEqual(turns.toReversed());
    const items = await client.call("thread/items/list", {
      threadId,
      cursor: itemsBackwardsCursor,
      sortDirection: "desc",
    });
    expect(items.data).toHaveLength(6);
    expect(items.data[0]).toMatchObject({ turnId: turns[2], item: { type: "agentMessage" } });
    const empty = await client.startThread();
    expect(await client.call("thread/resume", { threadId: empty })).toMatchObject({
      turnsBackwardsCursor: null,
      itemsBackwardsCursor: null,
    });
  });

  it("[LIFE-8] of a running thread shows the turn, and nothing of its text is missed", async () => {
    const threadId = await client.startThread();
    // The first answer is long; later ones are not.
    await client.turn(threadId, "quick");
    const turnId = await client.speaking(threadId, "slowly");
    const other = await host.join();
    const { thread } = await other.call("thread/resume", { threadId });
    expect(thread.status).toEqual({ type: "active", activeFlags: [] });
    expect(thread.turns[1]).toMatchObject({ id: turnId, status: "inProgress", completedAt: null });
    expect(thread.turns[1].items[0]).toMatchObject({ type: "userMessage" });
    const { params } = await other.turnCompleted(turnId);
    const [answer] = params.turn.items;
    expect(deltas(other.frames, answer.id)).toBe(answer.text);
    await other.close();
  });

  it("[LIFE-9] uses the requested settings, else the thread's last ones, else the configuration", async () => {
    const home = await freshFolder();
    const first = await stdioHost({ home, args: ["-c", "model=configured"] });
    const { thread, model } = await first.client.call("thread/start");
    expect(model).toBe("configured");
    const threadId = thread.id;
    const again = async (one: WireClient, params: object = {}): Promise<object> => {
      await one.call("thread/unload", { threadId });
      const { model, approvalPolicy, sandbox } = await one.call("thread/resume", { threadId, ...params });
      return { model, approvalPolicy, sandbox: sandbox.type };
    };
    expect(await again(first.client)).toEqual({
      model: "configured",
      approvalPolicy: "on-request",
      sandbox: "readOnly",
    });
    const input = [{ type: "text", text: "x" }];
    const { turn } = await first.client.call("turn/start", {
      threadId,
      input,
      model: "used",
      approvalPolicy: "never",
    });
    await first.client.turnCompleted(turn.id);
    const used = { model: "used", approvalPolicy: "never", sandbox: "readOnly" };
    expect(await again(first.client)).toEqual(used);
    const asked = { model: "asked", approvalPolicy: "never", sandbox: "dangerFullAccess" };
    expect(await again(first.client, { model: "asked", sandbox: "danger-full-access" })).toEqual(asked);
    first.client.end();
    await first.host.exited;
    const second = await stdioHost({ home, args: ["-c", "model=other", "-c", "sandbox_mode=read-only"] });
    expect(await again(second.client)).toEqual(asked);
    // A loaded thread stays what it is.
    expect((await second.client.call("thread/resume", { threadId, model: "late" })).model).toBe("asked");
  });

  it("[LIFE-10] can be asked for threads without a user message", async () => {
    const [threadId] = await stored([]);
    const { data } = await client.call("thread/list", { limit: 100 });
    expect(data.map(({ id }: { id: string }) => id)).not.toContain(threadId);
    expect((await client.call("thread/read", { threadId })).thread.status.type).toBe("notLoaded");
    expect((await client.call("thread/resume", { threadId })).thread).toMatchObject({
      id: threadId,
      turns: [],
    });
  });
});

describe("thread/fork", () => {
  it("[LIFE-16] has the folder and policy of its origin; the rest is configured or requested", async () => {
    const [threadId] = await stored(["one"], {
      cwd: "/",
      model: "own",
      sandbox: "workspace-write",
      approvalPolicy: "untrusted",
      serviceTier: "flex",
      threadSource: "user",
      config: { model_reasoning_effort: "high" },
    });
    const readOnly = { type: "readOnly", networkAccess: false };
    const { thread, ...settings } = await client.call("thread/fork", { threadId });
    expect(thread).toMatchObject({ cwd: "/", model: "configured", threadSource: null });
    expect(settings).toMatchObject({
      cwd: "/",
      approvalPolicy: "untrusted",
      model: "configured",
      serviceTier: null,
      sandbox: readOnly,
      reasoningEffort: null,
    });
    const asked = { model: "asked", threadSource: "user", config: { model_reasoning_effort: "low" } };
    expect(await client.call("thread/fork", { threadId, ...asked })).toMatchObject({
      model: "asked",
      reasoningEffort: "low",
      thread: { threadSource: "user" },
    });
  });

  it("[LIFE-11] copies turns up to a point, with their ids, and notifies of a new thread", async () => {
    const [threadId, turns] = await stored(["one", "two", "three"]);
    await client.call("thread/name/set", { threadId, name: "origin" });
    const before = await client.call("thread/read", { threadId, includeTurns: true });
    const forked = async (params: object): Promise<string[]> => {
      const from = client.frames.length;
      const { result } = await client.request("thread/fork", { threadId, ...params }, "fork");
      const { thread } = result;
      const started = await client.about(thread.id, "thread/started", from);
      expect(thread).toMatchObject({ forkedFromId: threadId, name: "origin", status: { type: "idle" } });
      expect(thread.id).not.toBe(threadId);
      expect(started.params.thread).toEqual({ ...thread, turns: [] });
      const told = story(client.frames.slice(from), thread.id);
      expect(told[0]).toBe("reply fork");
      expect(told.filter((word) => word.startsWith("thread/status"))).toEqual([]);
      const { data } = await client.call("thread/turns/list", { threadId: thread.id, sortDirection: "asc" });
      const ids = data.map(({ id }: { id: string }) => id);
      if (!("excludeTurns" in params)) expect(thread.turns.map(({ id }: { id: string }) => id)).toEqual(ids);
      else expect(thread.turns).toEqual([]);
      return ids;
    };
    expect(await forked({})).toEqual(turns);
    expect(await forked({ lastTurnId: turns[1] })).toEqual(turns.slice(0, 2));
    expect(await forked({ beforeTurnId: turns[1], excludeTurns: true })).toEqual(turns.slice(0, 1));
    expect(await forked({ beforeTurnId: turns[0] })).toEqual([]);
    expect(await forked({ ephemeral: true, excludeTurns: true })).toEqual(turns);
    expect((await client.refusal("thread/fork", { threadId, lastTurnId: "zzz" })).message).toBe(
      "turn not found: zzz",
    );
    expect(
      (await client.refusal("thread/fork", { threadId, lastTurnId: turns[0], beforeTurnId: turns[1] }))
        .message,
    ).toBe("`beforeTurnId` cannot be combined with `lastTurnId`");
    // The origin is as it was, and was not loaded.
    expect(await client.call("thread/read", { threadId, includeTurns: true })).toEqual(before);
  });

  it("[LIFE-11] has turns that were rolled back neither as its own nor in searches", async () => {
    const threadId = await client.startThread();
    const first = await client.turn(threadId, "the first okapi");
    const dropped = [await client.turn(threadId, "a dropped okapi"), await client.turn(threadId, "another")];
    await client.call("thread/rollback", { threadId, numTurns: 2 });
    const last = await client.turn(threadId, "the last one");
    const ids = ({ turns }: { turns: readonly { id: string }[] }) => turns.map(({ id }) => id);
    for (const [point, kept] of [
      [{}, [first, last]],
      [{ lastTurnId: first }, [first]],
      [{ beforeTurnId: last }, [first]],
    ] as const) {
      const { thread } = await client.call("thread/fork", { threadId, ...point });
      expect(ids(thread)).toEqual(kept);
      const next = await client.turn(thread.id, "and now");
      await client.call("thread/unload", { threadId: thread.id });
      const read = await client.call("thread/read", { threadId: thread.id, includeTurns: true });
      expect(ids(read.thread)).toEqual([...kept, next]);
      const { data } = await client.call("thread/search", { searchTerm: "dropped okapi" });
      expect(data).toEqual([]);
    }
    for (const turnId of dropped)
      expect((await client.refusal("thread/fork", { threadId, lastTurnId: turnId })).data.code).toBe(
        "turnNotFound",
      );
  });

  it("[LIFE-12] of a running thread leaves it running, and is a thread that can be talked to", async () => {
    const threadId = await client.startThread();
    const turnId = await client.turn(threadId, "done");
    const running = await client.speaking(threadId);
    const { thread } = await client.call("thread/fork", { threadId });
    expect(thread.turns.map(({ id }: { id: string }) => id)).toContain(turnId);
    expect(thread.turns.filter(({ status }: { status: string }) => status === "inProgress")).toEqual([]);
    expect((await client.call("thread/read", { threadId })).thread.status.type).toBe("active");
    const { params } = await client.turnCompleted(await client.say(thread.id, "on its own"));
    expect(params.turn.status).toBe("completed");
    await client.call("thread/unload", { threadId, interrupt: true });
    await client.turnCompleted(running);
  });
});

describe("thread/read", () => {
  it("[LIFE-13] loads nothing, notifies of nothing and changes nothing", async () => {
    const [threadId, turns] = await stored(["one"]);
    const witness = await host.join();
    const { path } = (await client.call("thread/read", { threadId })).thread;
    const { mtimeMs, size } = statSync(path);
    const from = client.frames.length;
    const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(thread).toMatchObject({
      status: { type: "notLoaded" },
      environments: null,
      canAcceptDirectInput: null,
      turns: [{ id: turns[0], itemsView: "full" }],
    });
    for (const spelled of [threadId.toUpperCase(), threadId.replaceAll("-", ""), `urn:uuid:${threadId}`]) {
      expect((await client.call("thread/read", { threadId: spelled })).thread.id).toBe(threadId);
    }
    expect((await client.call("thread/loaded/list")).data).not.toContain(threadId);
    await witness.call("thread/loaded/list");
    expect(story(client.frames.slice(from)).filter((word) => !word.startsWith("reply"))).toEqual([]);
    expect(story(witness.frames).filter((word) => !word.startsWith("reply"))).toEqual([]);
    expect(statSync(path)).toMatchObject({ mtimeMs, size });
    await witness.close();
  });

  it("[LIFE-14] refuses with the texts that clients compare, and a code", async () => {
    const words = async (method: string, params: object): Promise<[string, string, number]> => {
      const { message, data, code } = await client.refusal(method, params);
      return [message, data.code, code];
    };
    const notLoaded = [`thread not loaded: ${NOBODY}`, "threadNotLoaded", -32600];
    for (const method of ["thread/read", "thread/turns/list", "thread/items/list"]) {
      expect(await words(method, { threadId: NOBODY })).toEqual(notLoaded);
    }
    const notFound = [`thread not found: ${NOBODY}`, "threadNotFound", -32600];
    for (const [method, more] of [
      ["turn/start", { input: [] }],
      ["thread/settings/update", {}],
      ["thread/revert", { beforeTurnId: "x" }],
      ["thread/rollback", { numTurns: 1 }],
      ["thread/inject_items", { items: [{}] }],
      ["thread/section/move", { sectionId: null }],
    ] as const) {
      expect(await words(method, { threadId: NOBODY, ...more }), method).toEqual(notFound);
    }
    const noRollout = [`no rollout found for thread id ${NOBODY}`, "noRollout", -32600];
    for (const [method, more] of [
      ["thread/resume", {}],
      ["thread/fork", {}],
      ["thread/archive", {}],
      ["thread/delete", {}],
      ["thread/name/set", { name: "x" }],
      ["thread/metadata/update", { gitInfo: { branch: "x" } }],
      ["thread/loadSettings/update", { baseInstructions: "x" }],
      ["thread/memoryMode/set", { mode: "enabled" }],
    ] as const) {
      expect(await words(method, { threadId: NOBODY, ...more }), method).toEqual(noRollout);
    }
    for (const [method, more] of [
      ["thread/read", {}],
      ["thread/resume", {}],
      ["thread/fork", {}],
      ["thread/unsubscribe", {}],
      ["thread/archive", {}],
      ["thread/unarchive", {}],
      ["thread/delete", {}],
      ["thread/name/set", { name: "x" }],
      ["thread/turns/list", {}],
      ["turn/start", { input: [] }],
    ] as const) {
      for (const threadId of ["bad", "", `${NOBODY}0`]) {
        const [message, code] = await words(method, { threadId, ...more });
        expect(message, method).toMatch(/^invalid thread id: /);
        expect(code).toBe("invalidThreadId");
      }
    }
    const malformed = await client.refusal("thread/unload", { threadId: "bad" });
    expect(malformed).toMatchObject({ code: -32602, message: expect.stringMatching(/^invalid thread id: /) });
  });
});
