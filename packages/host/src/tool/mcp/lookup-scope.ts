import type { ThreadState } from "../../core/state.ts";

/** The owner and the folder for which MCP servers are looked up: those of a thread, or of a client's request. */
export interface McpScope {
  readonly owner: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  /** Servers that the thread itself names. */
  readonly own: Readonly<Record<string, unknown>>;
  /** Null if the lookup is not for a thread. */
  readonly threadId: string | null;
}

export function scopeOf({ facts, settings, load }: ThreadState): McpScope {
  const { cwd, roots = [cwd] } = settings;
  return { owner: facts.owner, cwd, roots, own: load.mcpServers ?? {}, threadId: facts.id };
}
