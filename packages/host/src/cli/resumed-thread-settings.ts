import type { Params, SandboxMode, SandboxPolicy } from "@bobbin/protocol";
import { readOverride } from "../config/overrides.ts";
import type { Access } from "./exec-access-options.ts";

/** Params of `turn/start` besides the thread and the message. */
export type TurnSettings = Omit<Params<"turn/start">, "threadId" | "input">;

const POLICIES: { readonly [K in SandboxMode]: SandboxPolicy } = {
  "read-only": { type: "readOnly" },
  "workspace-write": { type: "workspaceWrite" },
  "danger-full-access": { type: "dangerFullAccess" },
};

/**
 * The settings that the user gave for a resumed thread, as params of its next turn: `thread/resume` would ignore them
 * if the thread is already loaded.
 */
export function resumedSettings(given: {
  readonly access: Access;
  readonly model: string | undefined;
  /** The folder to work in from now on; undefined to keep `folder`. */
  readonly cwd: string | undefined;
  /** The folder that the thread works in. */
  readonly folder: string;
  readonly addedRoots: readonly string[];
}): TurnSettings {
  const { access, model, cwd, folder, addedRoots } = given;
  const { sandbox, ...others } = access;
  return {
    ...others,
    ...(sandbox !== undefined && { sandboxPolicy: POLICIES[sandbox] }),
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && { cwd }),
    ...(addedRoots.length > 0 && { runtimeWorkspaceRoots: [cwd ?? folder, ...addedRoots] }),
  };
}

/** The keys of config.toml that a thread stores as its settings. */
const STORED: ReadonlySet<string> = new Set([
  "approval_policy",
  "approvals_reviewer",
  "model_reasoning_effort",
  "model_reasoning_summary",
  "model_verbosity",
  "personality",
  "sandbox_mode",
  "sandbox_workspace_write",
  "service_tier",
]);

/**
 * The `config` of a request that loads an earlier thread: those `-c` options that would not count otherwise, because
 * the thread has settings of its own. Undefined if there is none.
 */
export async function requestedConfig(
  overrides: readonly string[],
): Promise<Record<string, unknown> | undefined> {
  if (overrides.length === 0) return undefined;
  const { parse } = await import("@decimalturn/toml-patch");
  const pairs = overrides.map((override) => readOverride(override, parse));
  const stored = pairs.filter(([[key]]) => key !== undefined && STORED.has(key));
  if (stored.length === 0) return undefined;
  return Object.fromEntries(stored.map(([path, value]) => [path.join("."), value]));
}
