// What MCP servers ask of people and of models.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import { APPROVED, calls, elicitation, mcpItems, mcpStage, own, textsOf } from "../support/mcp-call-stage.ts";
import { EVERYTHING, mcpServer } from "../support/mcp-stage.ts";
import { responses, stream } from "../support/mock-model.ts";
import { say } from "../support/rap-stage.ts";
import type { WireClient } from "../support/wire-client.ts";

const every = (tool: string, args: object) =>
  stream(responses.stream(responses.call(tool, JSON.stringify(args), "call_1", "mcp__every")));

const decided = (client: WireClient): unknown => JSON.parse(textsOf(mcpItems(client).at(-1)));

/** Everything that is below a folder, as one text. */
async function allText(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(
    // A file that is replaced meanwhile is gone under its first name.
    files.map(({ parentPath, name }) => readFile(join(parentPath, name), "latin1").catch(() => "")),
  );
  return texts.join("\n");
}

describe("a question of an MCP server", () => {
  it("[MCPCALL-20] goes to the subscribers of the thread, outlives their connections, and ends with the answer", async () => {
    const { client, host, threadId } = await mcpStage([calls(["ask"]), say("ok")]);
    const turnId = await client.say(threadId, "go");
    const first = await elicitation(client);
    expect(first.params).toMatchObject({
      threadId,
      turnId,
      serverName: "own",
      mode: "form",
      message: "Which color?",
    });
    await client.close();
    const back = await host.join(undefined, { experimentalApi: true });
    await back.call("thread/resume", { threadId });
    const again = await elicitation(back);
    expect(again.id).toBe(first.id);
    back.send({ id: again.id, result: { action: "accept", content: { color: "red" }, _meta: null } });
    await back.turnCompleted(turnId);
    expect(decided(back)).toEqual({ action: "accept", content: { color: "red" } });
    const methods = back.frames.map(({ method }) => method);
    expect(methods.indexOf("serverRequest/resolved")).toBeLessThan(methods.indexOf("item/completed"));
  });

  it("[MCPCALL-20] that is declined or cancelled returns that to the server, and fails nothing else", async () => {
    const { client, threadId } = await mcpStage([calls(["ask"]), say("ok"), calls(["ask"]), say("ok")]);
    for (const action of ["decline", "cancel"]) {
      const from = client.frames.length;
      const turnId = await client.say(threadId, "go");
      const { id } = await elicitation(client, from);
      client.send({ id, result: { action, content: null, _meta: null } });
      await client.turnCompleted(turnId);
      expect(decided(client)).toEqual({ action });
    }
  });

  it("[MCPCALL-20] is withdrawn by an interrupt, and gone after a crash, with its server's connection", async () => {
    const { client, threadId, host, home } = await mcpStage([calls(["ask"]), calls(["ask"]), say("ok")]);
    const turnId = await client.say(threadId, "go");
    const first = await elicitation(client);
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    const ends = client.frames.map(({ method }) => method);
    expect(ends.indexOf("serverRequest/resolved")).toBeLessThan(ends.indexOf("turn/completed"));
    expect(client.told("serverRequest/resolved")[0]!.params.requestId).toBe(first.id);
    const from = client.frames.length;
    await client.say(threadId, "again");
    await elicitation(client, from);
    host.signal("SIGKILL");
    await host.exited;
    const next = (await stdioHost({ home, capabilities: { experimentalApi: true } })).client;
    const { thread } = await next.call("thread/resume", { threadId });
    const [item] = thread.turns.at(-1).items.filter(({ type }: { type: string }) => type === "mcpToolCall");
    expect(item).toMatchObject({ status: "failed", error: { message: expect.any(String) } });
    await next.call("thread/loaded/list", {});
    expect(next.told("mcpServer/elicitation/request")).toEqual([]);
  });

  it("[MCPCALL-20] is not asked if the policy forbids questions", async () => {
    const { client, threadId } = await mcpStage([calls(["ask"]), say("ok")], {
      params: { approvalPolicy: "never" },
    });
    await client.turn(threadId, "go");
    expect(decided(client)).toEqual({ action: "decline" });
    expect(client.count("mcpServer/elicitation/request")).toBe(0);
  });

  it("[MCPCALL-24] of a shared server never reaches another thread", async () => {
    const folder = await freshFolder();
    const [one, two] = [join(folder, "one"), join(folder, "two")];
    const replies = [calls(["until", { file: one }]), calls(["ask", { file: two }]), say("ok"), say("ok")];
    const stage = await mcpStage(replies);
    const { client, host, threadId, cwd } = stage;
    const other = await host.join(undefined, { experimentalApi: true });
    const otherId = await other.startThread({ cwd });
    const first = await client.say(threadId, "go");
    await client.until(() => mcpItems(client, "item/started").length === 1, "the call of the first thread");
    const second = await other.say(otherId, "go");
    await other.until(() => mcpItems(other, "item/started").length === 1, "the call of the second thread");
    // Both threads have a call under way: the server asks, and nobody can know for whom.
    await writeFile(two, "");
    await other.turnCompleted(second);
    expect(decided(other)).toEqual({ action: "cancel" });
    await writeFile(one, "");
    await client.turnCompleted(first);
    for (const each of [client, other]) expect(each.count("mcpServer/elicitation/request")).toBe(0);
    // From then on each thread has the server for itself, and is asked.
    stage.model.reply(calls(["until", { file: join(folder, "three") }]), calls(["ask"]), say("ok"));
    await client.say(threadId, "again");
    await client.until(() => mcpItems(client, "item/started").length === 2, "the next call");
    const third = await other.say(otherId, "again");
    const { id, params } = await elicitation(other);
    expect(params.threadId).toBe(otherId);
    other.send({ id, result: { action: "accept", content: { color: "blue" }, _meta: null } });
    await other.turnCompleted(third);
    expect(client.count("mcpServer/elicitation/request")).toBe(0);
  });

  it("[MCPCALL-22] about a web page is in no file, while it waits and afterwards", async () => {
    const url = "https://example.org/grant?secret=b1946ac92492";
    const server = mcpServer("every", EVERYTHING, ["stdio"], [APPROVED]);
    const { client, threadId, home } = await mcpStage(
      // The model does not know the address: it is the server's own.
      [every("trigger_url_elicitation", { url, errorPath: true }), say("ok")],
      { servers: [server] },
    );
    const turnId = await client.say(threadId, "go");
    const { id, params } = await elicitation(client);
    expect(params).toMatchObject({ mode: "url", url: "https://modelcontextprotocol.io" });
    expect(await allText(home)).not.toContain("https://modelcontextprotocol.io");
    client.send({ id, result: { action: "decline", content: null, _meta: null } });
    await client.turnCompleted(turnId);
    expect(await allText(home)).not.toContain("https://modelcontextprotocol.io");
  });

  it("[MCPCALL-25] that a refused call contains is asked, and the call is repeated", async () => {
    const url = "https://example.org/page";
    const server = mcpServer("every", EVERYTHING, ["stdio"], [APPROVED]);
    const { client, threadId } = await mcpStage(
      [
        every("trigger_url_elicitation", { url, errorPath: true }),
        say("ok"),
        every("trigger_url_elicitation", { url: `${url}/2`, errorPath: true }),
        say("ok"),
      ],
      { servers: [server] },
    );
    const first = await client.say(threadId, "go");
    const page = await elicitation(client);
    client.send({ id: page.id, result: { action: "accept", content: null, _meta: null } });
    // The call goes on, and asks in the other way.
    const from = client.frames.indexOf(page) + 1;
    const second = await elicitation(client, from);
    expect(second.params).toMatchObject({ mode: "url", url });
    client.send({ id: second.id, result: { action: "accept", content: null, _meta: null } });
    await client.turnCompleted(first);
    expect(mcpItems(client)[0]).toMatchObject({ status: "completed" });
    const before = client.frames.length;
    const refused = await client.say(threadId, "again");
    const { id } = await elicitation(client, before);
    client.send({ id, result: { action: "decline", content: null, _meta: null } });
    await client.turnCompleted(refused);
    expect(mcpItems(client)[1]).toMatchObject({
      status: "failed",
      error: { message: expect.stringMatching(/visit a page first, and the user did not/) },
    });
  });
});

describe("an MCP server that uses the model", () => {
  const sampled = say("From the model.");

  it("[MCPCALL-26] may do so with consent, for the session if that is granted", async () => {
    const { client, threadId, model } = await mcpStage([
      calls(["sample"]),
      sampled,
      say("ok"),
      calls(["sample"]),
      sampled,
      say("ok"),
    ]);
    const turnId = await client.say(threadId, "go");
    const { id, params } = await elicitation(client);
    expect(params).toMatchObject({
      mode: "form",
      requestedSchema: { properties: {} },
      _meta: { persist: "session" },
    });
    expect(params.message).toMatch(/^Allow the MCP server own to ask this thread's model\?\n\nHello$/);
    client.send({ id, result: { action: "accept", content: null, _meta: { persist: "session" } } });
    await client.turnCompleted(turnId);
    expect(decided(client)).toMatchObject({
      role: "assistant",
      content: { type: "text", text: "From the model." },
      model: "mock-model",
      stopReason: "endTurn",
    });
    // It sees nothing of the thread.
    expect(model.asked[1]!.body.input).toMatchObject([{ role: "user", content: [{ text: "Hello" }] }]);
    expect(model.asked[1]!.body.input).toHaveLength(1);
    await client.turn(threadId, "again");
    expect(client.count("mcpServer/elicitation/request")).toBe(1);
    const usage = client
      .told("thread/tokenUsage/updated")
      .map(({ params: told }) => told.tokenUsage.total.totalTokens);
    expect(usage).toEqual([120, 240, 360, 480, 600, 720]);
    const { data } = await client.call("thread/grants/list", { threadId });
    expect(data).toMatchObject([{ description: "Let the MCP server own use the model of this thread" }]);
  });

  it("[MCPCALL-26] may not without consent, and gets an error", async () => {
    const { client, threadId } = await mcpStage([calls(["sample"]), say("ok"), calls(["sample"]), say("ok")]);
    const turnId = await client.say(threadId, "go");
    const { id } = await elicitation(client);
    client.send({ id, result: { action: "decline", content: null, _meta: null } });
    await client.turnCompleted(turnId);
    expect(decided(client)).toMatchObject({ message: expect.stringMatching(/the user did not allow it/) });
    await client.call("thread/settings/update", { threadId, approvalPolicy: "never" });
    await client.turn(threadId, "again");
    expect(decided(client)).toMatchObject({ message: expect.stringMatching(/set to ask nobody/) });
    expect(client.count("mcpServer/elicitation/request")).toBe(1);
  });
});

describe("a client's own call", () => {
  it("[MCPCALL-21] may let its server ask while the thread is idle", async () => {
    const { client, threadId } = await mcpStage([], { servers: [own()] });
    const called = client.call("mcpServer/tool/call", {
      threadId,
      server: "own",
      tool: "ask",
      arguments: {},
    });
    const { id, params } = await elicitation(client);
    expect(params).toMatchObject({ threadId, turnId: null });
    expect(client.told("thread/status/changed").at(-1)!.params.status).toEqual({
      type: "active",
      activeFlags: ["waitingOnApproval"],
    });
    client.send({ id, result: { action: "accept", content: { color: "red" }, _meta: null } });
    expect(JSON.parse((await called).content[0].text)).toEqual({
      action: "accept",
      content: { color: "red" },
    });
    expect(client.told("thread/status/changed").at(-1)!.params.status).toEqual({ type: "idle" });
  });

  it("[MCPCALL-27] ends with the client that made it, and with the load of its thread", async () => {
    const { client, host, threadId } = await mcpStage([], {
      servers: [own("supports_parallel_tool_calls = true")],
    });
    const other = await host.join(undefined, { experimentalApi: true });
    await other.call("thread/resume", { threadId });
    void other.request("mcpServer/tool/call", { threadId, server: "own", tool: "ask" }).catch(() => {});
    const { id } = await elicitation(client);
    await other.close();
    await client.waitFor(
      ({ method, params }) => method === "serverRequest/resolved" && params.requestId === id,
      "the question is withdrawn",
    );
    const refused = client.refusal("mcpServer/tool/call", { threadId, server: "own", tool: "silence" });
    await client.call("mcpServer/tool/call", {
      threadId,
      server: "own",
      tool: "echo",
      arguments: { message: "" },
    });
    await client.call("thread/unload", { threadId });
    expect((await refused).data.code).toBe("threadNotFound");
  });

  it("[MCPCALL-27] of an unknown tool is refused with a reason", async () => {
    const { client, threadId } = await mcpStage([]);
    const call = (params: object) =>
      client.refusal("mcpServer/tool/call", { threadId, server: "own", tool: "x", ...params });
    expect((await call({ server: "none" })).data.code).toBe("mcpServerNotFound");
    expect(await call({})).toMatchObject({
      data: { code: "mcpRequestFailed" },
      message: expect.stringMatching(/has no tool "x"/),
    });
    expect((await call({ threadId: "01a1e11e-8538-703d-834a-e6eb57dc6a9a" })).data.code).toBe(
      "threadNotFound",
    );
    const read = (params: object) =>
      client.call("mcpServer/resource/read", { server: "own", uri: "test://one", ...params });
    const contents = [{ uri: "test://one", text: "this is test://one" }];
    expect(await read({ threadId })).toEqual({ contents, originCallId: null });
    expect(await read({})).toEqual({ contents, originCallId: null });
    for (const where of [{ threadId }, {}]) {
      const { contents: seen } = await read({ ...where, uri: "test://meta", _meta: { trace: 1 } });
      expect(JSON.parse(seen[0].text)).toMatchObject({ trace: 1 });
    }
    const refused = { threadId, server: "own", uri: "test://meta", _meta: { threadId: "another" } };
    expect((await client.refusal("mcpServer/resource/read", refused)).data.code).toBe("reservedResourceMeta");
  });
});
