import { resolve } from "node:path";
import type { AdditionalPermissionProfile } from "@bobbin/protocol";
import type { ThreadState } from "../core/state.ts";
import type { Files } from "../platform/platform.ts";
import {
  isWithin,
  missingPermissions,
  type Permissions,
  type Reachable,
  withGrants,
} from "./consent/permissions.ts";

const MAX_PATHS = 32;
const PATHS = { type: "array", items: { type: "string" }, maxItems: MAX_PATHS };

/** The parameters by which models ask for permissions. */
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

/** What keeps to `PERMISSION_PARAMETERS`. */
export interface AskedPermissions {
  readonly network?: { readonly enabled?: boolean };
  readonly file_system?: { readonly read?: readonly string[]; readonly write?: readonly string[] };
}

export interface WidenPorts {
  readonly files: Pick<Files, "realPath">;
  /** Nothing in it is ever given away. */
  readonly home: string;
}

/**
 * What a model asks for and its thread does not have; a string says why none of it can be given. `from`: where relative
 * paths begin. What can be read at all can be read in every sandbox.
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

/** A thread's sandbox with what people have granted beyond it. */
export function reachable({ settings, grants, turn }: ThreadState): Reachable {
  const { sandbox, cwd, roots = [cwd] } = settings;
  return withGrants({ sandbox, roots }, grants, turn?.id ?? null);
}

/** Whether the sandbox comes from a profile that people wrote: that goes before the policy, and is not widened. */
export function hasOwnProfile({ settings: { permissionProfile } }: ThreadState): boolean {
  return permissionProfile != null && !permissionProfile.startsWith(":");
}

/** Permissions as clients are asked about them. */
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
