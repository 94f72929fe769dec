import type { McpPrompt, Params, Result, UserInput } from "@bobbin/protocol";
import { expandPrompt } from "./expand-prompt.ts";
import { fillArguments } from "./fill-arguments.ts";

/**
 * A prompt needs named arguments that were not typed. The message says which, and how to write them.
 *
 * @example
 * await promptCommandInput(bobbin, "/prompts:ticket").catch((cause: unknown) => {
 *   if (!(cause instanceof PromptArgumentsError)) throw cause;
 *   console.log(cause.message);
 * });
 */
export class PromptArgumentsError extends Error {
  /** The names that are missing. */
  readonly names: readonly string[];

  /** @internal */
  constructor(command: string, names: readonly string[], hint: string | null) {
    const how = hint ?? names.map((name) => `${name}=…`).join(" ");
    super(`${command} needs ${names.join(", ")}. Write: ${command} ${how}`);
    this.name = "PromptArgumentsError";
    this.names = names;
  }
}

type PromptMethod = "prompts/read" | "mcpServer/prompt/list" | "mcpServer/prompt/get";

/** What `promptCommandInput` needs of a client. */
export interface PromptReader {
  /** Sends a request about prompts. */
  request<M extends PromptMethod>(method: M, params: Params<M>): Promise<Result<M>>;
}

/** Where prompts are looked for. */
export interface PromptPlace {
  /** The folder whose project's prompts count, by default the host's. */
  readonly cwd?: string | undefined;
  /** The loaded thread whose MCP servers' prompts count. */
  readonly threadId?: string | undefined;
}

/**
 * Returns the input to send for `/prompts:NAME arguments`: the saved prompt with its arguments. The name
 * `mcp:SERVER:NAME` stands for a prompt of an MCP server of the thread. Returns undefined for any other text. Rejects
 * with `PromptArgumentsError` if arguments are missing, and with an `RpcError` if there is no such prompt.
 *
 * @example
 * const input = await promptCommandInput(bobbin, "/prompts:ticket ID=BOB-7", { cwd: "/work/shop" });
 * if (input !== undefined) await bobbin.request("turn/start", { threadId: thread.id, input });
 */
export async function promptCommandInput(
  client: PromptReader,
  text: string,
  place: PromptPlace = {},
): Promise<UserInput[] | undefined> {
  const [, name, args] = /^\/prompts:(\S+)([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined) return undefined;
  const [, server, mcpName] = /^mcp:([^:]+):(.+)$/.exec(name) ?? [];
  if (server !== undefined && place.threadId !== undefined)
    return mcpPromptInput(client, { server, name: mcpName! }, args!, place.threadId);
  const { cwd } = place;
  const { prompt, content } = await client.request("prompts/read", {
    name,
    ...(cwd !== undefined && { cwd }),
  });
  const expansion = expandPrompt(content, args!);
  if (expansion.kind === "expanded") return [{ type: "text", text: expansion.text }];
  throw new PromptArgumentsError(`/prompts:${name}`, expansion.names, prompt.argumentHint);
}

async function mcpPromptInput(
  client: PromptReader,
  { server, name }: Pick<McpPrompt, "server" | "name">,
  args: string,
  threadId: string,
): Promise<UserInput[]> {
  const { data } = await client.request("mcpServer/prompt/list", { threadId });
  const prompt = data.find((one) => one.server === server && one.name === name);
  const filled = fillArguments(prompt?.arguments ?? [], args);
  if (filled.kind === "missing")
    throw new PromptArgumentsError(mcpPromptCommand({ server, name }), filled.names, argumentHint(prompt!));
  const { values, rest } = filled;
  const { input } = await client.request("mcpServer/prompt/get", {
    threadId,
    server,
    name,
    arguments: values,
  });
  return rest === "" ? input : [...input, { type: "text", text: rest }];
}

/**
 * The command that stands for a prompt of an MCP server.
 *
 * @example
 * mcpPromptCommand({ server: "docs", name: "summary" }); // "/prompts:mcp:docs:summary"
 */
export function mcpPromptCommand({ server, name }: Pick<McpPrompt, "server" | "name">): string {
  return `/prompts:mcp:${server}:${name}`;
}

/**
 * A hint for the arguments of an MCP prompt; null if it has none. Those in brackets are not required.
 *
 * @example
 * argumentHint({ arguments: [{ name: "topic", description: null, required: true }] }); // "topic=…"
 */
export function argumentHint({ arguments: args }: Pick<McpPrompt, "arguments">): string | null {
  if (args.length === 0) return null;
  return args.map(({ name, required }) => (required ? `${name}=…` : `[${name}=…]`)).join(" ");
}
