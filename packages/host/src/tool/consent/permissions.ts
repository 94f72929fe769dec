import { sep } from "node:path";
import type { GrantedPermissionProfile, SandboxPolicy } from "@bobbin/protocol";
import { parsedKey, textsOf } from "./parse-grant-key.ts";

/** Permissions beyond the sandbox that a model can ask for. */
export interface Permissions {
  readonly network: boolean;
  /** Real paths of files and folders. */
  readonly write: readonly string[];
}

/** The sandbox of a thread and its workspace roots. */
export interface Reachable {
  readonly sandbox: SandboxPolicy;
  readonly roots: readonly string[];
}

const GRANT = "permissions ";

/** The grant key of permissions: for one turn, or for the session if `turnId` is null. */
export function permissionGrant({ network, write }: Permissions, turnId: string | null): string {
  return GRANT + JSON.stringify({ network, write, turnId });
}

/** All permissions together that are granted in a turn. */
function grantedPermissions(grants: readonly string[], turnId: string | null): Permissions {
  const granted = grants
    .filter((grant) => grant.startsWith(GRANT))
    .flatMap((grant) => permissionsIn(parsedKey(grant.slice(GRANT.length))) ?? [])
    .filter((one) => one.turnId === null || one.turnId === turnId);
  return { network: granted.some(({ network }) => network), write: granted.flatMap(({ write }) => write) };
}

function permissionsIn(value: unknown): (Permissions & { readonly turnId: string | null }) | undefined {
  const { network, write, turnId } = Object(value) as Record<string, unknown>;
  const paths = textsOf(write);
  if (typeof network !== "boolean" || paths === undefined) return undefined;
  return turnId === null || typeof turnId === "string" ? { network, write: paths, turnId } : undefined;
}

export function isNothing({ network, write }: Permissions): boolean {
  return !network && write.length === 0;
}

/** Permissions in words that complete "let it …". */
export function permissionWords({ network, write }: Permissions): string {
  return [...(network ? ["use the network"] : []), ...write.map((path) => `write to ${path}`)].join(", ");
}

/** The sandbox of a thread, widened by everything that users granted. */
export function widenedByGrants(
  thread: Reachable,
  grants: readonly string[],
  turnId: string | null,
): Reachable {
  return widened(thread, grantedPermissions(grants, turnId));
}

/** The sandbox, widened by these permissions only. */
export function widened(thread: Reachable, { network, write }: Permissions): Reachable {
  const { sandbox, roots } = thread;
  switch (sandbox.type) {
    case "dangerFullAccess":
    case "externalSandbox":
      return thread;
    case "readOnly": {
      const networkAccess = network || (sandbox.networkAccess ?? false);
      if (write.length === 0) return { sandbox: { ...sandbox, networkAccess }, roots };
      // Only the granted paths become writable, not the workspace or temporary folders.
      return {
        sandbox: {
          type: "workspaceWrite",
          writableRoots: [...write],
          networkAccess,
          excludeTmpdirEnvVar: true,
          excludeSlashTmp: true,
        },
        roots: [],
      };
    }
    case "workspaceWrite":
      return {
        sandbox: {
          ...sandbox,
          networkAccess: network || (sandbox.networkAccess ?? false),
          writableRoots: [...(sandbox.writableRoots ?? []), ...write],
        },
        roots,
      };
  }
}

/** The part of the wanted permissions that the sandbox does not give yet. */
export function missingPermissions(wanted: Permissions, { sandbox, roots }: Reachable): Permissions {
  switch (sandbox.type) {
    case "dangerFullAccess":
    case "externalSandbox":
      return { network: false, write: [] };
    case "readOnly":
      return { network: wanted.network && !sandbox.networkAccess, write: wanted.write };
    case "workspaceWrite": {
      const writable = [...roots, ...(sandbox.writableRoots ?? [])];
      return {
        network: wanted.network && !sandbox.networkAccess,
        write: wanted.write.filter((path) => !writable.some((root) => isWithin(path, root))),
      };
    }
  }
}

/** The permissions that an answer grants. Permissions that were not asked for are ignored. */
export function answeredPermissions(
  answer: GrantedPermissionProfile | null | undefined,
  requested: Permissions,
): Permissions {
  const { network, fileSystem } = answer ?? {};
  const entries = fileSystem?.entries ?? [];
  const written = [
    ...(fileSystem?.write ?? []),
    ...entries.flatMap(({ path, access }) => (access === "write" && path.type === "path" ? [path.path] : [])),
  ];
  return {
    network: requested.network && (network?.enabled ?? false),
    write: requested.write.filter((path) => written.includes(path)),
  };
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
