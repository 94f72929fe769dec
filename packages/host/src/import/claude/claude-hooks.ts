import { join } from "node:path";
import type { Platform } from "../../platform/platform.ts";
import { copyFolder } from "../copy-folder.ts";
import { groupsOf, HOOK_EVENTS, type HookGroups } from "../hook-import.ts";
import { isObject, type JsonObject, readJson } from "../text-files.ts";

/** Fields of a hook that Bobbin interprets in the same way. */
const FIELDS: ReadonlySet<string> = new Set(["type", "command", "timeout", "statusMessage", "async"]);

/** Variables that Claude Code sets for its hooks. Bobbin does not set them. */
const OWN_VARIABLES = /\$\{?CLAUDE_\w+/;

/**
 * Reads the hooks of `settings.json` and `settings.local.json` that can run in Bobbin: commands at supported events.
 * Paths of scripts in `.claude/hooks/` are replaced by those of their copies.
 */
export async function claudeHooks(
  files: Platform["files"],
  folder: string,
  scripts: string,
): Promise<HookGroups> {
  const found = new Map<string, JsonObject[]>();
  let isOff = false;
  for (const name of ["settings.json", "settings.local.json"]) {
    const settings = await readJson(files, join(folder, name));
    if (typeof settings?.["disableAllHooks"] === "boolean") isOff = settings["disableAllHooks"];
    const hooks = isObject(settings?.["hooks"]) ? settings["hooks"] : {};
    for (const event of HOOK_EVENTS) {
      const groups = groupsOf(hooks[event])
        .map((group) => groupOf(group, scripts))
        .filter((group) => group !== undefined);
      if (groups.length > 0) found.set(event, [...(found.get(event) ?? []), ...groups]);
    }
  }
  return isOff ? new Map() : found;
}

function groupOf(group: JsonObject, scripts: string): JsonObject | undefined {
  if (Object.keys(group).some((key) => key !== "matcher" && key !== "hooks")) return undefined;
  const hooks = groupsOf(group["hooks"])
    .map((hook) => hookOf(hook, scripts))
    .filter((hook) => hook !== undefined);
  if (hooks.length === 0) return undefined;
  const { matcher } = group;
  return { ...(typeof matcher === "string" && matcher !== "" && { matcher: matcherOf(matcher) }), hooks };
}

/**
 * Replaces the tool name `Task` (Claude Code's tool that starts sub-agents) by `Agent`, the name of that tool for
 * Bobbin's hooks.
 */
function matcherOf(matcher: string): string {
  if (!/^[\w|]+$/.test(matcher)) return matcher;
  const names = matcher.split("|").map((name) => (name === "Task" ? "Agent" : name));
  return [...new Set(names)].join("|");
}

function hookOf(hook: JsonObject, scripts: string): JsonObject | undefined {
  const { type = "command", command, timeout, statusMessage, async: unawaited } = hook;
  if (type !== "command" || typeof command !== "string" || command.trim() === "") return undefined;
  if (Object.keys(hook).some((key) => !FIELDS.has(key))) return undefined;
  const line = withScripts(command.trim(), scripts);
  if (OWN_VARIABLES.test(line)) return undefined;
  return {
    type,
    command: line,
    ...(typeof timeout === "number" && timeout > 0 && { timeout: Math.ceil(timeout) }),
    ...(typeof statusMessage === "string" && { statusMessage }),
    ...(unawaited === true && { async: true }),
  };
}

/** Matches `.claude/hooks/name` in a command: with or without quotes, after the project's folder or the home. */
const SCRIPT =
  /(["']?)(?:(?:"?\$\{?(?:CLAUDE_PROJECT_DIR|HOME)\}?"?|~|\.|[\w/.@+-]*?)\/)?\.claude\/hooks\/([\w.@+/-]+)\1/g;

function withScripts(command: string, scripts: string): string {
  return command.replace(SCRIPT, (whole: string, _quote: string, name: string) =>
    name.split("/").includes("..") ? whole : quoted(join(scripts, name)),
  );
}

function quoted(path: string): string {
  return /^[\w/.@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Copies the scripts of hooks, unless the folder `hooks` exists already. */
export async function copyScripts(
  platform: Pick<Platform, "files" | "workspace">,
  source: string,
  into: string,
): Promise<void> {
  if ((await platform.files.list(source)).length === 0) return;
  if (await platform.files.exists(join(into, "hooks"))) return;
  await copyFolder(platform, source, into, "hooks");
}
