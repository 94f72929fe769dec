import type { AskForApproval } from "@bobbin/protocol";
import type { TrustLevel } from "../tool/project-rules.ts";
import type { Config } from "./config.ts";
import { type SandboxChoice, workspaceChoice } from "./sandbox.ts";

/** What trust in a folder implies for those who chose no policy, or no sandbox. */
export type TrustDefaults = Partial<SandboxChoice & { readonly approvalPolicy: AskForApproval }>;

/**
 * In a folder that is not trusted all is asked about, and may then write to the workspace; where people chose a policy that
 * may not ask, nothing more is allowed because a folder is not trusted.
 */
export function trustDefaults(trust: TrustLevel | null, config: Config): TrustDefaults {
  if (trust === null) return {};
  const { chosen } = config;
  const mayWrite = !chosen.sandbox && (trust === "trusted" || !chosen.approvalPolicy);
  return {
    ...(!chosen.approvalPolicy && { approvalPolicy: trust === "trusted" ? "on-request" : "untrusted" }),
    ...(mayWrite && workspaceChoice(config.workspaceWrite)),
  };
}
