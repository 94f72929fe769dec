// What tool servers are told when threads close, on the real program.
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnHost } from "../support/host-process.ts";
import { responses } from "../support/mock-model.ts";
import { answer, call, EXPERIMENTAL, rapStage, SOCKET, say } from "../support/rap-stage.ts";
import { type Behave, drip, FakeToolServer, hang, ok, reset, status } from "../support/tool-server.ts";

const closings = (server: FakeToolServer): string[] =>
  server.at("/close_thread").map(({ body }) => body.thread_id);

describe("a thread that closes", () => {
  it("[RAPR-90] is notified to every configured server, used or not, for whatever reason it closes", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    const mail = await FakeToolServer.start({ send: {} }, { name: "post" });
    const stage = await rapStage([say("ok")], {
      servers: { desk, mail },
      top: ["thread_unload_delay_secs = 0"],
    });
    const { client, host } = stage;
    const used = async (params: object = {}) => {
      const id = await client.startThread(params);
      await client.turn(id, "hello");
      return id;
    };
    const unloaded = await used();
    await client.call("thread/unload", { threadId: unloaded });
    const left = await used();
    await client.call("thread/unsubscribe", { threadId: left });
    const archived = await used();
    await client.call("thread/archive", { threadId: archived });
    const deleted = await used();
    await client.call("thread/delete", { threadId: deleted });
    const ephemeral = await used({ ephemeral: true });
    await client.call("thread/unload", { threadId: ephemeral });
    const unused = await client.startThread();
    await client.call("thread/unload", { threadId: unused });
    const told = [unloaded, left, archived, deleted, ephemeral, unused];
    await eventually(() => closings(desk).length === told.length, "six closings");
    // What is not loaded does not close a second time.
    await client.call("thread/archive", { threadId: unloaded });
    await client.call("thread/delete", { threadId: left });
    const last = await used();
    host.signal("SIGTERM");
    await host.exited;
    for (const server of [desk, mail]) {
      expect(closings(server).sort()).toEqual([...told, stage.threadId, last].sort());
      for (const { method, headers, body } of server.at("/close_thread")) {
        expect([method, headers["content-type"], Object.keys(body)]).toEqual([
          "POST",
          "application/json",
          ["thread_id"],
        ]);
      }
    }
  });

  it("[RAPR-91] [RAPR-92] is notified once to each, and nothing waits for servers that hang or fail", async () => {
    const behaviours: Record<string, Behave> = {
      good: ok,
      failing: status(500),
      moved: status(301, { location: "/elsewhere" }),
      resetting: reset,
      hanging: hang,
      dripping: drip,
    };
    const servers: Record<string, FakeToolServer> = {};
    for (const [name, behave] of Object.entries(behaviours)) {
      const server = await FakeToolServer.start({ [name]: {} }, { name });
      server.on.set("/close_thread", behave);
      servers[name] = server;
    }
    const gone = await FakeToolServer.start({ gone: {} });
    const stage = await rapStage([say("ok")], { servers: { ...servers, gone } });
    const { client, threadId, host } = stage;
    await client.turn(threadId, "hello");
    await gone.close();
    expect(await client.call("thread/unload", { threadId })).toEqual({ status: "unloaded" });
    await client.about(threadId, "thread/closed");
    for (const server of Object.values(servers)) await server.next("/close_thread");
    // Nothing is sent a second time, at the end of the host either, which waits for them a little and not for ever.
    host.signal("SIGTERM");
    expect((await host.exited).code).toBe(0);
    for (const server of Object.values(servers)) {
      expect(closings(server)).toEqual([threadId]);
      expect(server.at("/elsewhere")).toEqual([]);
      await eventually(() => server.sockets === 0, "no connection is left");
    }
  });

  it("[RAPR-8] is notified with the credentials of its calls, although the URL is configured with others", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    const { client, threadId } = await rapStage([call(responses.call("look", "{}")), say("Seen")], {
      servers: { desk },
      lines: ['headers = { authorization = "Bearer of-config" }'],
      params: { toolServers: { desk: { url: desk.url, headers: { authorization: "Bearer of-thread" } } } },
    });
    const turnId = await client.say(threadId, "look");
    await desk.next("/invoke");
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    await client.call("thread/unload", { threadId });
    await desk.next("/close_thread");
    for (const path of ["/invoke", "/cancel_tool_call", "/close_thread"])
      expect(desk.at(path).map(({ headers }) => headers.authorization)).toEqual(["Bearer of-thread"]);
  });

  it("[SEED-7] because its host was killed is notified at the next start, and never again", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    const stage = await rapStage([say("ok")], { servers: { desk } });
    const { client, threadId, home } = stage;
    await client.turn(threadId, "hello");
    await stage.host.kill();
    expect(closings(desk)).toEqual([]);
    for (let start = 0; start < 2; start++) {
      const host = await spawnHost({ home, args: SOCKET });
      await desk.next("/close_thread");
      await host.join(undefined, EXPERIMENTAL);
      host.signal("SIGTERM");
      await host.exited;
    }
    expect(closings(desk)).toEqual([threadId]);
  });

  it("[SEED-6] and is loaded again does not call a server before that got the close notice", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    let heard!: () => void;
    const slow = new Promise<void>((resolve) => {
      heard = resolve;
    });
    desk.on.set("/close_thread", async (response) => {
      await slow;
      response.writeHead(200).end();
    });
    const mail = await FakeToolServer.start({ send: {} });
    const replies = [call(responses.call("look", "{}", "a"), responses.call("send", "{}", "b")), say("ok")];
    const { client, threadId } = await rapStage([say("first"), ...replies], { servers: { desk, mail } });
    await client.turn(threadId, "hello");
    await client.call("thread/unload", { threadId });
    await desk.next("/close_thread");
    await client.call("thread/resume", { threadId });
    const turnId = await client.say(threadId, "look");
    // The second call reaches its server, so the first would have, too.
    expect(await answer(await mail.next("/invoke"), "sent")).toBe(200);
    expect(desk.at("/invoke")).toEqual([]);
    heard();
    expect(await answer(await desk.next("/invoke"), "seen")).toBe(200);
    await client.turnCompleted(turnId);
  });

  it("in one host and is loaded in another does not call a server before that got the close notice", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    let heard!: () => void;
    const slow = new Promise<void>((resolve) => {
      heard = resolve;
    });
    desk.on.set("/close_thread", async (response) => {
      await slow;
      response.writeHead(200).end();
    });
    const replies = [call(responses.call("look", "{}", "a")), say("ok")];
    const { client, threadId, home } = await rapStage([say("first"), ...replies], { servers: { desk } });
    await client.turn(threadId, "hello");
    // The other host cannot know when the server has heard, and waits for as long as the notice may take.
    const other = await spawnHost({ home, args: SOCKET, env: { BOBBIN_DEADLINE_FACTOR: "1" } });
    const there = await other.join(undefined, EXPERIMENTAL);
    await client.call("thread/unload", { threadId });
    await there.call("thread/resume", { threadId });
    const turnId = await there.say(threadId, "look");
    await there.waitFor(
      ({ method, params }) => method === "item/started" && params.item.type === "mcpToolCall",
      "the call is shown",
    );
    expect(desk.at("/invoke")).toEqual([]);
    heard();
    expect(await answer(await desk.next("/invoke"), "seen")).toBe(200);
    await there.turnCompleted(turnId);
  });
});
