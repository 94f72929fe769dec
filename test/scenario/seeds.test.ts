// What the documents that Bobbin starts from say, and no other test proves: docs/seeds.md has all of it.
import { describe, expect, it } from "vitest";
import { asked, commandStage, WRITES_THERE_ONLY } from "../support/command-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { responses, stream } from "../support/mock-model.ts";
import { run, say } from "../support/model-replies.ts";
import { rapStage } from "../support/rap-stage.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import { story } from "../support/story.ts";
import { FakeToolServer, json, ok, toolset } from "../support/tool-server.ts";
import type { WireClient } from "../support/wire-client.ts";

const SOCKET = ["--listen", "ws://127.0.0.1:0"];

/** The request of the documentation's first example. */
const startOf = (cwd: string) => ({
  model: "gpt-5.1-codex",
  cwd,
  approvalPolicy: "never",
  sandbox: "workspaceWrite",
  personality: "friendly",
  serviceName: "my_app_server_client",
});

/** What came about a thread since a point, once the host has nothing more to say. */
async function since(client: WireClient, from: number, threadId: string): Promise<string[]> {
  await client.request("thread/loaded/list", {}, "fence");
  return story(client.frames.slice(from), threadId).filter((word) => !word.endsWith("fence"));
}

describe("the examples of the app-server's documentation", () => {
  it("[SEED-1] start, resume, read, list and leave a thread as they are written", async () => {
    const cwd = await freshFolder("work");
    // The example leaves the capability out, and so does this client.
    const { client } = await stdioHost();
    const started = await client.call("thread/start", startOf(cwd));
    const { id: threadId } = started.thread;
    expect(started.thread).toMatchObject({ preview: "", ephemeral: false, createdAt: expect.any(Number) });
    expect(started.thread.modelProvider).toBeTypeOf("string");
    expect((await client.about(threadId, "thread/started")).params.thread.id).toBe(threadId);
    await client.turn(threadId, "Create a TUI");
    await client.call("thread/name/set", { threadId, name: "Bug bash notes" });
    const named = { id: threadId, name: "Bug bash notes", ephemeral: false };

    expect((await client.call("thread/loaded/list")).data).toEqual([threadId]);
    let from = client.frames.length;
    expect(await client.call("thread/unsubscribe", { threadId })).toEqual({ status: "unsubscribed" });
    await client.about(threadId, "thread/closed", from);
    const left = client.frames.slice(from).filter(({ method }) => method !== undefined);
    expect(left.map(({ method, params }) => ({ method, params }))).toEqual([
      { method: "thread/status/changed", params: { threadId, status: { type: "notLoaded" } } },
      { method: "thread/closed", params: { threadId } },
    ]);
    expect(await client.call("thread/unsubscribe", { threadId })).toEqual({ status: "notLoaded" });

    from = client.frames.length;
    const read = await client.call("thread/read", { threadId, includeTurns: true });
    expect(read.thread).toMatchObject({ ...named, status: { type: "notLoaded" } });
    expect(read.thread.turns).toHaveLength(1);
    expect(await since(client, from, threadId)).toEqual([expect.stringMatching(/^reply/)]);
    expect((await client.call("thread/loaded/list")).data).toEqual([]);

    const page = await client.call("thread/list", { cursor: null, limit: 25, sortKey: "created_at" });
    expect(page.data).toMatchObject([
      {
        ...named,
        preview: "Create a TUI",
        status: { type: "notLoaded" },
        createdAt: started.thread.createdAt,
      },
    ]);
    expect(page.nextCursor).toBeNull();

    const resumed = await client.call("thread/resume", { threadId, personality: "friendly" });
    expect(resumed.thread).toMatchObject({ ...named, updatedAt: read.thread.updatedAt });
    // The response has the shape of a start's.
    expect(Object.keys(resumed)).toEqual(expect.arrayContaining(Object.keys(started)));

    await client.turn(threadId, "Go on");
    const { thread } = await client.call("thread/rollback", { threadId, numTurns: 1 });
    expect(thread).toMatchObject(named);
    expect(thread.turns).toHaveLength(1);
    expect(await client.call("thread/compact/start", { threadId })).toEqual({});
    await client.waitFor(
      ({ method, params }) => method === "item/completed" && params.item.type === "contextCompaction",
      "the compaction",
    );
    expect(await client.call("thread/archive", { threadId })).toEqual({});
    await client.about(threadId, "thread/archived");
    expect((await client.call("thread/unarchive", { threadId })).thread).toMatchObject(named);
    await client.about(threadId, "thread/unarchived");
  });

  it("[SEED-2] count turns by the service name of the thread", async () => {
    const host = await spawnHost({ args: SOCKET });
    const client = await host.join();
    await client.turn(await client.startThread(startOf(await freshFolder("work"))), "hello");
    await client.turn(await client.startThread(), "hello");
    const metrics = await (await fetch(`${await host.site()}/metrics`)).text();
    const counted = (service: string): RegExp =>
      new RegExp(`^bobbin_turns_total\\{status="completed",service="${service}"\\} 1$`, "m");
    expect(metrics).toMatch(counted("my_app_server_client"));
    expect(metrics).toMatch(counted(""));
  });
});

describe("a question about a command", () => {
  it.runIf(hasSandbox)(
    "[SEED-3] has additional permissions for clients with the capability alone",
    async () => {
      const folder = await freshFolder("elsewhere");
      const more = {
        sandbox_permissions: "with_additional_permissions",
        justification: "May I?",
        additional_permissions: { file_system: { write: [folder] } },
      };
      const { host, client, threadId } = await commandStage(
        [run({ cmd: `touch ${folder}/a`, ...more }), say("done")],
        WRITES_THERE_ONLY,
      );
      const plain = await host.join();
      await plain.call("thread/resume", { threadId });
      const turnId = await client.say(threadId, "go");
      const [whole, without] = [await asked(client), await asked(plain)];
      const { additionalPermissions, ...params } = whole.params;
      expect(additionalPermissions.fileSystem.write).toEqual([folder]);
      expect(without).toMatchObject({ id: whole.id, method: whole.method });
      expect(without.params).toEqual(params);
      // Those who come later get the same.
      const late = await host.join();
      await late.call("thread/resume", { threadId });
      expect((await asked(late)).params).toEqual(params);
      plain.send({ id: without.id, result: { decision: "decline" } });
      await client.turnCompleted(turnId);
    },
  );
});

describe("a tool server whose base URL has a path", () => {
  it("[SEED-4] is notified of closed threads below that path, where its toolset is", async () => {
    const desk = await FakeToolServer.start();
    desk.on.set("/base/.well-known/rap-toolset", json(toolset(desk.url, { look: {} })));
    desk.on.set("/base/close_thread", ok);
    const based = new Proxy(desk, {
      get: (target, key) => (key === "url" ? `${target.url}/base` : Reflect.get(target, key)),
    });
    const { client, threadId } = await rapStage([say("ok")], { servers: { desk: based } });
    await client.turn(threadId, "hello");
    await client.call("thread/unload", { threadId });
    await eventually(() => desk.at("/base/close_thread").length === 1, "the closing");
    expect(desk.at("/base/close_thread")[0]!.body).toEqual({ thread_id: threadId });
    expect(desk.at("/close_thread")).toEqual([]);
  });
});

describe("a loaded thread", () => {
  it("[SEED-8] keeps what it has bound when the configuration is written and reloaded", async () => {
    const { model, client, threadId } = await commandStage(
      [say("ok")],
      ['developer_instructions = "Be kind."'],
    );
    const instructed = async (): Promise<string[]> => {
      await client.turn(threadId, "hello");
      const text = JSON.stringify(model.asked.at(-1)!.body.input);
      return ["Be kind.", "Be brief."].filter((words) => text.includes(words));
    };
    expect(await instructed()).toEqual(["Be kind."]);
    const edit = { keyPath: "developer_instructions", value: "Be brief.", mergeStrategy: "replace" };
    await client.call("config/batchWrite", { edits: [edit], reloadUserConfig: true });
    expect(await instructed()).toEqual(["Be kind."]);
    expect(await client.call("thread/unload", { threadId })).toEqual({ status: "unloaded" });
    await client.call("thread/resume", { threadId });
    expect(await instructed()).toEqual(["Be brief."]);
  });
});

describe("a search of the web", () => {
  it("[SEED-5] is shown as an item with its query and its action", async () => {
    const item = { type: "web_search_call", id: "ws_1", status: "in_progress" };
    const action = { type: "search", query: "weather: Oslo" };
    const searched = stream(
      responses.stream(
        [
          { type: "response.output_item.added", item },
          { type: "response.output_item.done", item: { ...item, status: "completed", action } },
        ],
        responses.message("Rain."),
      ),
    );
    const { client, threadId } = await commandStage([searched], ['web_search = "live"']);
    await client.turn(threadId, "How is the weather?");
    const items = client.frames.filter(({ params }) => params?.item?.type === "webSearch");
    expect(items.map(({ method }) => method)).toEqual(["item/started", "item/completed"]);
    expect(items[1]!.params.item).toMatchObject({
      id: items[0]!.params.item.id,
      query: "weather: Oslo",
      action: { type: "search", query: "weather: Oslo" },
    });
  });
});
