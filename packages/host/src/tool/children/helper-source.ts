import { depthOf } from "../../core/children/helper-identity.ts";
import type { Tool, ToolSource } from "../tool.ts";
import { agentTools } from "./agent-tools.ts";
import type { RoleDescription } from "./helper-settings.ts";
import type { HelperToolPorts } from "./helper-tool.ts";
import { spawnAgent } from "./spawn-agent.ts";

/**
 * The tool source for helpers (child threads that a model starts). A thread at the maximum depth gets none of these
 * tools.
 */
export function helperToolSource(ports: HelperToolPorts): ToolSource {
  const others = agentTools(ports);
  let cached: { readonly roles: readonly RoleDescription[]; readonly tools: readonly Tool[] } | undefined;
  /** The tools for a list of roles. The last result is cached, because most threads have the same roles. */
  const toolsFor = (roles: readonly RoleDescription[]): readonly Tool[] => {
    if (cached?.roles !== roles) cached = { roles, tools: [spawnAgent(ports, roles), ...others] };
    return cached.tools;
  };
  const hasHelpers: (thread: Parameters<ToolSource["tools"]>[0]) => boolean = ({ facts, turn }) => {
    const { enabled, maxDepth } = ports.settings();
    return enabled && turn?.kind !== "review" && depthOf(facts) < maxDepth && ports.isOn(facts.id);
  };
  return {
    tools: (thread) => (hasHelpers(thread) ? toolsFor(ports.roles.list()) : []),
    ready: (thread) => (hasHelpers(thread) ? ports.roles.ready() : undefined),
  };
}
