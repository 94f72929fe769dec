import { sep } from "node:path";
import type { AskForApproval, SandboxPolicy } from "@bobbin/protocol";

/** What is known when a patch asks to be applied. Paths are real ones: all links are followed. */
export interface PatchRequest {
  readonly policy: AskForApproval;
  readonly sandbox: SandboxPolicy;
  /** The workspace: what commands may write in the sandbox `workspaceWrite`. */
  readonly roots: readonly string[];
  readonly paths: readonly string[];
  /** Paths that the user allowed to change for as long as the thread is loaded. */
  readonly granted: readonly string[];
}

export type PatchConsent =
  | { readonly kind: "apply" }
  | { readonly kind: "ask"; readonly reason: string | null }
  /** In words for the model. */
  | { readonly kind: "refuse"; readonly reason: string };

/** Decides whether a patch is applied, asked about or refused. */
export function patchConsent(request: PatchRequest): PatchConsent {
  const { policy, sandbox, roots, paths, granted } = request;
  const outside = paths.filter((path) => !granted.includes(path) && !isWritable(path, sandbox, roots));
  if (policy === "untrusted") {
    const unknown = paths.filter((path) => !granted.includes(path));
    return unknown.length === 0 ? { kind: "apply" } : { kind: "ask", reason: null };
  }
  if (outside.length === 0) return { kind: "apply" };
  const where = outside.slice(0, 3).join(", ");
  if (!mayAsk(policy))
    return {
      kind: "refuse",
      reason: `The patch was not applied: ${where} may not be written in this sandbox, and the approval policy forbids to ask for more. Work within the folders that may be written.`,
    };
  return { kind: "ask", reason: reasonFor(sandbox, where) };
}

/** Whether a path may be written without asking. `.git` and what makes hosts act are never changed unasked. */
export function isWritable(path: string, sandbox: SandboxPolicy, roots: readonly string[]): boolean {
  switch (sandbox.type) {
    case "dangerFullAccess":
    case "externalSandbox":
      return true;
    case "readOnly":
      return false;
    case "workspaceWrite": {
      const root = [...roots, ...(sandbox.writableRoots ?? [])].find((one) => isInside(path, one));
      return root !== undefined && !isProtected(path.slice(root.length));
    }
  }
}

const PROTECTED: ReadonlySet<string> = new Set([".git", ".codex", ".bobbin", ".agents"]);

function isProtected(within: string): boolean {
  return within.split(sep).some((part) => PROTECTED.has(part));
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function mayAsk(policy: AskForApproval): boolean {
  return typeof policy === "object" ? policy.granular.sandbox_approval : policy !== "never";
}

function reasonFor(sandbox: SandboxPolicy, where: string): string | null {
  return sandbox.type === "readOnly" ? null : `It changes files that the sandbox protects: ${where}`;
}
