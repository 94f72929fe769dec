// What models do with MCP servers.
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import { APPROVED, calls, elicitation, mcpItems, mcpStage, own, textsOf } from "../support/mcp-call-stage.ts";
import { MCP_PROGRAM, mcpServer } from "../support/mcp-stage.ts";
import { outputs, say } from "../support/rap-stage.ts";

const accept = { action: "accept", content: null, _meta: null };

describe("a call of an MCP server", () => {
  it("[MCPCALL-6] waits for a server that has not listed its tools yet", async () => {
    const file = join(await freshFolder(), "start");
    const slow = mcpServer("own", MCP_PROGRAM, ["--start-when", file], [APPROVED]);
    const { client, threadId, model } = await mcpStage([calls(["echo", { message: "hi" }]), say("ok")], {
      servers: [slow],
    });
    const turnId = await client.say(threadId, "go");
    await eventually(() => model.asked.length === 1, "the model is asked");
    await writeFile(file, "");
    await client.turnCompleted(turnId);
    // The turn did not wait: the model was asked without the server's tools.
    expect(JSON.stringify(model.asked[0]!.body.tools)).not.toContain("mcp__own");
    expect(outputs(model, 1)).toEqual([[{ type: "input_text", text: "hi" }]]);
    expect(JSON.stringify(model.asked[1]!.body.tools)).toContain("mcp__own");
  });

  it("[MCP-4] is offered by what the server listed on the last host, and waits until the server has started", async () => {
    const file = join(await freshFolder(), "start");
    await writeFile(file, "");
    const slow = mcpServer("own", MCP_PROGRAM, ["--start-when", file], [APPROVED]);
    const { client, model, host, home, cwd } = await mcpStage(
      [calls(["echo", { message: "hi" }]), say("ok")],
      { servers: [slow] },
    );
    await client.waitFor(({ params }) => params?.status === "ready", "its tools are known");
    host.signal("SIGTERM");
    await host.exited;
    await rm(file);
    const next = (await stdioHost({ home, capabilities: { experimentalApi: true } })).client;
    const threadId = await next.startThread({ cwd });
    const turnId = await next.say(threadId, "go");
    await next.waitFor(({ params }) => params?.status === "starting", "the call starts the server");
    expect(JSON.stringify(model.asked[0]!.body.tools)).toContain("mcp__own");
    expect(mcpItems(next, "item/started")).toMatchObject([{ tool: "echo", status: "inProgress" }]);
    expect(mcpItems(next)).toEqual([]);
    await writeFile(file, "");
    await next.turnCompleted(turnId);
    expect(mcpItems(next).map(textsOf)).toEqual(["hi"]);
  });

  it("[MCPCALL-7] is allowed for the session, listed, and asked about again when that is revoked", async () => {
    const { client, threadId } = await mcpStage(
      [calls(["echo"]), say("ok"), calls(["echo"]), say("ok"), calls(["echo"]), say("ok")],
      { servers: [own()] },
    );
    const first = await client.say(threadId, "go");
    const { id } = await elicitation(client);
    client.send({ id, result: { ...accept, _meta: { persist: "session" } } });
    await client.turnCompleted(first);
    await client.turn(threadId, "again");
    expect(client.count("mcpServer/elicitation/request")).toBe(1);
    const { data } = await client.call("thread/grants/list", { threadId });
    expect(data).toMatchObject([
      { kind: "tool", scope: "session", description: "Call the tool echo of the MCP server own" },
    ]);
    await client.call("thread/grants/revoke", { threadId, grantId: data[0].id });
    const from = client.frames.length;
    const third = await client.say(threadId, "and again");
    const asked = await elicitation(client, from);
    client.send({ id: asked.id, result: { ...accept, action: "decline" } });
    await client.turnCompleted(third);
    expect(mcpItems(client).map(({ status }) => status)).toEqual(["completed", "completed", "failed"]);
  });

  it("[MCPCALL-7] needs approval each time in the mode `prompt`, and nothing is remembered", async () => {
    const { client, threadId } = await mcpStage([calls(["echo"], ["pid"]), say("ok")], {
      servers: [
        own(
          'default_tools_approval_mode = "prompt"',
          "[mcp_servers.own.tools.pid]",
          'approval_mode = "approve"',
        ),
      ],
    });
    const turnId = await client.say(threadId, "go");
    const { id, params } = await elicitation(client);
    expect(params._meta).not.toHaveProperty("persist");
    client.send({ id, result: { ...accept, _meta: { persist: "session" } } });
    await client.turnCompleted(turnId);
    expect(client.count("mcpServer/elicitation/request")).toBe(1);
    expect((await client.call("thread/grants/list", { threadId })).data).toEqual([]);
  });

  it("[MCPCALL-8] is always allowed by the configuration, for other threads and after a restart", async () => {
    const replies = [calls(["echo"]), say("ok"), calls(["echo"]), say("ok"), calls(["echo"]), say("ok")];
    const { client, threadId, host, home, cwd } = await mcpStage(replies, {
      servers: ["# Our own server.", own()],
    });
    const turnId = await client.say(threadId, "go");
    const { id, params } = await elicitation(client);
    expect(params._meta.persist).toEqual(["session", "always"]);
    client.send({ id, result: { ...accept, _meta: { persist: "always" } } });
    await client.turnCompleted(turnId);
    const config = await readFile(join(home, "config.toml"), "utf8");
    expect(config).toContain("# Our own server.\n[mcp_servers.own]");
    expect(config).toContain('[mcp_servers.own.tools.echo]\napproval_mode = "approve"');
    const other = await client.startThread({ cwd });
    await client.turn(other, "go");
    host.signal("SIGKILL");
    await host.exited;
    const next = (await stdioHost({ home, capabilities: { experimentalApi: true } })).client;
    await next.turn(await next.startThread({ cwd }), "go");
    expect(client.count("mcpServer/elicitation/request") + next.count("mcpServer/elicitation/request")).toBe(
      1,
    );
  });

  it("[MCPCALL-8] of a server that a client brought along is allowed for the session at most", async () => {
    const config = { mcp_servers: { own: { command: process.execPath, args: [MCP_PROGRAM] } } };
    const { client, threadId, home } = await mcpStage([calls(["echo"]), say("ok")], {
      servers: [],
      params: { config },
    });
    const before = await readFile(join(home, "config.toml"), "utf8");
    const turnId = await client.say(threadId, "go");
    const { id, params } = await elicitation(client);
    expect(params._meta.persist).toBe("session");
    client.send({ id, result: { ...accept, _meta: { persist: "always" } } });
    await client.turnCompleted(turnId);
    expect(await readFile(join(home, "config.toml"), "utf8")).toBe(before);
    expect((await client.call("thread/grants/list", { threadId })).data).toHaveLength(1);
  });

  it("[MCPCALL-9] that needs an approval which cannot be asked for is refused with a reason for the model", async () => {
    const { client, threadId, model } = await mcpStage([calls(["echo"]), say("ok")], {
      servers: [own()],
      params: { approvalPolicy: "never" },
    });
    await client.turn(threadId, "go");
    expect(outputs(model, 1)[0]).toMatch(/needs the user's approval.*ask for none/);
    expect(mcpItems(client)).toMatchObject([{ status: "failed", error: { message: expect.any(String) } }]);
  });

  it("[MCPCALL-10] is cancelled by an interrupt, and ends before its turn", async () => {
    const file = join(await freshFolder(), "cancelled");
    const { client, threadId } = await mcpStage([calls(["silence"])], {
      servers: [mcpServer("own", MCP_PROGRAM, ["--cancelled", file], [APPROVED])],
    });
    const turnId = await client.say(threadId, "go");
    await client.waitFor(
      ({ method, params }) => method === "item/started" && params.item.type === "mcpToolCall",
      "the call",
    );
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    const methods = client.frames.map(({ method }) => method);
    expect(methods.lastIndexOf("item/completed")).toBeLessThan(methods.indexOf("turn/completed"));
    expect(mcpItems(client)[0]).toMatchObject({ status: "failed", error: { message: expect.any(String) } });
    await eventually(() => existsSync(file), "the server hears that its call is cancelled");
  });

  it("[MCPCALL-11] shows its progress between its start and its end, not too often", async () => {
    const { client, threadId } = await mcpStage([calls(["progress", { steps: 400, ms: 1 }]), say("ok")]);
    await client.turn(threadId, "go");
    const told = client.told("item/mcpToolCall/progress");
    expect(told[0]!.params).toMatchObject({ threadId, itemId: "call_1", message: "1/400" });
    expect(told.at(-1)!.params).toMatchObject({ message: "400/400" });
    expect(told.length).toBeGreaterThan(1);
    expect(told.length).toBeLessThan(100);
    const at = (method: string): number =>
      client.frames.findIndex(
        (frame) => frame.method === method && frame.params.item?.type === "mcpToolCall",
      );
    const places = client.frames.flatMap(({ method }, place) =>
      method === "item/mcpToolCall/progress" ? [place] : [],
    );
    expect(places[0]).toBeGreaterThan(at("item/started"));
    expect(places.at(-1)).toBeLessThan(at("item/completed"));
  });

  it("[MCPCALL-12] runs after the others of its server, unless that takes several at once", async () => {
    for (const isParallel of [false, true]) {
      const line = `supports_parallel_tool_calls = ${isParallel}`;
      const file = join(await freshFolder(), "there");
      const { client, threadId } = await mcpStage(
        [calls(["until", { file }, "a"], ["echo", { message: "hi" }, "b"]), say("ok")],
        { servers: [own(APPROVED, line)] },
      );
      const turnId = await client.say(threadId, "go");
      await client.until(() => mcpItems(client, "item/started").length === 2, "both calls");
      if (isParallel) await client.until(() => mcpItems(client).length === 1, "the second call");
      await writeFile(file, "");
      await client.turnCompleted(turnId);
      expect(mcpItems(client).map(({ id }) => id)).toEqual(isParallel ? ["b", "a"] : ["a", "b"]);
    }
  });

  it("[MCPCALL-13] keeps what is too long for the model in a file that commands can read", async () => {
    const { client, threadId, model, home } = await mcpStage([calls(["big", { bytes: 200_000 }]), say("ok")]);
    await client.turn(threadId, "go");
    const [[{ text }]] = outputs(model, 1);
    expect(text.length).toBeLessThan(70_000);
    const path = /all of it is in (\S+)\)/.exec(text)![1]!;
    expect(path.startsWith(home)).toBe(true);
    expect((await readFile(path, "utf8")).length).toBe(200_000);
    expect(textsOf(mcpItems(client)[0]).length).toBe(200_000);
    await client.call("thread/delete", { threadId });
    expect(existsSync(path)).toBe(false);
  });
});
