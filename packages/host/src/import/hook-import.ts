import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Platform } from "../platform/platform.ts";
import { details, named, type PendingImport } from "./pending-import.ts";
import { isObject, type JsonObject, readJson, writeText } from "./text-files.ts";

/** Groups of hooks by event, in the format of `hooks.json`. */
export type HookGroups = ReadonlyMap<string, readonly JsonObject[]>;

export const HOOK_EVENTS = [
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PreCompact",
  "PostCompact",
  "SessionStart",
  "SessionEnd",
  "UserPromptSubmit",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "Interrupt",
] as const;

export interface HookImport {
  readonly platform: Pick<Platform, "files" | "workspace">;
  readonly source: string;
  /** Folder of `hooks.json`. */
  readonly folder: string;
  readonly groups: HookGroups;
  /** Copies the scripts of the hooks, before the hooks are written. */
  prepare?(): Promise<void>;
}

/** Adds the groups of hooks that are missing in `hooks.json`. */
export async function hookImport(move: HookImport): Promise<PendingImport | undefined> {
  const { platform, source, folder, groups, prepare } = move;
  const path = join(folder, "hooks.json");
  const missing = missingGroups(await presentHooks(platform, path), groups);
  if (missing.size === 0) return undefined;
  const events = [...missing.keys()];
  return {
    itemType: "HOOKS",
    description: `Migrate hooks from ${source} to ${path}`,
    details: details({ hooks: named(events) }),
    async run(report) {
      await prepare?.();
      const file = (await readJson(platform.files, path)) ?? {};
      const hooks: Record<string, unknown> = { ...(isObject(file["hooks"]) ? file["hooks"] : {}) };
      for (const [event, more] of missing) hooks[event] = [...groupsOf(hooks[event]), ...more];
      await writeText(platform, folder, path, `${JSON.stringify({ ...file, hooks }, null, 2)}\n`);
      for (const event of events) report.success(event, event);
    },
  };
}

async function presentHooks({ files }: HookImport["platform"], path: string): Promise<JsonObject> {
  const file = await readJson(files, path);
  return isObject(file?.["hooks"]) ? file["hooks"] : {};
}

function missingGroups(present: JsonObject, wanted: HookGroups): HookGroups {
  const missing = new Map<string, readonly JsonObject[]>();
  for (const [event, groups] of wanted) {
    const known = groupsOf(present[event]);
    const others = groups.filter((group) => !known.some((one) => isDeepStrictEqual(one, group)));
    if (others.length > 0) missing.set(event, others);
  }
  return missing;
}

export function groupsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
