import type { ApprovalsReviewer, AskForApproval, SandboxMode } from "@bobbin/protocol";

/**
 * Presets of sandbox and approvals. None of them asks the user: other actions are refused, or reviewed by a model.
 */
export const ACCESS_PRESETS = {
  "read-only": { sandbox: "read-only", approvalPolicy: "never" },
  "full-auto": { sandbox: "workspace-write", approvalPolicy: "never" },
  everything: { sandbox: "danger-full-access", approvalPolicy: "never" },
  "auto-review": {
    sandbox: "workspace-write",
    approvalPolicy: "on-request",
    approvalsReviewer: "auto_review",
  },
} as const satisfies Record<string, Access>;

/** What a turn may do. Fields that are missing keep their configured value. */
export interface Access {
  readonly sandbox?: SandboxMode;
  readonly approvalPolicy?: AskForApproval;
  readonly approvalsReviewer?: ApprovalsReviewer;
}

/** The command-line options about access. */
export interface AccessOptions {
  readonly access?: keyof typeof ACCESS_PRESETS;
  readonly fullAuto?: boolean;
  readonly approveForMe?: boolean;
  readonly dangerouslyBypassApprovalsAndSandbox?: boolean;
  readonly sandbox?: SandboxMode;
  /** The host treats `on-failure` as `on-request`, and warns about it. */
  readonly askForApproval?: AskForApproval;
  readonly approve?: boolean;
}

/** Converts the options to the access of the turn. Returns an error message if two options contradict each other. */
export function readAccess(options: AccessOptions): Access | string {
  const { sandbox, askForApproval, approve = false } = options;
  const presets = [
    ...(options.access === undefined ? [] : [{ flag: `--access ${options.access}`, name: options.access }]),
    ...(options.fullAuto ? [{ flag: "--full-auto", name: "full-auto" as const }] : []),
    ...(options.approveForMe ? [{ flag: "--approve-for-me", name: "auto-review" as const }] : []),
    ...(options.dangerouslyBypassApprovalsAndSandbox
      ? [{ flag: "--dangerously-bypass-approvals-and-sandbox", name: "everything" as const }]
      : []),
  ];
  const [preset, ...others] = presets;
  const other = others.find(({ name }) => name !== preset?.name);
  if (preset !== undefined && other !== undefined)
    return `${preset.flag} and ${other.flag} contradict each other`;
  if (preset !== undefined && sandbox !== undefined)
    return `${preset.flag} and --sandbox ${sandbox} contradict each other`;
  if (approve && askForApproval === "never")
    return "--approve and --ask-for-approval never contradict each other: nothing would be asked";
  if (preset?.name === "auto-review" && approve)
    return `${preset.flag} and --approve contradict each other: one has a model judge, the other approves everything`;
  if (preset?.name === "auto-review" && askForApproval !== undefined && askForApproval !== "on-request")
    return `${preset.flag} and --ask-for-approval ${String(askForApproval)} contradict each other: nothing would be judged`;
  const chosen: Access | undefined = preset === undefined ? undefined : ACCESS_PRESETS[preset.name];
  const mode = chosen?.sandbox ?? sandbox;
  // `--approve` implies `on-request`: without requests there is nothing to approve.
  const policy = askForApproval ?? (approve ? "on-request" : chosen?.approvalPolicy);
  return {
    ...(mode !== undefined && { sandbox: mode }),
    ...(policy !== undefined && { approvalPolicy: policy }),
    ...(chosen?.approvalsReviewer !== undefined && { approvalsReviewer: chosen.approvalsReviewer }),
  };
}
