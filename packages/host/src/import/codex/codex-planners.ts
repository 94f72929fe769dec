import { join } from "node:path";
import { messageOf } from "../../errors.ts";
import type { Platform } from "../../platform/platform.ts";
import { configImport, mcpImport } from "../config-value-import.ts";
import { commandPlanner } from "../custom-command-import.ts";
import { groupsOf, hookImport } from "../hook-import.ts";
import { instructionPlanner } from "../instruction-import.ts";
import { details, ImportProblem, named, type Planner } from "../pending-import.ts";
import { skillPlanner } from "../skill-import.ts";
import type { SourcePorts } from "../source-agents.ts";
import { codexHome, targetPaths } from "../source-and-target-paths.ts";
import {
  isObject,
  type JsonObject,
  readJson,
  readText,
  stem,
  type TextFiles,
  writeText,
} from "../text-files.ts";

/**
 * Keys that are not imported: MCP servers are imported separately, the user must trust projects again, profiles
 * cannot be written, and the rest configures the Codex CLI's user interface and plugins.
 */
const LEFT: ReadonlySet<string> = new Set([
  "mcp_servers",
  "projects",
  "profile",
  "profiles",
  "tui",
  "notice",
  "notices",
  "history",
  "plugins",
  "marketplaces",
]);

/**
 * The imports from the Codex CLI, except sessions. Only its home is read, because Bobbin uses its files in
 * repositories directly.
 */
export function codexPlanners(ports: SourcePorts): readonly Planner[] {
  const { home, platform } = ports;
  const { files, machine } = platform;
  const source = codexHome(platform);
  const path = join(source, "config.toml");
  const planners: readonly Planner[] = [
    {
      itemType: "CONFIG",
      async plan(scope) {
        const table = await readToml(files, path);
        if (table === undefined) return undefined;
        const wanted = Object.fromEntries(
          Object.entries(table).flatMap(([key, value]): [string, unknown][] => {
            if (LEFT.has(key)) return [];
            return [[key, key === "hooks" ? withoutState(value) : value]];
          }),
        );
        return configImport(ports.configFile(scope), path, wanted);
      },
    },
    {
      itemType: "MCP_SERVER_CONFIG",
      async plan(scope) {
        const { mcp_servers: servers } = (await readToml(files, path)) ?? {};
        if (!isObject(servers)) return undefined;
        const tables = Object.entries(servers).filter((entry): entry is [string, JsonObject] =>
          isObject(entry[1]),
        );
        return mcpImport(ports.configFile(scope), path, new Map(tables));
      },
    },
    {
      itemType: "HOOKS",
      async plan(scope) {
        const { hooks } = (await readJson(files, join(source, "hooks.json"))) ?? {};
        const groups = Object.entries(isObject(hooks) ? hooks : {}).map(
          ([event, groups]) => [event, groupsOf(groups)] as const,
        );
        const { configFolder } = targetPaths(home, machine.userHome, scope);
        return hookImport({ platform, source, folder: configFolder, groups: new Map(groups) });
      },
    },
    skillPlanner({
      platform,
      folders: () => ({ source: join(source, "skills"), target: join(home, "skills") }),
    }),
    commandPlanner({
      platform,
      folders: () => ({ source: join(source, "prompts"), target: join(home, "skills") }),
    }),
    rolePlanner(platform, join(source, "agents"), join(home, "agents")),
    instructionPlanner({
      platform,
      targets: (scope) => targetPaths(home, machine.userHome, scope),
      sources: () => [join(source, "AGENTS.md")],
    }),
  ];
  // Nothing is imported if both homes are the same folder.
  const apart = source !== home;
  return planners.map(({ itemType, plan }) => ({
    itemType,
    plan: async (scope) => (apart && scope.kind === "home" ? plan(scope) : undefined),
  }));
}

/** Removes the trust in hooks, so that the user decides about it again. */
function withoutState(hooks: unknown): unknown {
  if (!isObject(hooks)) return hooks;
  const { state: _, ...events } = hooks;
  return events;
}

/** Imports role files by copying them. Existing ones are not overwritten. */
function rolePlanner(
  platform: Pick<Platform, "files" | "workspace">,
  source: string,
  target: string,
): Planner {
  const { files } = platform;
  const itemType = "SUBAGENTS";
  return {
    itemType,
    async plan() {
      const names: string[] = [];
      for (const { name, folder } of await files.list(source))
        if (!folder && name.endsWith(".toml") && !(await files.exists(join(target, name)))) names.push(name);
      if (names.length === 0) return undefined;
      names.sort();
      return {
        itemType,
        description: `Migrate subagents from ${source} to ${target}`,
        details: details({ subagents: named(names.map((name) => stem(name, ".toml"))) }),
        async run(report) {
          for (const file of names) {
            const name = stem(file, ".toml");
            try {
              const text = (await readText(files, join(source, file))) ?? "";
              await writeText(platform, target, join(target, file), text);
              report.success(name, name);
            } catch (cause) {
              report.failure(name, messageOf(cause));
            }
          }
        },
      };
    },
  };
}

async function readToml(files: TextFiles, path: string): Promise<JsonObject | undefined> {
  const text = await readText(files, path);
  if (text === undefined) return undefined;
  const { parse } = await import("@decimalturn/toml-patch");
  try {
    return parse(text) as JsonObject;
  } catch (cause) {
    throw new ImportProblem(`${path}: ${messageOf(cause)}`, { cause });
  }
}
