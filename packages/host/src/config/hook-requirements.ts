import { dirname } from "node:path";
import type { ManagedHooksRequirements } from "@bobbin/protocol";
import { ConfigError } from "./bad-config-error.ts";
import { isTable, plain } from "./layer.ts";
import { flag, subtable, type Table } from "./table-reader.ts";

/** The hooks that requirements.toml files define, and whether other hooks may run. */
export interface RequiredHooks {
  /** `allow_managed_hooks_only`; null if no file sets it. */
  readonly managedOnly: boolean | null;
  /** If only managed hooks may run: the folders whose hooks are managed. Otherwise null. */
  readonly onlyFrom: readonly string[] | null;
  /** The `[hooks]` table of each file that has one. */
  readonly tables: readonly { readonly file: string; readonly table: Table }[];
}

export const NO_HOOKS_REQUIRED: RequiredHooks = { managedOnly: null, onlyFrom: null, tables: [] };

interface RequirementFile {
  readonly file: string;
  readonly table: Table;
}

/**
 * Collects the hooks of all requirements.toml files. `folders` lists the folders of these files in groups, the group
 * with the highest precedence first. A group cannot weaken a requirement of an earlier group.
 */
export function readRequiredHooks(
  files: readonly RequirementFile[],
  folders: readonly (readonly string[])[],
): RequiredHooks {
  const tables = files.flatMap(({ file, table }) => {
    const hooks = subtable(table, "hooks");
    return hooks === undefined ? [] : [{ file, table: plain(hooks) as Table }];
  });
  const file = files.find(({ table }) => table["allow_managed_hooks_only"] !== undefined);
  const managedOnly = (file && flag(file.table, "allow_managed_hooks_only")) ?? null;
  if (file === undefined || managedOnly !== true) return { managedOnly, onlyFrom: null, tables };
  const group = folders.findIndex((all) => all.includes(dirname(file.file)));
  return { managedOnly, onlyFrom: folders.slice(0, group + 1).flat(), tables };
}

/** Throws if `[hooks]` has the wrong form. If it were ignored, required hooks would silently not run. */
export function checkRequiredHooks(table: Table): void {
  flag(table, "allow_managed_hooks_only");
  for (const [event, groups] of Object.entries(subtable(table, "hooks") ?? {})) {
    if (event === "managed_dir" || event === "windows_managed_dir") continue;
    const isGroup = (group: unknown): boolean => isTable(group) && Array.isArray(group["hooks"]);
    if (!Array.isArray(groups) || !groups.every(isGroup))
      throw new ConfigError(`hooks.${event}: expected a list of tables with \`hooks\``);
  }
}

const NO_HOOKS: ManagedHooksRequirements = {
  Interrupt: [],
  PermissionRequest: [],
  PostCompact: [],
  PostModelRequest: [],
  PostToolUse: [],
  PreCompact: [],
  PreModelRequest: [],
  PreToolUse: [],
  SessionEnd: [],
  SessionStart: [],
  Stop: [],
  SubagentStart: [],
  SubagentStop: [],
  UserPromptSubmit: [],
  managedDir: null,
  windowsManagedDir: null,
};

type Groups = ManagedHooksRequirements["Stop"];
type Handler = Groups[number]["hooks"][number];

/** The required hooks in the shape of the protocol; undefined if there are none. */
export function requiredHooksView({ tables }: RequiredHooks): ManagedHooksRequirements | undefined {
  if (tables.length === 0) return undefined;
  const view: Record<string, unknown> = structuredClone(NO_HOOKS);
  for (const { table } of tables) {
    for (const [key, shown] of [
      ["managed_dir", "managedDir"],
      ["windows_managed_dir", "windowsManagedDir"],
    ] as const)
      if (typeof table[key] === "string") view[shown] ??= table[key];
    for (const [event, groups] of Object.entries(table))
      if (Array.isArray(groups) && Array.isArray(view[event]))
        view[event] = [...view[event], ...groups.map(groupView)];
  }
  return view as ManagedHooksRequirements;
}

function groupView(group: Table): Groups[number] {
  const { matcher } = group;
  const hooks = (group["hooks"] as readonly unknown[])
    .filter(isTable)
    .flatMap((hook) => handlerView(hook) ?? []);
  return { matcher: typeof matcher === "string" ? matcher : null, hooks };
}

/** A hook in the shape of the protocol; undefined if the type of the hook is unknown. */
function handlerView(hook: Table): Handler | undefined {
  const text = (key: string): string | null => (typeof hook[key] === "string" ? hook[key] : null);
  const whole = (key: string): number | null =>
    Number.isSafeInteger(hook[key]) && (hook[key] as number) >= 0 ? (hook[key] as number) : null;
  const shown = { statusMessage: text("statusMessage"), timeoutSec: whole("timeout") };
  switch (hook["type"]) {
    case "command":
      return {
        type: "command",
        ...shown,
        command: text("command") ?? "",
        commandWindows: text("commandWindows") ?? text("command_windows"),
        async: hook["async"] === true,
        additionalContextLimit: whole("additionalContextLimit"),
      };
    case "mcp_tool":
      return {
        type: "mcp_tool",
        ...shown,
        server: text("server") ?? "",
        tool: text("tool") ?? "",
        input: isTable(hook["input"]) ? { ...hook["input"] } : {},
      };
    case "prompt":
    case "agent":
      return { type: hook["type"] };
    default:
      return undefined;
  }
}
