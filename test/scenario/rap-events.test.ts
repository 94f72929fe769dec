// What tool servers send by themselves: events, late results, views.
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnHost } from "../support/host-process.ts";
import { responses } from "../support/mock-model.ts";
import {
  acknowledged,
  answer,
  asked,
  call,
  EXPERIMENTAL,
  offered,
  outputs,
  type RapStage,
  rapStage,
  SOCKET,
  say,
  toolItems,
} from "../support/rap-stage.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { FakeToolServer, type Heard, postBack } from "../support/tool-server.ts";
import { emit, watch, watching } from "../support/watching.ts";
import type { WireClient } from "../support/wire-client.ts";

const inline = { associative: true };

/** Events as the model was shown them by the nth time that it was asked. */
function events({ model }: RapStage, nth: number): [unknown, string][] {
  const input: { type: string; call_id: string; name: string; arguments: string; output: string }[] =
    model.asked[nth]!.body.input;
  return input
    .filter(({ name }) => name === "receive_event__injected")
    .map(({ call_id, arguments: args }) => {
      const output = input.find((item) => item.type === "function_call_output" && item.call_id === call_id);
      return [JSON.parse(args), output!.output];
    });
}

const ORIGIN = {
  original_tool_name: "watch",
  original_tool_call_id: "call_1",
  original_args: { what: "sky" },
};

describe("an event of a subscription", () => {
  it("[RAPR-130] [RAPR-131] begins a turn of an idle thread, as a call that the model did not make", async () => {
    const stage = await watching();
    const { client, threadId, heard, model } = stage;
    model.reply(say("A bird"));
    const from = client.frames.length;
    expect(await emit(heard, '{"seen":"a bird"}', inline)).toBe(200);
    const { params } = await client.about(threadId, "turn/completed", from);
    expect(params.turn.status).toBe("completed");
    expect(events(stage, 2)).toEqual([[ORIGIN, '{"seen":"a bird"}']]);
    // The call that subscribed keeps the one result that it had.
    expect(outputs(model, 2)).toEqual(["Subscribed.", '{"seen":"a bird"}']);
    expect(toolItems(client, "item/completed").at(-1)).toMatchObject({
      server: "desk",
      tool: "receive_event__injected",
      status: "completed",
      arguments: ORIGIN,
      result: { content: [{ type: "text", text: '{"seen":"a bird"}' }] },
    });
    const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(thread.turns).toHaveLength(2);
  });

  it("is not lost if it arrives before the result that starts its subscription", async () => {
    const server = await FakeToolServer.start({ watch: {} });
    const stage = await rapStage([call(watch()), say("Watching")], { servers: { desk: server } });
    const { client, threadId, model } = stage;
    const turnId = await client.say(threadId, "watch");
    const heard = await server.next("/invoke");
    expect(await emit(heard, "early", inline)).toBe(503);
    expect(await answer(heard, "Subscribed.", { subscription: true })).toBe(200);
    await client.turnCompleted(turnId);
    model.reply(say("A bird"));
    const from = client.frames.length;
    expect(await emit(heard, "early", inline)).toBe(200);
    await client.about(threadId, "turn/completed", from);
    expect(events(stage, 2)).toEqual([[ORIGIN, "early"]]);
    // One that subscribes to nothing sends nothing.
    model.reply(call(watch("call_2")), say("Seen"));
    const second = await client.say(threadId, "look");
    const other = await server.next("/invoke", 2);
    expect(await emit(other, "never", inline)).toBe(503);
    expect(await answer(other, "Nothing.")).toBe(200);
    await client.turnCompleted(second);
    expect(await emit(other, "never", inline)).toBe(200);
  });

  it("joins a turn that waits for tools, before the model's next answer", async () => {
    const stage = await watching();
    const { client, threadId, heard, model, server } = stage;
    model.reply(call(watch("call_2")), say("Both"));
    const turnId = await client.say(threadId, "once more");
    const second = await server.next("/invoke", 2);
    expect(await emit(heard, "a cloud", inline)).toBe(200);
    expect(await answer(second, "Nothing.")).toBe(200);
    await client.turnCompleted(turnId);
    expect(outputs(model, 3)).toEqual(["Subscribed.", "Nothing.", "a cloud"]);
    expect(model.asked).toHaveLength(4);
  });

  it("[RAPR-11] has its effect once if its sender gives it an id", async () => {
    const stage = await watching();
    const { client, threadId, heard, model } = stage;
    const from = client.frames.length;
    expect(await Promise.all([1, 2, 3].map(() => emit(heard, "a bird", inline, "event-1")))).toEqual([
      200, 200, 200,
    ]);
    await client.about(threadId, "turn/completed", from);
    expect(await emit(heard, "a bird", inline, "event-1")).toBe(200);
    const next = client.frames.length;
    expect(await emit(heard, "another", inline, "event-2")).toBe(200);
    await client.about(threadId, "turn/completed", next);
    expect(events(stage, model.asked.length - 1).map(([, text]) => text)).toEqual(["a bird", "another"]);
  });

  it("[RAPR-11] has its effect once if the same bytes arrive again soon, without an id", async () => {
    const stage = await watching();
    const { client, threadId, heard, model } = stage;
    const from = client.frames.length;
    expect(await Promise.all([1, 2, 3].map(() => emit(heard, "a bird", inline)))).toEqual([200, 200, 200]);
    await client.about(threadId, "turn/completed", from);
    expect(await emit(heard, "a bird", inline)).toBe(200);
    const next = client.frames.length;
    expect(await emit(heard, "a cat", inline)).toBe(200);
    await client.about(threadId, "turn/completed", next);
    expect(events(stage, model.asked.length - 1).map(([, text]) => text)).toEqual(["a bird", "a cat"]);
  });

  it("[RAPR-133] that is the final one ends the subscription, and later ones are discarded", async () => {
    const stage = await watching();
    const { client, threadId, heard, model, host } = stage;
    const from = client.frames.length;
    expect(await emit(heard, "the last", { ...inline, final: true })).toBe(200);
    await client.about(threadId, "turn/completed", from);
    expect(await emit(heard, "one more", inline)).toBe(200);
    await host.logged(
      ({ msg, type }) => /no call waits for/.test(String(msg)) && type === "subscription_event",
    );
    await client.turn(threadId, "and?");
    expect(events(stage, model.asked.length - 1).map(([, text]) => text)).toEqual(["the last"]);
  });

  it("[RAPR-137] is discarded without a subscription, or if the thread is closed", async () => {
    const stage = await watching();
    const { client, threadId, server, model, heard } = stage;
    model.reply(call(watch("call_2")), say("No"));
    const turnId = await client.say(threadId, "plain");
    const plain = await server.next("/invoke", 2);
    expect(await answer(plain, "Not a subscription.")).toBe(200);
    await client.turnCompleted(turnId);
    expect(await emit(plain, "surprise", inline)).toBe(200);
    expect(await client.call("thread/unload", { threadId })).toEqual({ status: "unloaded" });
    expect(await emit(heard, "too late", inline)).toBe(410);
    await client.call("thread/resume", { threadId });
    expect(await emit(heard, "too late", inline)).toBe(410);
    model.reply(say("ok"));
    await client.turn(threadId, "and?");
    expect(events(stage, model.asked.length - 1)).toEqual([]);
  });

  it("keeps its thread loaded, over kills and restarts of the host too", async () => {
    const stage = await watching({ top: ["thread_unload_delay_secs = 0"] });
    const { threadId, heard, home, model, server } = stage;
    await stage.client.close();
    let host = stage.host;
    for (const end of ["kill", "term"]) {
      if (end === "kill") await host.kill();
      else {
        host.signal("SIGTERM");
        await host.exited;
      }
      host = await spawnHost({ home, args: SOCKET });
      await host.logged(({ msg }) => msg === "listening for tool servers");
      const asked = model.asked.length;
      expect(await emit(heard, `after ${end}`, inline)).toBe(200);
      await eventually(() => model.asked.length > asked, "the model is shown the event");
    }
    expect(server.at("/close_thread")).toEqual([]);
    const client = await host.join(undefined, EXPERIMENTAL);
    await client.call("thread/resume", { threadId });
    expect(events(stage, model.asked.length - 1).map(([, text]) => text)).toEqual([
      "after kill",
      "after term",
    ]);
  });

  it("[UNLOAD-8] is awaited by a thread for which diagnostics, metrics and bobbin ps name the subscription", async () => {
    const { host, client, threadId, home } = await watching();
    const onlooker = await host.join(undefined, EXPERIMENTAL);
    await client.close();
    const reasons = async () =>
      (await onlooker.call("server/diagnostics", { threadIds: [threadId, "no such thread"] })).threads;
    await eventually(async () => (await reasons())[0].subscribers === 0, "the client has left");
    expect(await reasons()).toEqual([
      expect.objectContaining({ threadId, turnId: null, toolServerSubscriptions: 1, unloadsInMs: null }),
    ]);
    const metrics = await (await fetch(`${await host.site()}/metrics`)).text();
    expect(metrics).toContain(`bobbin_thread_kept{thread="${threadId}",by="subscriptions"} 1\n`);
    const { stdout } = await runBobbin(["ps"], { env: { BOBBIN_HOME: home } });
    expect(stdout).toMatch(/^ {4}1 tool server subscription; about \d+ kB in memory$/m);
  });

  it("[RAPR-134] [RAPR-135] [RAPR-136] no longer arrives when the model has cancelled its subscription", async () => {
    const other = await FakeToolServer.start({ other: {} }, { name: "other" });
    const stage = await watching({ servers: { other } });
    const { client, threadId, server, model, heard } = stage;
    const cancel = (id: string, callId: string) =>
      responses.call("cancel_subscription", JSON.stringify({ tool_call_id: id }), callId);
    expect(offered(model, 0, "cancel_subscription")).toBe("cancel_subscription");
    expect(JSON.stringify(model.asked[1]!.body.input)).toMatch(
      /The call call_1 of watch has begun a subscription/,
    );
    model.reply(call(cancel("call_9", "a"), cancel("call_1", "b")), call(cancel("call_1", "c")), say("done"));
    await client.turn(threadId, "stop it");
    const said = outputs(model, model.asked.length - 1);
    expect(said.slice(1)).toEqual([
      expect.stringMatching(/^Error: .*no subscription of the call call_9/),
      expect.stringMatching(/call_1 is cancelled/),
      expect.stringMatching(/^Error: /),
    ]);
    for (const configured of [server, other]) {
      const { body } = await configured.next("/cancel_tool_call");
      expect(body).toEqual({ thread_id: threadId, tool_call_id: "call_1" });
    }
    expect(await emit(heard, "too late", inline)).toBe(200);
    await client.turn(threadId, "and?");
    expect(events(stage, model.asked.length - 1)).toEqual([]);
    for (const configured of [server, other]) expect(configured.at("/cancel_tool_call")).toHaveLength(1);
  });

  it("[RAPR-138] can belong to a limited number of subscriptions", async () => {
    const server = await FakeToolServer.start({ watch: {} });
    const calls = Array.from({ length: 65 }, (_, nth) => watch(`call_${nth}`));
    const stage = await rapStage([call(...calls), say("ok")], { servers: { desk: server } });
    const { client, threadId } = stage;
    const turnId = await client.say(threadId, "watch all");
    for (let nth = 1; nth <= 65; nth++)
      expect(await answer(await server.next("/invoke", nth), "Subscribed.", { subscription: true })).toBe(
        200,
      );
    await client.turnCompleted(turnId);
    const { body } = await server.next("/cancel_tool_call");
    expect(body.tool_call_id).toMatch(/^call_\d+(-\d+)?$/);
  });
});

describe("a user who speaks while a tool server works", () => {
  it("[RAPR-69] is answered at once; the result arrives later, as a call that the model did not make", async () => {
    const server = await FakeToolServer.start({ watch: {} });
    const replies = [call(watch()), say("It takes a while"), say("A bird at last")];
    const stage = await rapStage(replies, { servers: { desk: server } });
    const { client, threadId, model } = stage;
    const turnId = await client.say(threadId, "watch");
    const heard = await server.next("/invoke");
    await client.call("turn/steer", {
      threadId,
      expectedTurnId: turnId,
      input: [{ type: "text", text: "How is it going?" }],
    });
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("completed");
    expect(outputs(model, 1)).toEqual([expect.stringMatching(/watch is still running/)]);
    expect(model.asked[1]!.body.input.at(-1).content).toEqual([
      { type: "input_text", text: "How is it going?" },
    ]);
    expect(server.at("/cancel_tool_call")).toEqual([]);
    const from = client.frames.length;
    expect(await answer(heard, "a bird")).toBe(200);
    expect(await answer(heard, "a bird")).toBe(200);
    await client.about(threadId, "turn/completed", from);
    expect(events(stage, 2)).toEqual([[ORIGIN, "a bird"]]);
    expect(model.asked).toHaveLength(3);
  });

  const steer = (client: WireClient, threadId: string, expectedTurnId: string) =>
    client.call("turn/steer", { threadId, expectedTurnId, input: [{ type: "text", text: "Well?" }] });

  it("[UNLOAD-9] keeps the thread loaded until the result arrives, unless the call is cancelled", async () => {
    const server = await FakeToolServer.start({ watch: {} });
    const stage = await rapStage([call(watch()), say("It takes a while")], { servers: { desk: server } });
    const { client, threadId, host } = stage;
    const turnId = await client.say(threadId, "watch");
    await server.next("/invoke");
    await steer(client, threadId, turnId);
    await client.turnCompleted(turnId);
    expect(await client.call("thread/unload", { threadId })).toEqual({
      status: "active",
      blockedBy: { turnId: null, otherSubscribers: 0, pendingRequests: 0, pendingCalls: 1 },
    });
    const plain = await host.join();
    expect(await plain.call("thread/unload", { threadId })).toEqual({ status: "active" });
    expect(await client.call("thread/unload", { threadId, interrupt: true })).toEqual({ status: "unloaded" });
    await server.next("/cancel_tool_call");
  });

  it("[RAPR-69] before the server acknowledged the call is answered after the acknowledgement", async () => {
    const server = await FakeToolServer.start({ watch: {} });
    let acknowledge!: () => void;
    const spoken = new Promise<void>((resolve) => {
      acknowledge = resolve;
    });
    server.on.set("/invoke", async (response) => {
      await spoken;
      response.writeHead(200).end();
    });
    const stage = await rapStage([call(watch()), say("It takes a while")], { servers: { desk: server } });
    const { client, threadId, model } = stage;
    const turnId = await client.say(threadId, "watch");
    await server.next("/invoke");
    await steer(client, threadId, turnId);
    expect(model.asked).toHaveLength(1);
    acknowledge();
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("completed");
    expect(outputs(model, 1)).toEqual([expect.stringMatching(/watch is still running/)]);
  });

  it("[RAPR-69] while another call needs approval is answered after that approval", async () => {
    const server = await FakeToolServer.start({ watch: {}, wipe: { annotations: { destructive: true } } });
    const both = call(watch("a"), responses.call("wipe", "{}", "b"));
    const stage = await rapStage([both, say("It takes a while")], { servers: { desk: server } });
    const { client, threadId, model } = stage;
    const turnId = await client.say(threadId, "watch");
    await server.next("/invoke");
    const { id } = await asked(client, "mcpServer/elicitation/request");
    await acknowledged(stage);
    await steer(client, threadId, turnId);
    client.send({ id, result: { action: "decline", content: null } });
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("completed");
    expect(outputs(model, 1)).toEqual([
      expect.stringMatching(/watch is still running/),
      expect.stringMatching(/declined/),
    ]);
  });

  it("does not undo a deadline of the call", async () => {
    const server = await FakeToolServer.start({ watch: {} });
    const replies = [call(watch()), say("It takes a while"), say("It never came")];
    const stage = await rapStage(replies, { servers: { desk: server }, rap: ["call_deadline_secs = 2"] });
    const { client, threadId, model } = stage;
    const turnId = await client.say(threadId, "watch");
    const heard = await server.next("/invoke");
    await client.call("turn/start", { threadId, input: [{ type: "text", text: "Well?" }] });
    await client.turnCompleted(turnId);
    await eventually(() => model.asked.length === 3, "the model is told of the deadline");
    expect(events(stage, 2)).toEqual([[ORIGIN, "Error: watch did not answer in time."]]);
    await server.next("/cancel_tool_call");
    expect(await answer(heard, "late")).toBe(200);
  });
});

describe("a view", () => {
  const show = ({ body }: Heard, view_type: string, content: object) =>
    postBack(body.callback_url, { type: "view_update", group_id: body.group_id, view_type, content });

  it("[RAPR-140] [RAPR-141] [RAPR-142] is stored unchanged, replaced, and sent to all present and new subscribers", async () => {
    const { client, threadId, heard, host } = await watching();
    const plain = await host.join();
    await plain.call("thread/resume", { threadId });
    const odd = { patch: "<b>ü</b>", __proto: [1, { deep: null }] };
    expect(await show(heard, "diff", { patch: "first" })).toBe(200);
    expect(await show(heard, "diff", odd)).toBe(200);
    expect(await show(heard, "progress", { done: 1 })).toBe(200);
    await client.until(() => client.count("thread/view/updated") === 3, "three views");
    expect(client.told("thread/view/updated")[1]!.params).toMatchObject({
      threadId,
      server: "desk",
      callId: "call_1",
      viewType: "diff",
      view: odd,
    });
    const late = await host.join(undefined, EXPERIMENTAL);
    await late.call("thread/resume", { threadId });
    await late.until(() => late.count("thread/view/updated") === 2, "the last of each");
    const views = late.told("thread/view/updated").map(({ params }) => [params.viewType, params.view]);
    expect(views).toEqual([
      ["diff", odd],
      ["progress", { done: 1 }],
    ]);
    expect(await show(heard, "progress", {})).toBe(200);
    await late.until(() => late.count("thread/view/updated") === 3, "it is cleared");
    expect(late.told("thread/view/updated")[2]!.params.view).toEqual({});
    expect(plain.told("thread/view/updated")).toEqual([]);
    expect(await show(heard, "huge", { text: "x".repeat(1_100_000) })).toBe(413);
  });

  it("[RAPR-143] of a thread that is closed or unknown is refused", async () => {
    const { client, threadId, heard } = await watching();
    await client.call("thread/unload", { threadId });
    expect(await show(heard, "diff", { patch: "p" })).toBe(410);
    const stranger = { ...heard, body: { ...heard.body, group_id: "0192f0c1-0000-7000-8000-000000000001" } };
    expect(await show(stranger, "diff", { patch: "p" })).toBe(400);
    await client.call("thread/resume", { threadId });
    expect(client.told("thread/view/updated")).toEqual([]);
  });
});
