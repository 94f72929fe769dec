// What models are shown of MCP servers: tools, searches for them, what servers say about themselves, and resources.
import { describe, expect, it } from "vitest";
import { stdioHost } from "../support/host-process.ts";
import { APPROVED, calls, mcpItems, mcpStage, own, textsOf } from "../support/mcp-call-stage.ts";
import { homeWith, MCP_PROGRAM, mcpServer } from "../support/mcp-stage.ts";
import { chat, messages, responses, stream } from "../support/mock-model.ts";
import { outputs, say } from "../support/rap-stage.ts";
import { Cast, REVIEWED, verdict } from "../support/review-stage.ts";

const ready = "required = true";
const SEARCHED = { servers: [own(APPROVED, ready)], top: ["tool_search_above = 3"] };
const search = (query: string, limit = 2) =>
  stream(responses.stream(responses.call("tool_search", JSON.stringify({ query, limit }), "call_s")));

const chatCall = (name: string, args: object, id: string) => {
  const called = { index: 0, id, type: "function", function: { name, arguments: JSON.stringify(args) } };
  return stream(chat.stream(chat.delta({ tool_calls: [called] }, "tool_calls")));
};

const messagesCall = (name: string, args: object, id: string) => {
  const delta = { type: "input_json_delta", partial_json: JSON.stringify(args) };
  const block = messages.block(0, { type: "tool_use", id, name, input: {} }, delta);
  return stream(messages.stream([block], "tool_use"));
};

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent.
type Tools = any[];

describe("tools beyond the limit of a list", () => {
  it("[MCPCALL-16] are found by a function, and are listed from then on, on models that know no search", async () => {
    const { client, threadId, model } = await mcpStage(
      [search("echo"), calls(["echo", { message: "found" }]), say("ok"), say("still there")],
      SEARCHED,
    );
    await client.turn(threadId, "go");
    const listed = (nth: number): Tools => model.asked[nth]!.body.tools;
    expect(listed(0).find(({ name }) => name === "tool_search")).toMatchObject({ type: "function" });
    expect(JSON.stringify(listed(0))).not.toContain("mcp__own");
    expect(listed(1).find(({ name }) => name === "mcp__own").tools).toMatchObject([{ name: "echo" }]);
    expect(JSON.parse(outputs(model, 1)[0])).toMatchObject({
      tools: [{ namespace: "mcp__own", name: "echo" }],
    });
    expect(textsOf(mcpItems(client)[0])).toBe("found");
    // Clients see nothing of the search.
    expect(client.told("item/started").map(({ params }) => params.item.type)).toEqual([
      "userMessage",
      "mcpToolCall",
      "agentMessage",
    ]);
    await client.turn(threadId, "again");
    expect(listed(3).some(({ name }) => name === "mcp__own")).toBe(true);
  });

  it.each([
    ["chat", chatCall, stream(chat.stream(chat.delta({ content: "ok" }, "stop")))],
    ["messages", messagesCall, stream(messages.stream([messages.text(0, "ok")]))],
  ] as const)(
    "[MCPCALL-16] are called by their full names without namespaces: %s",
    async (wire, call, end) => {
      const { client, threadId, model } = await mcpStage(
        [
          call("tool_search", { query: "echo" }, "c1"),
          call("mcp__own__echo", { message: "found" }, "c2"),
          end,
        ],
        { ...SEARCHED, wire },
      );
      await client.turn(threadId, "go");
      const names = (nth: number): string[] =>
        (model.asked[nth]!.body.tools as Tools).map((tool) => tool.function?.name ?? tool.name);
      expect(names(0)).toContain("tool_search");
      expect(names(0).some((name) => name.startsWith("mcp__"))).toBe(false);
      expect(names(1)).toContain("mcp__own__echo");
      expect(textsOf(mcpItems(client)[0])).toBe("found");
    },
  );

  it("[MCPCALL-16] are listed up to the bound, without a search", async () => {
    const { client, threadId, model } = await mcpStage([say("ok")], { servers: [own(APPROVED, ready)] });
    await client.turn(threadId, "go");
    const { tools } = model.asked[0]!.body;
    expect(tools.find(({ name }: { name: string }) => name === "mcp__own").tools.length).toBeGreaterThan(3);
    expect(JSON.stringify(tools)).not.toContain("tool_search");
  });
});

describe("the instructions of a server", () => {
  it("[MCPCALL-17] is sent to models with its tools, on each API", async () => {
    const wires = {
      responses: say("ok"),
      chat: stream(chat.stream(chat.delta({ content: "ok" }, "stop"))),
      messages: stream(messages.stream([messages.text(0, "ok")])),
    };
    for (const [wire, reply] of Object.entries(wires)) {
      const { client, threadId, model } = await mcpStage([reply], {
        servers: [own(APPROVED, ready)],
        wire: wire as keyof typeof wires,
      });
      await client.turn(threadId, "go");
      const { body } = model.asked[0]!;
      const place = { responses: body.tools, chat: body.messages?.[0], messages: body.system }[wire];
      expect(JSON.stringify(place), wire).toContain("Use it in tests.");
    }
  });
});

describe("resources of MCP servers", () => {
  const call = (tool: string, args: object, id: string) =>
    stream(responses.stream(responses.call(tool, JSON.stringify(args), id)));

  it("[MCPCALL-18] are listed and read by models", async () => {
    const { client, threadId, model } = await mcpStage(
      [
        call("list_mcp_resources", {}, "c1"),
        call("list_mcp_resource_templates", { server: "own" }, "c2"),
        call("read_mcp_resource", { server: "own", uri: "test://one" }, "c3"),
        call("read_mcp_resource", { server: "nobody", uri: "test://one" }, "c4"),
        call("list_mcp_resources", { cursor: "x" }, "c5"),
        say("ok"),
      ],
      { servers: [own(ready)] },
    );
    await client.turn(threadId, "go");
    const [list, templates, read, unknown, cursor] = outputs(model, 5);
    expect(JSON.parse(list[0].text)).toEqual({
      resources: [{ server: "own", uri: "test://one", name: "one" }],
    });
    expect(JSON.parse(templates[0].text)).toMatchObject({
      server: "own",
      resourceTemplates: [{ name: "any" }],
    });
    expect(read).toEqual([{ type: "input_text", text: "Resource test://one:\nthis is test://one" }]);
    expect(unknown).toMatch(/no MCP server named nobody/);
    expect(cursor).toMatch(/`cursor` needs `server`/);
    expect(mcpItems(client).map(({ server, tool, status }) => `${server}/${tool} ${status}`)).toEqual([
      "bobbin/list_mcp_resources completed",
      "own/list_mcp_resource_templates completed",
      "own/read_mcp_resource completed",
      "bobbin/list_mcp_resources failed",
    ]);
  });
});

describe("the offline model", () => {
  it("[MCPCALL-19] calls tools of MCP servers by their names", async () => {
    const home = await homeWith(mcpServer("own", MCP_PROGRAM, [], [APPROVED, ready]));
    const { client } = await stdioHost({ home });
    const threadId = await client.startThread();
    await client.turn(threadId, 'call mcp__own__echo {"message": "whole"}');
    await client.turn(threadId, 'call echo {"message": "short"}');
    expect(mcpItems(client).map(textsOf)).toEqual(["whole", "short"]);
  });
});

describe("auto review", () => {
  it("[MCPCALL-28] reviews calls of MCP servers with their arguments", async () => {
    const cast = new Cast(
      [calls(["echo", { message: "a" }, "call_1"]), calls(["echo", { message: "b" }, "call_2"]), say("ok")],
      [verdict("deny"), verdict("allow")],
    );
    const { client, threadId } = await mcpStage([cast.reply], { servers: [own(ready)], top: REVIEWED });
    await client.turn(threadId, "go");
    expect(client.count("mcpServer/elicitation/request")).toBe(0);
    expect(mcpItems(client)).toMatchObject([
      { id: "call_1", status: "failed", error: { message: expect.stringMatching(/reviewer denied it/) } },
      { id: "call_2", status: "completed" },
    ]);
    const { action } = cast.reviewer[0]!.shown;
    expect(action).toMatchObject({
      type: "mcpToolCall",
      server: "own",
      toolName: "echo",
      toolDescription: "The tool echo.",
      call: { arguments: '{"message":"a"}' },
    });
  });
});
