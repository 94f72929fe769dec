import type { AskForApproval } from "@bobbin/protocol";
import type { TrustLevel } from "../tool/consent/project-rules.ts";
import { withinRequirements } from "./apply-requirements.ts";
import type { Config } from "./config.ts";
import { type SandboxChoice, workspaceChoice } from "./sandbox-settings.ts";

/** Defaults of approval policy and sandbox that follow from the trust level of a folder. */
export type TrustDefaults = Partial<SandboxChoice & { readonly approvalPolicy: AskForApproval }>;

/**
 * In an untrusted folder, every command needs approval, and an approved command may write to the workspace. If the
 * user configured a policy that never asks, an untrusted folder must not allow more than the default.
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

/** The configuration for new threads in a folder: with the defaults by its trust level, within the requirements. */
export function configInFolder(trust: TrustLevel | null, config: Config): Config {
  const { approvalPolicy = config.approvalPolicy, ...choice } = trustDefaults(trust, config);
  return withinRequirements({ ...config, approvalPolicy, sandbox: { ...config.sandbox, ...choice } });
}
