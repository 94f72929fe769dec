import { EVENT_TOOL, parseToolset, type Toolset, underBase } from "../wire/index.ts";
import { prepareInputSchema } from "./input-schema.ts";
import type { ToolServerOptions } from "./options.ts";
import type { ReadyTool } from "./run-tool.ts";

export const INVOKE_PATH = "/invoke";

const ANNOTATIONS = ["requiresAuth", "readOnly", "destructive", "idempotent", "longRunning"];

/** Checks the tools of a server and prepares their schemas. Throws an error that names the first invalid tool. */
export function readyTools({ tools, oauth }: ToolServerOptions): ReadonlyMap<string, ReadyTool> {
  const ready = new Map<string, ReadyTool>();
  for (const tool of tools) {
    const wrong = (says: string): never => {
      throw new TypeError(`the tool ${JSON.stringify(tool.name)}: ${says}`);
    };
    if (ready.has(tool.name)) wrong("another tool has the same name");
    if (tool.name === EVENT_TOOL) wrong("the name is reserved for hosts");
    for (const key of Object.keys(tool.annotations ?? {}))
      if (!ANNOTATIONS.includes(key) && !key.startsWith("x-"))
        wrong(`the annotation ${key} is not part of the protocol; custom annotations begin with x-`);
    const provider = tool.annotations?.requiresAuth;
    if (provider !== undefined && oauth !== undefined && !Object.hasOwn(oauth.providers, provider))
      wrong(`there is no oauth provider ${provider}`);
    try {
      ready.set(tool.name, { tool, input: prepareInputSchema(tool.input) });
    } catch (error) {
      wrong(error instanceof Error ? error.message : String(error));
    }
  }
  return ready;
}

/** The toolset for the discovery endpoint. Throws if it is not valid. */
export function toolsetOf(
  { name, description, migrate }: ToolServerOptions,
  tools: ReadonlyMap<string, ReadyTool>,
  base: string,
): Toolset {
  const toolset = {
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
  // Checked by the same parser that hosts use, so that an invalid toolset fails at the start of the server.
  const read = parseToolset(JSON.parse(JSON.stringify(toolset)));
  if (!read.ok) throw new TypeError(`the toolset: ${read.problem.path} ${read.problem.says}`);
  return toolset as Toolset;
}
