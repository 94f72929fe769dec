import type { ThreadState } from "../../core/state.ts";
import { isNothing, type Permissions } from "../consent/permissions.ts";
import type { AskedPermissions } from "../wanted-permissions.ts";
import type { ExecPorts } from "./ports.ts";

/** The arguments of a command that say what it is to get beyond the sandbox. */
export interface AdditionalArguments {
  readonly sandbox_permissions?: "use_default" | "with_additional_permissions" | "require_escalated";
  readonly additional_permissions?: AskedPermissions;
}

/** What a command asks for beyond the sandbox, null if that is nothing; a string says why it cannot be given. */
export async function additionalPermissions(
  ports: Pick<ExecPorts, "wantedPermissions">,
  thread: ThreadState,
  { sandbox_permissions: mode, additional_permissions: asked }: AdditionalArguments,
  workdir: string,
): Promise<Permissions | null | string> {
  if (mode !== "with_additional_permissions")
    return asked === undefined
      ? null
      : "`additional_permissions` needs `sandbox_permissions` to be `with_additional_permissions`.";
  const { network, file_system: files } = asked ?? {};
  if (network?.enabled !== true && !files?.read?.length && !files?.write?.length)
    return "`with_additional_permissions` needs `additional_permissions`: the network, or paths.";
  const wanted = await ports.wantedPermissions(thread, asked!, workdir);
  return typeof wanted !== "string" && isNothing(wanted) ? null : wanted;
}

/** The name of the question about a command, by what the user is shown: an answer counts for nothing else. */
export function questionAbout(additional: Permissions | null): string {
  return additional === null ? "approval" : `approval ${JSON.stringify(additional)}`;
}
