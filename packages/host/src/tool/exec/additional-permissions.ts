import type { ThreadState } from "../../core/state.ts";
import { isNothing, type Permissions } from "../consent/permissions.ts";
import type { AskedPermissions } from "../own/permission-arguments.ts";
import type { ExecPorts } from "./exec-dependencies.ts";

/** Arguments of `exec_command` that ask for more than the thread's sandbox allows. */
export interface AdditionalArguments {
  readonly sandbox_permissions?: "use_default" | "with_additional_permissions" | "require_escalated";
  readonly additional_permissions?: AskedPermissions;
}

/**
 * The permissions beyond the sandbox that a command asks for and does not have; null if there are none. Returns a
 * string with the reason if they cannot be granted.
 */
export async function additionalPermissions(
  ports: Pick<ExecPorts, "wantedPermissions">,
  thread: ThreadState,
  { sandbox_permissions: mode, additional_permissions: requested }: AdditionalArguments,
  workdir: string,
): Promise<Permissions | null | string> {
  if (mode !== "with_additional_permissions")
    return requested === undefined
      ? null
      : "`additional_permissions` needs `sandbox_permissions` to be `with_additional_permissions`.";
  const { network, file_system: files } = requested ?? {};
  if (network?.enabled !== true && !files?.read?.length && !files?.write?.length)
    return "`with_additional_permissions` needs `additional_permissions`: the network, or paths.";
  const wanted = await ports.wantedPermissions(thread, requested!, workdir);
  return typeof wanted !== "string" && isNothing(wanted) ? null : wanted;
}

/**
 * The name of the recorded approval question. It contains the permissions that the user saw, so that an answer never
 * counts for other permissions.
 */
export function questionAbout(additional: Permissions | null): string {
  return additional === null ? "approval" : `approval ${JSON.stringify(additional)}`;
}
