import type {
  McpAskHandler,
  McpCallOptions,
  McpCallResult,
  McpServers,
  McpTool,
  ThreadServer,
} from "../../packages/host/src/tool/mcp/mcp-interface.ts";
import type { McpServerSettings } from "../../packages/host/src/tool/mcp/mcp-server-settings.ts";
import type { World } from "./world.ts";

const SETTINGS: McpServerSettings = {
  name: "notes",
  transport: { kind: "stdio", command: "notes", args: [], env: {}, envVars: [], cwd: null },
  startupTimeoutMs: 1000,
  toolTimeoutMs: 1000,
  enabled: true,
  required: false,
  enabledTools: null,
  disabledTools: [],
  defaultApprovalMode: null,
  approvalModes: {},
  supportsParallelToolCalls: true,
  scopes: null,
  oauth: { clientId: null, clientSecret: null, callbackPort: null },
  oauthResource: null,
  isolation: null,
  origin: "thread",
};

const HARMLESS = { destructiveHint: false, openWorldHint: false };
const inputSchema = { type: "object" };
const TOOLS: readonly McpTool[] = [
  { name: "look", annotations: { readOnlyHint: true }, inputSchema },
  /** Is asked about. */
  { name: "write", inputSchema },
  /** Asks the user to fill in a form. */
  { name: "form", annotations: HARMLESS, inputSchema },
  /** Asks the user to visit a page. */
  { name: "page", annotations: HARMLESS, inputSchema },
  /** Uses the thread's model. */
  { name: "think", annotations: HARMLESS, inputSchema },
  /** Has a large picture. */
  { name: "draw", annotations: { readOnlyHint: true }, inputSchema },
];

/** A URL that no journal may contain. */
export const SECRET_PAGE = "https://example.org/grant?secret=41";
const PICTURE = Buffer.concat([Buffer.from("GIF89a\x01\0\x01\0", "latin1"), Buffer.alloc(40_000, 7)]);

/** The MCP servers of one host: one server, which every thread has. Its calls end with the host. */
export class FakeMcp implements McpServers {
  readonly #world: World;
  /** Calls of models that arrived, by thread and call, from all hosts of the world. */
  readonly #called: Set<string>;
  readonly #server: ThreadServer;
  /** Called in the step in which a call reaches the server. */
  reached: (tool: string) => void = () => {};

  constructor(world: World, called: Set<string>, origin: McpServerSettings["origin"] = "thread") {
    this.#world = world;
    this.#called = called;
    this.#server = {
      name: "notes",
      settings: { ...SETTINGS, origin },
      tools: TOOLS,
      instructions: "Take notes.",
      hasResources: false,
      hasPrompts: false,
      listed: () => undefined,
      call: (tool, _args, options) => this.#call(tool, options),
      listResources: async () => ({ resources: [], nextCursor: null }),
      listResourceTemplates: async () => ({ resourceTemplates: [], nextCursor: null }),
      readResource: async () => ({ contents: [] }),
      listPrompts: async () => ({ prompts: [], nextCursor: null }),
      getPrompt: async () => ({ messages: [] }),
    };
  }

  load(): void {}

  unload(): void {}

  of(): readonly ThreadServer[] {
    return [this.#server];
  }

  required(): undefined {
    return undefined;
  }

  async #call(tool: string, { asked, signal, meta, onProgress }: McpCallOptions): Promise<McpCallResult> {
    const { threadId, callId } = meta as { threadId: string; callId?: string };
    const call = `${threadId} ${callId}`;
    const isLasting = TOOLS.some(({ name, annotations }) => name === tool && !annotations?.readOnlyHint);
    if (isLasting && callId !== undefined && this.#called.has(call))
      this.#world.fail(new Error(`called twice: ${call}`));
    this.#called.add(call);
    this.reached(tool);
    await this.#world.moment("notes");
    onProgress({ progress: 1 });
    const said = await work(tool, asked!, signal);
    await this.#world.moment("notes");
    signal.throwIfAborted();
    return { content: [said], structuredContent: null, isError: false, meta: null };
  }
}

async function work(tool: string, asked: McpAskHandler, signal: AbortSignal) {
  const meta = null;
  const answer = async (): Promise<unknown> => {
    switch (tool) {
      case "form": {
        const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
        return asked.elicit({ mode: "form", message: "Who?", requestedSchema, meta }, signal);
      }
      case "page":
        return asked.elicit(
          { mode: "url", message: "Visit", url: SECRET_PAGE, elicitationId: "e", meta },
          signal,
        );
      case "think": {
        const messages = [{ role: "user", content: { type: "text", text: "hello" } }];
        return asked.sample({ messages, maxTokens: 100 }, signal);
      }
      default:
        return "done";
    }
  };
  if (tool === "draw") return { type: "image", data: PICTURE.toString("base64"), mimeType: "image/gif" };
  return { type: "text", text: JSON.stringify(await answer()) };
}
