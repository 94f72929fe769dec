import { sep } from "node:path";
import type { GrantedPermissionProfile, SandboxPolicy } from "@bobbin/protocol";

/** What a model can ask for beyond its sandbox. */
export interface Permissions {
  readonly network: boolean;
  /** Real paths of files and folders. */
  readonly write: readonly string[];
}

/** What commands and patches may touch. */
export interface Reachable {
  readonly sandbox: SandboxPolicy;
  readonly roots: readonly string[];
}

const GRANT = "permissions ";

/** The key of permissions that were granted: for one turn, or for the session with null. */
export function permissionGrant({ network, write }: Permissions, turnId: string | null): string {
  return GRANT + JSON.stringify({ network, write, turnId });
}

/** All permissions that count in a turn. */
function grantedPermissions(grants: readonly string[], turnId: string | null): Permissions {
  const granted = grants
    .filter((grant) => grant.startsWith(GRANT))
    .map((grant) => JSON.parse(grant.slice(GRANT.length)) as Permissions & { readonly turnId: string | null })
    .filter((one) => one.turnId === null || one.turnId === turnId);
  return { network: granted.some(({ network }) => network), write: granted.flatMap(({ write }) => write) };
}

export function isNothing({ network, write }: Permissions): boolean {
  return !network && write.length === 0;
}

/** What permissions let a command do, each in the words of "let it …". */
export function permissionWords({ network, write }: Permissions): string {
  return [...(network ? ["use the network"] : []), ...write.map((path) => `write to ${path}`)].join(", ");
}

/** The sandbox of a thread with what people have granted beyond it. */
export function withGrants(thread: Reachable, grants: readonly string[], turnId: string | null): Reachable {
  return widened(thread, grantedPermissions(grants, turnId));
}

/** A sandbox with these permissions, and nothing else, beyond it. */
export function widened(thread: Reachable, { network, write }: Permissions): Reachable {
  const { sandbox, roots } = thread;
  switch (sandbox.type) {
    case "dangerFullAccess":
    case "externalSandbox":
      return thread;
    case "readOnly": {
      const networkAccess = network || (sandbox.networkAccess ?? false);
      if (write.length === 0) return { sandbox: { ...sandbox, networkAccess }, roots };
      // Only what was granted can be written: neither the workspace nor temporary folders.
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

/** What of the wanted permissions a sandbox does not give already. */
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

/** What was granted of what was asked for: an answer cannot give more. */
export function answeredPermissions(
  answer: GrantedPermissionProfile | null | undefined,
  asked: Permissions,
): Permissions {
  const { network, fileSystem } = answer ?? {};
  const entries = fileSystem?.entries ?? [];
  const written = [
    ...(fileSystem?.write ?? []),
    ...entries.flatMap(({ path, access }) => (access === "write" && path.type === "path" ? [path.path] : [])),
  ];
  return {
    network: asked.network && (network?.enabled ?? false),
    write: asked.write.filter((path) => written.includes(path)),
  };
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
