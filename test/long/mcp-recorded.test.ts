// The recorded cases of the Codex CLI with MCP servers, played against the real program on stdio and on a WebSocket, with two
// clients and the reference server.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { spawnHost } from "../support/host-process.ts";
import { EVERYTHING, mcpServer } from "../support/mcp-stage.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { outputs } from "../support/rap-stage.ts";
import { recordedMcpCases, TRANSPORTS } from "../support/recorded-case.ts";
import { type Played, play, type Stage } from "../support/recorded-play.ts";

const SEARCH = "mcp-tool-search";
const ALWAYS = "mcp-approval-always";
const EXPERIMENTAL = { experimentalApi: true };

interface Host extends Stage {
  readonly home: string;
}

async function start(transport: string, top: readonly string[]): Promise<Host> {
  const model = await MockModel.start();
  const comment = "# The reference server.";
  const provider = [comment, mcpServer("every", EVERYTHING, ["stdio"])];
  const { home } = await modelHome("responses", model.url, { top, provider });
  const args = ["--listen", "ws://127.0.0.1:0", ...(transport === "stdio" ? ["--stdio"] : [])];
  const host = await spawnHost({ home, args });
  const client = transport === "stdio" ? host.stdio() : await host.connect();
  await client.initialize(EXPERIMENTAL);
  const follower = await host.join(undefined, EXPERIMENTAL);
  return { model, home, client, follower, answers: transport === "stdio" ? "client" : "follower" };
}

/** What else has to hold after a case. */
const AFTER: Record<string, (played: Played, host: Host) => unknown> = {
  "mcp-approval-accept": ({ frames }) => {
    const { params } = frames.find(({ method }) => method === "mcpServer/elicitation/request")!;
    expect(params._meta).toMatchObject({
      codex_approval_kind: "mcp_tool_call",
      persist: ["session", "always"],
      tool_title: "GZip File as Resource Tool",
      tool_params: { name: "a.gz", data: "data:text/plain,hi", outputType: "resourceLink" },
    });
    expect(params._meta.tool_params_display.map(({ name }: { name: string }) => name)).toEqual([
      "data",
      "name",
      "outputType",
    ]);
    expect(params.requestedSchema).toEqual({ type: "object", properties: {} });
  },
  "mcp-approval-always": async (_, { home }) => {
    const config = await readFile(join(home, "config.toml"), "utf8");
    expect(config).toContain('[mcp_servers.every.tools.gzip-file-as-resource]\napproval_mode = "approve"');
    expect(config).toContain("# The reference server.");
  },
  "mcp-approval-cancel": ({ items }) => {
    const { error } = items.find(({ type }) => type === "mcpToolCall");
    expect(error.message).toMatch(/the user cancelled it/);
  },
  "mcp-direct-rpc": ({ frames }) => {
    const replies = frames.filter(({ method }) => method === undefined).map(({ result }) => result);
    expect(replies[0]).toEqual({ content: [{ type: "text", text: "Echo: direct" }] });
    expect(replies[1]).toMatchObject({
      contents: [{ uri: "demo://resource/dynamic/text/1", mimeType: "text/plain" }],
      originCallId: null,
    });
  },
  "mcp-echo": ({ items }, { model }) => {
    expect(items.find(({ type }) => type === "mcpToolCall")).toMatchObject({
      arguments: { message: "hi" },
      readOnlyHint: true,
      result: { content: [{ type: "text", text: "Echo: hi" }], structuredContent: null, _meta: null },
      error: null,
    });
    expect(outputs(model, model.asked.length - 1)).toEqual([[{ type: "input_text", text: "Echo: hi" }]]);
  },
  "mcp-elicitation-url": ({ frames }) => {
    const { params } = frames.findLast(({ method }) => method === "mcpServer/elicitation/request")!;
    expect(params).toMatchObject({ url: "https://example.com/x", elicitationId: "e1", message: "Please" });
  },
  "mcp-progress": ({ frames, items }, { model }) => {
    const told = frames.filter(({ method }) => method === "item/mcpToolCall/progress");
    expect(told.length).toBeGreaterThan(0);
    const calls = items.filter(({ type }) => type === "mcpToolCall");
    expect(calls[1].result.content[1]).toMatchObject({ type: "image", mimeType: "image/png" });
    expect(calls[2].result.structuredContent).toMatchObject({ humidity: 82 });
    expect(calls[3]).toMatchObject({ status: "failed", error: null });
    const [, picture, structured] = outputs(model, model.asked.length - 1);
    expect(picture[1]).toMatchObject({ type: "input_image" });
    expect(JSON.parse(structured)).toMatchObject({ temperature: 36 });
  },
  "mcp-tool-search": (_, { model }) => {
    const { input, tools } = model.asked.at(-1)!.body;
    const found = input.find(({ type }: { type: string }) => type === "tool_search_output");
    expect(found.tools).toMatchObject([
      { type: "namespace", name: "mcp__every", tools: [{ name: "echo", defer_loading: true }, {}] },
    ]);
    expect(tools.map(({ type }: { type: string }) => type)).toContain("tool_search");
    expect(JSON.stringify(tools)).not.toContain("mcp__every");
  },
};

describe.each(TRANSPORTS)("a recorded case with MCP servers on %s", (transport) => {
  describe.each([
    { top: [], cases: recordedMcpCases.filter(({ name }) => name !== SEARCH && name !== ALWAYS) },
    // The Codex CLI never lists tools for models that can search.
    { top: ["tool_search_above = 0"], cases: recordedMcpCases.filter(({ name }) => name === SEARCH) },
    // From then on nobody is asked.
    { top: ["# A comment."], cases: recordedMcpCases.filter(({ name }) => name === ALWAYS) },
  ])("with $top", ({ top, cases }) => {
    let host: Host;
    beforeAll(async () => {
      host = await start(transport, top);
    });

    it.each(cases.map((recorded) => ({ title: recorded.name, recorded })))(
      "[RECORDED-1] has the recorded order for both clients: $title",
      async ({ title, recorded }) => {
        const played = await play(recorded, host);
        await AFTER[title]?.(played, host);
      },
    );
  });
});
