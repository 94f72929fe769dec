import { EVENT_TOOL, parseToolset, type Toolset, underBase } from "../wire/index.ts";
import type { ToolServerOptions } from "./options.ts";
import type { ReadyTool } from "./perform.ts";
import { inputOf } from "./schema.ts";

export const INVOKE_PATH = "/invoke";

const ANNOTATIONS = ["requiresAuth", "readOnly", "destructive", "idempotent", "longRunning"];

/** Makes tools ready for calls. Throws what is wrong with one of them, by its name. */
export function readyTools({ tools, oauth }: ToolServerOptions): ReadonlyMap<string, ReadyTool> {
  const ready = new Map<string, ReadyTool>();
  for (const tool of tools) {
    const wrong = (says: string): never => {
      throw new TypeError(`the tool ${JSON.stringify(tool.name)}: ${says}`);
    };
    if (ready.has(tool.name)) wrong("there is another one of this name");
    if (tool.name === EVENT_TOOL) wrong("hosts use this name themselves");
    for (const key of Object.keys(tool.annotations ?? {}))
      if (!ANNOTATIONS.includes(key) && !key.startsWith("x-"))
        wrong(`the annotation ${key} is not one of the protocol; one of your own begins with x-`);
    const provider = tool.annotations?.requiresAuth;
    if (provider !== undefined && oauth !== undefined && !Object.hasOwn(oauth.providers, provider))
      wrong(`there is no oauth provider ${provider}`);
    try {
      ready.set(tool.name, { tool, input: inputOf(tool.input) });
    } catch (error) {
      wrong(error instanceof Error ? error.message : String(error));
    }
  }
  return ready;
}

/** What is told at the discovery endpoint. Throws if no host would take it. */
export function toolsetOf(
  { name, description, migrate }: ToolServerOptions,
  tools: ReadonlyMap<string, ReadyTool>,
  base: string,
): Toolset {
  const told = {
    name,
    ...(description !== undefined && { description }),
    endpoint: underBase(base, INVOKE_PATH),
    tools: [...tools.values()].map(({ tool, input }) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: input.inputSchema,
      ...(tool.annotations !== undefined && { annotations: tool.annotations }),
      ...(tool.displayScript !== undefined && { displayScript: tool.displayScript }),
    })),
    ...(migrate !== undefined && { needsMigration: true }),
  };
  // Held against what hosts hold it against, before one does.
  const read = parseToolset(JSON.parse(JSON.stringify(told)));
  if (!read.ok) throw new TypeError(`the toolset: ${read.problem.path} ${read.problem.says}`);
  return told as Toolset;
}
