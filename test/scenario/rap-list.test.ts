// What people can see of tool servers.
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { responses } from "../support/mock-model.ts";
import { acknowledged, answer, call, rapStage, say } from "../support/rap-stage.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { FakeToolServer, status, toolset } from "../support/tool-server.ts";

const TOOLSET = "/.well-known/rap-toolset";

describe("tool servers, for people", () => {
  it("are listed with their health, their tools, and the calls under way", async () => {
    const desk = await FakeToolServer.start({ watch: { description: "Watches.\nFor long." }, look: {} });
    const mail = await FakeToolServer.start({ look: {} }, { name: "post" });
    const down = await FakeToolServer.start({ other: {} });
    await down.close();
    const replies = [
      call(responses.call("watch", "{}", "call_1")),
      say("I watch"),
      call(responses.call("watch", "{}", "call_2")),
      say("Again"),
    ];
    const stage = await rapStage(replies, { servers: { desk, mail, down } });
    const { client, threadId, home, host } = stage;
    const turnId = await client.say(threadId, "watch");
    const heard = await desk.next("/invoke");
    expect(await answer(heard, "Subscribed.", { subscription: true })).toBe(200);
    await client.turnCompleted(turnId);
    await client.say(threadId, "once more");
    await desk.next("/invoke", 2);
    await acknowledged(stage);
    const { data } = await client.call("rap/servers/list", { threadId });
    const clash = "desk and mail both have a tool of this name";
    expect(data).toEqual([
      {
        name: "desk",
        url: desk.url,
        health: "ready",
        error: null,
        tools: [
          { name: "watch", description: "Watches.\nFor long.", available: true, reason: null },
          { name: "look", description: "Does look.", available: false, reason: clash },
        ],
        pendingCalls: 1,
        subscriptions: 1,
      },
      expect.objectContaining({ name: "mail", health: "ready", pendingCalls: 0, subscriptions: 0 }),
      expect.objectContaining({
        name: "down",
        health: "unreachable",
        error: expect.stringMatching(/ECONNREFUSED/),
      }),
    ]);
    const all = await client.call("rap/servers/list", {});
    expect(all.data.map(({ pendingCalls }: { pendingCalls: number }) => pendingCalls)).toEqual([1, 0, 0]);
    const { message } = await (await host.join()).refusal("rap/servers/list", {});
    expect(message).toMatch(/experimentalApi/);

    const printed = await runBobbin(["tools"], { env: { BOBBIN_HOME: home } });
    expect(printed.code).toBe(1);
    expect(printed.stdout).toMatch(
      /✓ desk .* ready\n.*calls under way: 1, subscriptions: 1\n +watch +Watches\.\n/,
    );
    expect(printed.stdout).toMatch(/look +not available: desk and mail both have/);
    expect(printed.stdout).toMatch(/✗ down .* unreachable\n.*ECONNREFUSED/);
    const json = await runBobbin(["tools", "--json"], { env: { BOBBIN_HOME: home } });
    expect(JSON.parse(json.stdout)[0]).toMatchObject({ name: "desk", pendingCalls: 1, subscriptions: 1 });
    const none = await runBobbin(["tools"]);
    expect([none.code, none.stdout]).toEqual([0, expect.stringMatching(/No tool servers are configured/)]);
  });

  it("that do not accept the token are shown as refusing, with what to do", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    desk.on.set(TOOLSET, status(401));
    const { client, home } = await rapStage([], { servers: { desk } });
    const { data } = await client.call("rap/servers/list", {});
    expect(data).toMatchObject([
      { health: "refused", error: "it does not accept the credentials (status 401)" },
    ]);
    const shown = async (env: Record<string, string>, ...args: readonly string[]) => {
      const { code, stdout } = await runBobbin(["tools", ...args], { env: { BOBBIN_HOME: home, ...env } });
      expect([code, stdout]).toEqual([1, expect.stringMatching(/✗ desk .* refused\n.*status 401/)]);
      return /→ (.*)/.exec(stdout)?.[1];
    };
    expect(await shown({})).toBe(
      "Set bearer_token_env_var in [rap_servers.desk] to the variable that holds the server's token.",
    );
    const named = ["-c", "rap_servers.desk.bearer_token_env_var=DESK_TOKEN"];
    expect(await shown({}, ...named)).toBe("Set the environment variable DESK_TOKEN to the server's token.");
    expect(await shown({ DESK_TOKEN: "an-old-token" }, ...named)).toBe(
      "Set DESK_TOKEN to the token that the server expects; it has another value.",
    );
  });

  it("are listed with the tools that threads do not get, and why", async () => {
    const desk = await FakeToolServer.start({ update_plan: {}, cancel_subscription: {}, look: {} });
    const { client, home } = await rapStage([], { servers: { desk } });
    const tools = [
      { name: "update_plan", available: false, reason: "a tool of the host has this name" },
      { name: "cancel_subscription", available: false, reason: "a tool of the host has this name" },
      { name: "look", available: true, reason: null },
    ];
    const { data } = await client.call("rap/servers/list", {});
    expect(data[0].tools).toMatchObject(tools);
    const env = { BOBBIN_HOME: home };
    const json = await runBobbin(["tools", "--json"], { env });
    expect([json.code, JSON.parse(json.stdout)[0].tools]).toMatchObject([1, tools]);
    desk.offer(toolset(desk.url, { look: {} }));
    expect((await runBobbin(["tools"], { env })).code).toBe(0);
    // One server by two names has every tool twice.
    const twice = await runBobbin(["tools", "-c", `rap_servers.twin.url=${desk.url}`], { env });
    expect([twice.code, twice.stdout]).toEqual([
      1,
      expect.stringMatching(/look +not available: .* both have/),
    ]);
  });

  it("[RAPR-49] are logged and counted, call by call", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    const { client, threadId, host } = await rapStage(
      [call(responses.call("look", "{}", "call_1")), say("ok")],
      {
        servers: { desk },
      },
    );
    const turnId = await client.say(threadId, "look");
    expect(await answer(await desk.next("/invoke"), "seen")).toBe(200);
    await client.turnCompleted(turnId);
    const entry = await host.logged(({ msg }) => msg === "called a tool");
    expect(entry).toMatchObject({
      server: "desk",
      operation: "look",
      threadId,
      callId: "call_1",
      outcome: "accepted",
      time: expect.any(String),
    });
    await client.call("thread/unload", { threadId });
    await desk.next("/close_thread");
    const metrics = await (await fetch(`${await host.site()}/metrics`)).text();
    expect(metrics).toMatch(/bobbin_rap_calls_total\{server="desk",outcome="accepted"\} 1/);
    expect(metrics).toMatch(/bobbin_rap_callbacks_total\{type="tool_result",status="200"\} 1/);
    expect(metrics).toMatch(/bobbin_rap_discoveries_total\{server="desk",outcome="ready"\} 1/);
  });

  it("are counted as one if threads add them: clients cannot choose metric labels", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    const { client, host } = await rapStage([], { servers: { desk } });
    const own = await FakeToolServer.start({ mine: {} });
    for (const name of ["first", "second"]) {
      const toolServers = { [name]: { url: own.url } };
      const { thread } = await client.call("thread/start", { toolServers });
      await client.call("rap/servers/list", { threadId: thread.id });
      await client.call("thread/unload", { threadId: thread.id });
    }
    await eventually(() => own.at("/close_thread").length === 2, "both are told");
    const metrics = await (await fetch(`${await host.site()}/metrics`)).text();
    expect(metrics).toMatch(/bobbin_rap_discoveries_total\{server="thread",outcome="ready"\} 2/);
    expect(metrics).not.toMatch(/server="(first|second)"/);
  });
});
