import { join } from "node:path";
import { configImport, mcpImport } from "../config-value-import.ts";
import { commandPlanner } from "../custom-command-import.ts";
import { hookImport } from "../hook-import.ts";
import type { Scope } from "../import-scope.ts";
import { instructionPlanner } from "../instruction-import.ts";
import type { Planner } from "../pending-import.ts";
import { skillPlanner } from "../skill-import.ts";
import type { SourcePorts } from "../source-agents.ts";
import { claudePaths, targetPaths } from "../source-and-target-paths.ts";
import { agentPlanner } from "./claude-agents.ts";
import { claudeHooks, copyScripts } from "./claude-hooks.ts";
import { claudeMcpServers } from "./claude-mcp.ts";
import { configOf, readClaudeSettings } from "./claude-settings.ts";

/** Imports from Claude Code other than sessions, in the order in which they are listed. */
export function claudePlanners(ports: SourcePorts): readonly Planner[] {
  const { home, platform } = ports;
  const { files, machine } = platform;
  const places = claudePaths(platform);
  const targets = (scope: Scope) => targetPaths(home, machine.userHome, scope);
  const folder = (scope: Scope): string =>
    scope.kind === "home" ? places.home : join(scope.root, ".claude");
  const settingsPath = (scope: Scope): string => join(folder(scope), "settings.json");
  const config: Planner = {
    itemType: "CONFIG",
    async plan(scope) {
      const settings = await readClaudeSettings(files, settingsPath(scope));
      if (settings === undefined) return undefined;
      return configImport(ports.configFile(scope), settingsPath(scope), configOf(settings));
    },
  };
  const mcp: Planner = {
    itemType: "MCP_SERVER_CONFIG",
    async plan(scope) {
      const isHome = scope.kind === "home";
      const root = isHome ? machine.userHome : scope.root;
      const own = await readClaudeSettings(files, settingsPath(scope));
      const settings = own ?? (await readClaudeSettings(files, join(places.home, "settings.json")));
      const servers = await claudeMcpServers(files, { root, userFile: places.userFile, isHome, settings });
      return mcpImport(ports.configFile(scope), root, servers);
    },
  };
  const hooks: Planner = {
    itemType: "HOOKS",
    async plan(scope) {
      const { configFolder } = targets(scope);
      const source = folder(scope);
      const groups = await claudeHooks(files, source, join(configFolder, "hooks"));
      const prepare = () => copyScripts(platform, join(source, "hooks"), configFolder);
      return hookImport({ platform, source, folder: configFolder, groups, prepare });
    },
  };
  return [
    config,
    mcp,
    hooks,
    skillPlanner({
      platform,
      folders: (scope) => ({ source: join(folder(scope), "skills"), target: targets(scope).skills }),
    }),
    commandPlanner({
      platform,
      folders: (scope) => ({ source: join(folder(scope), "commands"), target: targets(scope).skills }),
    }),
    agentPlanner(platform, join(places.home, "agents"), home),
    instructionPlanner({
      platform,
      targets,
      sources: (scope) =>
        scope.kind === "home"
          ? [join(places.home, "CLAUDE.md")]
          : [join(scope.root, "CLAUDE.md"), join(scope.root, ".claude", "CLAUDE.md")],
    }),
  ];
}
