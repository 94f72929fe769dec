import type { AskForApproval, SandboxMode } from "@bobbin/protocol";

/** Sandbox and approvals in one word. Each asks nobody: what goes beyond it is refused. */
export const ACCESS_PRESETS = {
  "read-only": { sandbox: "read-only", approvalPolicy: "never" },
  "full-auto": { sandbox: "workspace-write", approvalPolicy: "never" },
  everything: { sandbox: "danger-full-access", approvalPolicy: "never" },
} as const satisfies Record<string, Required<Access>>;

/** What a turn may do; what is undefined is as configured. */
export interface Access {
  readonly sandbox?: SandboxMode;
  readonly approvalPolicy?: AskForApproval;
}

/** The options of the command line that are about access. */
export interface AccessOptions {
  readonly access?: keyof typeof ACCESS_PRESETS;
  readonly fullAuto?: boolean;
  readonly dangerouslyBypassApprovalsAndSandbox?: boolean;
  readonly sandbox?: SandboxMode;
  readonly askForApproval?: AskForApproval;
  readonly approve?: boolean;
}

/** Reads the options; a string says which of them contradict each other. */
export function readAccess(options: AccessOptions): Access | string {
  const { sandbox, askForApproval, approve = false } = options;
  const presets = [
    ...(options.access === undefined ? [] : [{ flag: `--access ${options.access}`, name: options.access }]),
    ...(options.fullAuto ? [{ flag: "--full-auto", name: "full-auto" as const }] : []),
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
  const chosen = preset === undefined ? undefined : ACCESS_PRESETS[preset.name];
  const mode = chosen?.sandbox ?? sandbox;
  // What nobody asks for cannot be approved.
  const policy = askForApproval ?? (approve ? "on-request" : chosen?.approvalPolicy);
  return {
    ...(mode !== undefined && { sandbox: mode }),
    ...(policy !== undefined && { approvalPolicy: policy }),
  };
}
