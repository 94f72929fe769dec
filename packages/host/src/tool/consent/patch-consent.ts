import { sep } from "node:path";
import type { SandboxPolicy } from "@bobbin/protocol";
import { protectedName } from "../../core/protected-names.ts";
import { type Consent, type ConsentRequest, type Intent, mayAsk } from "./consent.ts";
import { parsedKey, textsOf } from "./parse-grant-key.ts";

/** Decides about a patch: apply it, ask the user, or refuse. Symlinks in the paths must be resolved. */
export function patchConsent(
  request: ConsentRequest,
  { paths, unwritable = null, guarded = [] }: Extract<Intent, { kind: "patch" }>,
): Consent {
  const { policy, sandbox, roots } = request;
  const granted = grantedPaths(request.grants);
  const unknown = paths.filter((path) => !granted.includes(path));
  const isOutside = (path: string): boolean =>
    guarded.includes(path) ||
    (unwritable === null
      ? !isWritable(path, sandbox, roots)
      : unwritable.includes(path) || protectedName(inRoot(path, roots) ?? path) !== undefined);
  const outside = unknown.filter(isOutside);
  if (outside.length === 0 && (policy !== "untrusted" || unknown.length === 0)) return { kind: "sandboxed" };
  const where = outside.slice(0, 3).join(", ");
  if (!mayAsk(policy, "sandbox_approval"))
    return {
      kind: "refuse",
      reason: `The patch was not applied: ${where} may not be written in this sandbox, and the approval policy forbids to ask for more. Work within the folders that may be written.`,
    };
  const reason = policy === "untrusted" ? null : reasonFor(sandbox, where);
  return { kind: "ask", reason, amendment: null, grant: patchGrant(paths), runs: "sandboxed" };
}

const GRANT = "patch ";

/** The grant key of changing these files. */
export function patchGrant(paths: readonly string[]): string {
  return GRANT + JSON.stringify(paths);
}

/** The paths that users allowed patches to change for the session. */
function grantedPaths(grants: readonly string[]): readonly string[] {
  return grants
    .filter((grant) => grant.startsWith(GRANT))
    .flatMap((grant) => textsOf(parsedKey(grant.slice(GRANT.length))) ?? []);
}

/**
 * Whether the sandbox policy allows writing to a path without a question. `.git` and the configuration folders of
 * agent hosts are always protected in a workspace.
 */
function isWritable(path: string, sandbox: SandboxPolicy, roots: readonly string[]): boolean {
  switch (sandbox.type) {
    case "dangerFullAccess":
    case "externalSandbox":
      return true;
    case "readOnly":
      return false;
    case "workspaceWrite": {
      const within = inRoot(path, [...roots, ...(sandbox.writableRoots ?? [])]);
      return within !== undefined && protectedName(within) === undefined;
    }
  }
}

/** The part of a path below the root that contains it; undefined if no root contains it. */
function inRoot(path: string, roots: readonly string[]): string | undefined {
  const root = roots.find((one) => isInside(path, one));
  return root === undefined ? undefined : path.slice(root.length);
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function reasonFor(sandbox: SandboxPolicy, where: string): string | null {
  return sandbox.type === "readOnly" ? null : `It changes files that the sandbox protects: ${where}`;
}
