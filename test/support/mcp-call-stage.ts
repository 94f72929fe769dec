// A real host with a local model and MCP servers, and a client.
import { type HostProcess, spawnHost } from "./host-process.ts";
import { MCP_PROGRAM, mcpServer } from "./mcp-stage.ts";
import { MockModel, type Reply, responses, stream } from "./mock-model.ts";
import { modelHome } from "./model-home.ts";
import type { Received, WireClient } from "./wire-client.ts";

/** Configuration: calls need no approval. */
export const APPROVED = 'default_tools_approval_mode = "approve"';

export interface McpStage {
  readonly model: MockModel;
  readonly host: HostProcess;
  readonly home: string;
  readonly cwd: string;
  readonly client: WireClient;
  readonly threadId: string;
}

export interface McpStageOptions {
  /** Tables of config.toml; by default the server `own`, whose calls need no approval. */
  readonly servers?: readonly string[];
  readonly top?: readonly string[];
  /** The model's. */
  readonly wire?: "responses" | "chat" | "messages";
  /** Of `thread/start`. */
  readonly params?: object;
}

export const own = (...more: readonly string[]): string => mcpServer("own", MCP_PROGRAM, [], more);

export async function mcpStage(
  replies: readonly Reply[],
  { servers = [own(APPROVED)], top = [], wire = "responses", params = {} }: McpStageOptions = {},
): Promise<McpStage> {
  const model = await MockModel.start(...replies);
  const { home, cwd } = await modelHome(wire, model.url, { top, provider: servers });
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join(undefined, { experimentalApi: true });
  const threadId = await client.startThread({ cwd, ...params });
  return { model, host, home, cwd, client, threadId };
}

/** Replies in which the model calls tools of the server `own`. Each call is a name and arguments. */
export function calls(
  ...called: readonly (readonly [tool: string, args?: object, callId?: string])[]
): Reply {
  const items = called.map(([tool, args = {}, callId], at) =>
    responses.call(tool, JSON.stringify(args), callId ?? `call_${at + 1}`, "mcp__own"),
  );
  return stream(responses.stream(...items));
}

/** The calls of MCP tools that a client was notified of. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent.
export function mcpItems(client: WireClient, method = "item/completed"): any[] {
  return client
    .told(method)
    .map(({ params }) => params.item)
    .filter(({ type }) => type === "mcpToolCall");
}

/** The next elicitation request: from a server, or about a call of its tools. */
export function elicitation(client: WireClient, from = 0): Promise<Received> {
  const method = "mcpServer/elicitation/request";
  return client.waitFor((frame) => frame.method === method, method, from);
}

/** The texts of an item's result. */
export function textsOf({ result }: { result: { content: { text?: string }[] } | null }): string {
  return (result?.content ?? []).map(({ text }) => text ?? "").join("\n");
}
