// Prompts of a thread's MCP servers, listed and expanded for clients.
import { type PromptReader, promptCommandInput } from "@bobbin/client";
import type { McpPrompt } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { mcpStage } from "../support/mcp-call-stage.ts";
import { MCP_PROGRAM, mcpServer } from "../support/mcp-stage.ts";

const poet = mcpServer("poet", MCP_PROGRAM, ["--prompts"], ["required = true"]);
const plain = mcpServer("plain", MCP_PROGRAM, [], ["required = true"]);

describe("prompts of MCP servers", () => {
  it("[PROMPT-8] are listed with their arguments, and become input", async () => {
    const { client, threadId } = await mcpStage([], { servers: [plain, poet] });
    const { data, warnings } = await client.call("mcpServer/prompt/list", { threadId });
    expect(warnings).toEqual([]);
    // Without the one whose name cannot be typed.
    expect(data.map(({ server, name }: McpPrompt) => `${server} ${name}`)).toEqual([
      "poet poem",
      "poet rich",
      "poet talk",
      "poet hang",
    ]);
    expect(data.slice(0, 2)).toEqual([
      {
        ...{ server: "poet", name: "poem", description: "A poem, on demand" },
        arguments: [
          { name: "topic", description: "What about", required: true },
          { name: "style", description: null, required: false },
        ],
      },
      { server: "poet", name: "rich", description: "Rich", arguments: [] },
    ]);
    const get = (name: string, args = {}) =>
      client.call("mcpServer/prompt/get", { threadId, server: "poet", name, arguments: args });
    expect(await get("poem", { topic: "rain" })).toEqual({
      input: [{ type: "text", text: "Write a plain poem about rain." }],
    });
    expect(await get("rich")).toEqual({
      input: [
        { type: "text", text: "Look at this." },
        { type: "image", url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) },
        { type: "text", text: "(an image left out: its data is not base64)" },
        { type: "text", text: "test://one\nthe text of one" },
        { type: "text", text: '{"type":"resource_link","uri":"test://two","name":"two"}' },
        { type: "text", text: '{"type":"surprise"}' },
      ],
    });
    expect((await get("talk")).input.map(({ text }: { text: string }) => text)).toEqual([
      "User: Who are you?",
      "Assistant: A poet.",
      "User: Prove it.",
    ]);
    const refused = (server: string, name: string) =>
      client.refusal("mcpServer/prompt/get", { threadId, server, name });
    expect(await refused("none", "poem")).toMatchObject({ data: { code: "mcpServerNotFound" } });
    expect(await refused("poet", "none")).toMatchObject({
      message: expect.stringContaining("no prompt none"),
      data: { code: "mcpRequestFailed" },
    });
  });

  it("[PROMPT-8] are sent by /prompts:mcp:SERVER:NAME", async () => {
    const { client, threadId } = await mcpStage([], { servers: [poet] });
    const reader: PromptReader = { request: (method, params) => client.call(method, params) };
    const expand = (text: string) => promptCommandInput(reader, text, { threadId });
    expect(await expand("/prompts:mcp:poet:poem 'the sea' style=sad")).toEqual([
      { type: "text", text: "Write a sad poem about the sea." },
    ]);
    expect((await expand("/prompts:mcp:poet:talk and then sing"))!.at(-1)).toEqual({
      type: "text",
      text: "and then sing",
    });
    await expect(expand("/prompts:mcp:poet:poem style=sad")).rejects.toThrow(
      "/prompts:mcp:poet:poem needs topic. Write: /prompts:mcp:poet:poem topic=… [style=…]",
    );
    await expect(expand("/prompts:mcp:none:poem")).rejects.toThrow("mcpServerNotFound");
    // Without a thread there are no servers.
    await expect(promptCommandInput(reader, "/prompts:mcp:poet:poem")).rejects.toThrow("promptNotFound");
  });

  it("[PROMPT-9] that hang end at the server's time limit for tools", async () => {
    const hung = mcpServer("hung", MCP_PROGRAM, ["--prompts"], ["required = true", "tool_timeout_sec = 0.2"]);
    const { client, threadId } = await mcpStage([], { servers: [hung] });
    expect(
      await client.refusal("mcpServer/prompt/get", { threadId, server: "hung", name: "hang" }),
    ).toMatchObject({
      message: expect.stringContaining("The MCP server hung did not answer: there was no answer for 0.2 s."),
      data: { code: "mcpRequestFailed" },
    });
  });

  it("[PROMPT-9] do not exist in a thread without servers, or in none", async () => {
    const { client, threadId } = await mcpStage([], { servers: [] });
    expect(await client.call("mcpServer/prompt/list", { threadId })).toEqual({ data: [], warnings: [] });
    await client.call("thread/unload", { threadId });
    expect(await client.refusal("mcpServer/prompt/list", { threadId })).toMatchObject({
      data: { code: "threadNotFound" },
    });
  });
});
