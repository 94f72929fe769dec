import type { Params, SandboxMode, SandboxPolicy } from "@bobbin/protocol";
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
