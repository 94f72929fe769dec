// What comes to the addresses of calls: in time, late, twice, forged, too large, over restarts.
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { MockModel, responses } from "../support/mock-model.ts";
import {
  acknowledged,
  answer,
  call,
  EXPERIMENTAL,
  outputs,
  rapHome,
  rapStage,
  SOCKET,
  type StageOptions,
  say,
  toolItems,
} from "../support/rap-stage.ts";
import { FakeToolServer, type Heard, hang, ok, postBack, status } from "../support/tool-server.ts";

const look = (callId = "call_1") => responses.call("look", "{}", callId);

async function waiting(options: Partial<StageOptions> = {}) {
  const server = await FakeToolServer.start({ look: {} });
  const stage = await rapStage([call(look()), say("Seen")], { servers: { desk: server }, ...options });
  const turnId = await stage.client.say(stage.threadId, "look");
  const heard = await server.next("/invoke");
  await acknowledged(stage);
  return { ...stage, server, turnId, heard };
}

/** The status of a raw request. */
function raw(
  url: string,
  headers: Record<string, string | number>,
  write: (send: ReturnType<typeof request>) => void,
) {
  return new Promise<number>((resolve, reject) => {
    const sent = request(url, { method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on("error", reject);
    write(sent);
  });
}

const result = ({ body }: Heard, text: string) => ({
  type: "tool_result",
  group_id: body.group_id,
  id: body.id,
  text,
});

describe("a callback", () => {
  it("has a port that the system does not give to other programs", async () => {
    const { heard } = await waiting();
    const port = Number(new URL(heard.body.callback_url).port);
    expect(port).toBeGreaterThanOrEqual(20_000);
    // Linux assigns ports from 32768 on to programs that ask for any port.
    expect(port).toBeLessThan(32_768);
  });

  it("[RAPR-62] [RAPR-83] [RAPR-11] has its effect once; repeats and late ones are acknowledged and change nothing", async () => {
    const { model, client, threadId, turnId, heard, server } = await waiting();
    const statuses = await Promise.all(["one", "two", "three"].map((text) => answer(heard, text)));
    expect(statuses).toEqual([200, 200, 200]);
    await client.turnCompleted(turnId);
    expect(await answer(heard, "four")).toBe(200);
    expect(outputs(model, 1)).toHaveLength(1);
    model.reply(call(look("call_2")), say("Again"));
    const second = await client.say(threadId, "again");
    const cancelled = await server.next("/invoke", 2);
    await client.call("turn/interrupt", { threadId, turnId: second });
    expect(await answer(cancelled, "too late")).toBe(200);
    model.reply(say("ok"));
    await client.turn(threadId, "and?");
    const said = JSON.stringify(model.asked.at(-1)!.body.input);
    expect(said).not.toMatch(/too late|four/);
    expect(said).toMatch(/given up/);
  });

  it("[RAPR-6] [RAPR-7] [RAPR-61] is refused at URLs that were never issued, and for other purposes than issued", async () => {
    const { client, turnId, heard, model } = await waiting();
    const url = heard.body.callback_url as string;
    const good = result(heard, "forged");
    expect(await postBack(`${url.slice(0, -1)}${url.endsWith("A") ? "Q" : "A"}`, good)).toBe(404);
    expect(await postBack(url.replace("call_1", "call_2"), { ...good, id: "call_2" })).toBe(404);
    expect(await postBack(new URL("/rap/callback/", url).href, good)).toBe(404);
    expect(await postBack(new URL("/", url).href, good)).toBe(404);
    expect(await postBack(url, { ...good, group_id: "another" })).toBe(400);
    expect(await postBack(url, { ...good, id: "another" })).toBe(400);
    expect(await postBack(url, { ...good, type: "tool_rumour" })).toBe(400);
    expect(await postBack(url, "{ not json")).toBe(400);
    expect(await postBack(url, "[]")).toBe(400);
    expect(await postBack(url, good, { "content-type": "text/plain" })).toBe(415);
    expect(await postBack(url, good, { "content-type": "application/json; charset=latin1" })).toBe(415);
    expect((await fetch(url)).status).toBe(405);
    const bad = Buffer.from('{"type":"tool_result","text":"\xff"}', "latin1");
    expect(await raw(url, { "content-type": "application/json" }, (sent) => sent.end(bad))).toBe(400);
    expect(await answer(heard, "true")).toBe(200);
    await client.turnCompleted(turnId);
    expect(outputs(model, 1)).toEqual(["true"]);
  });

  it("[RAPR-75] that cannot be read is refused with a reason, which is also in the log of a host on stdio", async () => {
    const server = await FakeToolServer.start({ look: {} });
    const model = await MockModel.start(call(look()), say("Seen"));
    const { home, cwd } = await rapHome(model.url, { servers: { desk: server } });
    const { host, client } = await stdioHost({ home, capabilities: EXPERIMENTAL });
    const threadId = await client.startThread({ cwd });
    const turnId = await client.say(threadId, "look");
    const heard = await server.next("/invoke");
    const { callback_url } = heard.body;
    const about = { group_id: threadId, id: "call_1" };
    for (const [message, says] of [
      ["{ not json", "The message cannot be read: it is not JSON."],
      [{ ...about, type: "tool_rumour", text: "x" }, /cannot be read: type must be one of/],
      [{ ...about, type: "user_choice", prompt: "Which?" }, /cannot be read: choices must be an array/],
      [
        { ...about, type: "tool_result", id: "another" },
        /cannot be read: text is required unless content is present/,
      ],
      [{ ...about, type: "tool_result", id: "another", text: "x" }, /not for the call of this address/],
    ] as const) {
      const response = await fetch(callback_url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: typeof message === "string" ? message : JSON.stringify(message),
      });
      expect([response.status, response.headers.get("content-type")]).toEqual([400, "application/json"]);
      const { error } = (await response.json()) as { error: string };
      expect(error).toMatch(says);
      await host.logged(({ level, says: logged }) => level === "warn" && logged === error);
    }
    const { thread } = await client.call("thread/read", { threadId });
    expect(thread.status).toEqual({ type: "active", activeFlags: [] });
    expect(await answer(heard, "here")).toBe(200);
    await client.turnCompleted(turnId);
    expect(outputs(model, 1)).toEqual(["here"]);
  });

  it.each([
    ["without a text", {}, /text is required unless content is present/],
    ["with a text of a wrong type", { text: 5 }, /text must be a string/],
    [
      "with content of a wrong form",
      { text: "x", content: [{ type: "video" }] },
      /content\[0\]\.type must be/,
    ],
    ["without an id", { id: undefined, text: "x" }, /id must be a string/],
    ["nested too deep", { text: "x", more: JSON.parse("[".repeat(99) + "]".repeat(99)) }, /nested deeper/],
  ])(
    "[RAPR-74] that is a result %s ends its call with an error, and the turn goes on",
    async (_, more, says) => {
      const { client, turnId, heard, model, host } = await waiting();
      const message = { type: "tool_result", group_id: heard.body.group_id, id: heard.body.id, ...more };
      expect(await postBack(heard.body.callback_url, message)).toBe(400);
      const { params } = await client.turnCompleted(turnId);
      expect(params.turn.status).toBe("completed");
      const [output] = outputs(model, 1);
      expect(output).toMatch(/^Error: The tool server desk sent a result that cannot be read: /);
      expect(output).toMatch(says);
      expect(toolItems(client, "item/completed")[0]).toMatchObject({
        status: "failed",
        result: { content: [{ type: "text", text: output }] },
      });
      await host.logged(({ level, msg }) => level === "warn" && /result cannot be read/.test(String(msg)));
      // It is over: neither the same nor a better one changes anything.
      expect(await postBack(heard.body.callback_url, message)).toBe(400);
      expect(await answer(heard, "after all")).toBe(200);
      expect(model.asked).toHaveLength(2);
    },
  );

  it("[RAPR-74] [RAPR-67] that is a result is accepted beside a display that cannot be read", async () => {
    const { client, turnId, heard, model, host } = await waiting();
    const display_as = [
      { type: "diff", content: "no object" },
      { type: "text", content: "short" },
    ];
    expect(await answer(heard, { text: "long", display_as })).toBe(200);
    await client.turnCompleted(turnId);
    expect(outputs(model, 1)).toEqual(["long"]);
    expect(toolItems(client, "item/completed")[0].result.content).toEqual([{ type: "text", text: "short" }]);
    await host.logged(({ level, msg }) => level === "warn" && /display_as/.test(String(msg)));
  });

  it("[RAPR-9] is bounded in size, with or without a declared length", async () => {
    const { client, turnId, heard } = await waiting();
    const url = heard.body.callback_url as string;
    const type = { "content-type": "application/json" };
    const tooMuch = 32 * 1024 * 1024 + 1;
    expect(await raw(url, { ...type, "content-length": tooMuch }, (sent) => sent.flushHeaders())).toBe(413);
    const piece = Buffer.alloc(1024 * 1024, 0x20);
    const status = await raw(url, type, (sent) => {
      let left = 33;
      const more = (): void => {
        while (left-- > 0) if (!sent.write(piece)) return void sent.once("drain", more);
        sent.end();
      };
      more();
    });
    expect(status).toBe(413);
    expect(await answer(heard, "fits")).toBe(200);
    await client.turnCompleted(turnId);
  });

  it("[RAPR-73] is truncated and well-formed before the model gets it", async () => {
    const { client, turnId, heard, model } = await waiting();
    const long = "x".repeat(300_000);
    expect(await postBack(heard.body.callback_url, JSON.stringify(result(heard, `\ud800\0${long}end`)))).toBe(
      200,
    );
    await client.turnCompleted(turnId);
    const [output] = outputs(model, 1);
    expect(output.slice(0, 2)).toBe("\ufffd\ufffd");
    expect(output.length).toBeLessThan(263_000);
    expect(output).toMatch(/characters are left out.*x+end$/s);
  });

  it("for a closed thread is 410, also when the thread is loaded again", async () => {
    const { client, threadId, heard } = await waiting();
    await client.call("thread/unload", { threadId, interrupt: true });
    expect(await answer(heard, "late")).toBe(410);
    await client.call("thread/resume", { threadId });
    expect(await answer(heard, "late")).toBe(410);
    await client.call("thread/delete", { threadId });
    expect(await answer(heard, "late")).toBe(410);
  });
});

describe("the address of a callback", () => {
  it.each(["https://me.example/tools", "https://me.example/tools/", "https://me.example"])(
    "is under the public URL, %s, where there is one; a proxy takes off what is its own",
    async (url) => {
      const { host, client, turnId, heard, model } = await waiting({
        rap: [`callback_public_url = "${url}"`],
      });
      const base = `${url.replace(/\/$/, "")}/rap/callback/`;
      expect(heard.body.callback_url.slice(0, base.length)).toBe(base);
      const { port } = await host.logged(({ msg }) => msg === "listening for tool servers");
      const behind = `http://127.0.0.1:${port}/rap/callback/${heard.body.callback_url.slice(base.length)}`;
      expect(await postBack(behind, result(heard, "by a proxy"))).toBe(200);
      await client.turnCompleted(turnId);
      expect(outputs(model, 1)).toEqual(["by a proxy"]);
    },
  );

  it("exists for a client on stdio, too", async () => {
    const server = await FakeToolServer.start({ look: {} });
    const model = await MockModel.start(call(look()), say("Seen"));
    const { home, cwd } = await rapHome(model.url, { servers: { desk: server } });
    const { host, client } = await stdioHost({ home, capabilities: EXPERIMENTAL });
    const threadId = await client.startThread({ cwd });
    const turnId = await client.say(threadId, "look");
    expect(await answer(await server.next("/invoke"), "here")).toBe(200);
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("completed");
    expect(outputs(model, 1)).toEqual(["here"]);
    // The host ends with its client, and says so to tool servers.
    await client.close();
    await host.exited;
    expect(server.at("/close_thread").map(({ body }) => body.thread_id)).toEqual([threadId]);
  });
});

describe("a turn that waits for a tool server", () => {
  it("survives restarts and kills of the host, and goes on when the answer comes", async () => {
    // Its turn may end before the client is there.
    const stage = await waiting({ top: ["thread_unload_delay_secs = 60"] });
    const { home, threadId, heard, model } = stage;
    const { turnId } = stage;
    let host = stage.host;
    await stage.client.close();
    host.signal("SIGTERM");
    await host.exited;
    await expect(answer(heard, "nobody listens")).rejects.toThrow();
    host = await spawnHost({ home, args: SOCKET });
    await host.logged(({ msg }) => msg === "listening for tool servers");
    await host.kill();
    host = await spawnHost({ home, args: SOCKET });
    await host.logged(({ msg }) => msg === "listening for tool servers");
    // It may come before anything else was done about the thread.
    expect(await answer(heard, "after days")).toBe(200);
    const client = await host.join(undefined, EXPERIMENTAL);
    await client.call("thread/resume", { threadId });
    await eventually(async () => {
      const { thread } = await client.call("thread/read", { threadId });
      return thread.status.type === "idle";
    }, "the turn has ended");
    const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(thread.turns).toEqual([expect.objectContaining({ id: turnId, status: "completed" })]);
    expect(outputs(model, 1)).toEqual(["after days"]);
    expect(stage.server.at("/invoke")).toHaveLength(1);
    expect(stage.server.at("/close_thread")).toEqual([]);
  });

  it("hibernates like any other, and wakes for its answer", async () => {
    const { client, threadId, turnId, heard, model, host } = await waiting({
      top: ["max_resident_threads = 1"],
    });
    for (let other = 0; other < 3; other++) await client.turn(await client.startThread(), "hello");
    const metrics = await (await fetch(`${await host.site()}/metrics`)).text();
    expect(metrics).toMatch(/bobbin_threads_resident 1\n/);
    expect(await answer(heard, "good morning")).toBe(200);
    await client.turnCompleted(turnId);
    expect(JSON.stringify(model.asked.at(-1)!.body.input)).toMatch(/good morning/);
    expect(threadId).toBe(heard.body.group_id);
  });

  it("[RAPR-50] has a deadline where one is configured, over a restart too", async () => {
    const stage = await waiting({ rap: ["call_deadline_secs = 2"] });
    const { home, threadId, heard, server } = stage;
    await stage.host.kill();
    const host = await spawnHost({ home, args: SOCKET });
    const client = await host.join(undefined, EXPERIMENTAL);
    await client.call("thread/resume", { threadId });
    await client.turnCompleted(stage.turnId);
    expect(outputs(stage.model, 1)).toEqual([expect.stringMatching(/did not answer within 2 seconds/)]);
    const { body } = await server.next("/cancel_tool_call");
    expect(body).toEqual({ thread_id: threadId, tool_call_id: "call_1" });
    expect(await answer(heard, "late")).toBe(200);
  });
});

describe("a call that is not acknowledged", () => {
  it.each([
    ["takes it and says nothing", hang],
    ["cannot take it", status(503)],
  ])("[RAPR-50] has its deadline from when it was sent, where the server %s", async (_, behave) => {
    const server = await FakeToolServer.start({ look: {} });
    server.on.set("/invoke", behave);
    const stage = await rapStage([call(look()), say("Seen")], {
      servers: { desk: server },
      lines: ["call_deadline_secs = 1"],
    });
    const { client, threadId, model } = stage;
    await client.turnCompleted(await client.say(threadId, "look"));
    expect(outputs(model, 1)).toEqual([expect.stringMatching(/did not answer within 1 seconds/)]);
    const { body } = await server.next("/cancel_tool_call");
    expect(body).toEqual({ thread_id: threadId, tool_call_id: "call_1" });
    expect(toolItems(client, "item/completed")[0]).toMatchObject({ status: "failed" });
  });
});

describe("a call that is cancelled", () => {
  it("[RAPR-80] [RAPR-81] [RAPR-82] is sent to every configured server once, and nothing depends on it", async () => {
    const down = await FakeToolServer.start({ other: {} });
    const desk = await FakeToolServer.start({ look: {} });
    const stuck = await FakeToolServer.start({ third: {} });
    stuck.on.set("/cancel_tool_call", () => {});
    const stage = await rapStage([call(look()), say("Seen")], { servers: { down, desk, stuck } });
    const { client, threadId } = stage;
    const turnId = await client.say(threadId, "look");
    await desk.next("/invoke");
    down.on.set("/cancel_tool_call", (response) => void response.writeHead(500).end());
    await client.call("turn/interrupt", { threadId, turnId });
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("interrupted");
    for (const server of [down, desk, stuck]) {
      const { body, headers, method } = await server.next("/cancel_tool_call");
      expect([method, headers["content-type"], body]).toEqual([
        "POST",
        "application/json",
        { thread_id: threadId, tool_call_id: "call_1" },
      ]);
    }
    expect(toolItems(client, "item/completed")[0]).toMatchObject({ status: "failed" });
    await client.turn(threadId, "go on");
    for (const server of [down, desk, stuck]) expect(server.at("/cancel_tool_call")).toHaveLength(1);
    stuck.on.set("/cancel_tool_call", ok);
  });

  it("is not sent for calls that have their result", async () => {
    const { client, threadId, turnId, heard, server } = await waiting();
    expect(await answer(heard, "done")).toBe(200);
    await client.turnCompleted(turnId);
    await client.call("thread/unload", { threadId });
    await server.next("/close_thread");
    expect(server.at("/cancel_tool_call")).toEqual([]);
  });
});
