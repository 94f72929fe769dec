import { resolve } from "node:path";
import type { AdditionalPermissionProfile } from "@bobbin/protocol";
import type { ThreadState } from "../../core/state.ts";
import type { Files } from "../../platform/platform.ts";
import {
  isWithin,
  missingPermissions,
  type Permissions,
  type Reachable,
  widenedByGrants,
} from "../consent/permissions.ts";

const MAX_PATHS = 32;
const PATHS = { type: "array", items: { type: "string" }, maxItems: MAX_PATHS };

/** JSON Schema of the permissions that models can ask for. */
export const PERMISSION_PARAMETERS = {
  type: "object",
  properties: {
    network: { type: "object", properties: { enabled: { type: "boolean" } }, additionalProperties: false },
    file_system: {
      type: "object",
      properties: { read: PATHS, write: PATHS },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};

/** Arguments that conform to `PERMISSION_PARAMETERS`. */
export interface AskedPermissions {
  readonly network?: { readonly enabled?: boolean };
  readonly file_system?: { readonly read?: readonly string[]; readonly write?: readonly string[] };
}

export interface WidenPorts {
  readonly files: Pick<Files, "realPath">;
  /** The host's home, for which no permission is ever granted. */
  readonly home: string;
}

/**
 * The permissions that a model asks for and that its thread does not have. A string: the reason why none can be
 * granted. `from`: the folder that relative paths start from. Read permissions are ignored, because every sandbox
 * allows reading.
 */
export async function wantedPermissions(
  { files, home }: WidenPorts,
  thread: ThreadState,
  { network, file_system: fileSystem }: AskedPermissions,
  from: string,
): Promise<Permissions | string> {
  const paths = (fileSystem?.write ?? []).map((path) => resolve(from, path));
  const write = await Promise.all(paths.map((path) => files.realPath(path)));
  const { sandbox, roots } = reachable(thread);
  const real = await Promise.all(roots.map((root) => files.realPath(root)));
  const wanted = { network: network?.enabled ?? false, write: [...new Set(write)] };
  const missing = missingPermissions(wanted, { sandbox, roots: real });
  if (missing.write.some((path) => isWithin(path, home) || isWithin(home, path)))
    return "the home of this host is never given away.";
  return missing;
}

/** A thread's sandbox, widened by the grants. */
export function reachable({ settings, grants, turn }: ThreadState): Reachable {
  const { sandbox, cwd, roots = [cwd] } = settings;
  return widenedByGrants({ sandbox, roots }, grants, turn?.id ?? null);
}

/**
 * Whether the sandbox is a permission profile that a user wrote. Such a profile overrides the sandbox policy, and
 * permissions cannot be added to it.
 */
export function hasOwnProfile({ settings: { permissionProfile } }: ThreadState): boolean {
  return permissionProfile != null && !permissionProfile.startsWith(":");
}

/** Permissions in the protocol's form, for clients. */
export function permissionsView({ network, write }: Permissions): AdditionalPermissionProfile {
  return {
    network: network ? { enabled: true } : null,
    fileSystem:
      write.length === 0
        ? null
        : {
            read: null,
            write: [...write],
            entries: write.map((path) => ({ path: { type: "path", path }, access: "write" })),
          },
  };
}
