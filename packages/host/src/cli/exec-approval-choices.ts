import type {
  AdditionalPermissionProfile,
  CommandExecutionApprovalDecision,
  CommandExecutionRequestApprovalParams,
  FileChangeApprovalDecision,
  FileChangeRequestApprovalParams,
  FileSystemPath,
  FileUpdateChange,
  McpServerElicitationRequestParams,
  McpServerElicitationRequestResponse,
  PermissionsRequestApprovalParams,
  PermissionsRequestApprovalResponse,
  ThreadItem,
} from "@bobbin/protocol";

/**
 * An approval question for the terminal. For each key that the user can type, it has a response in the protocol's
 * form.
 */
export interface Approval<T> {
  /** The question, as one line. */
  readonly question: string;
  /** Further lines, each without a line end: the reason, and last the command or the diff. */
  readonly details: readonly string[];
  readonly choices: readonly Choice<T>[];
}

export interface Choice<T> {
  readonly key: "y" | "s" | "p" | "n" | "c";
  readonly says: string;
  readonly answer: T;
}

export function acceptanceOf<T>({ choices }: Approval<T>): T {
  return choices.find(({ key }) => key === "y")!.answer;
}

const SESSION = "yes, and do not ask again in this session";
const NO = "no";
const CANCEL = "no, and end the turn";
/** Limit on the lines of a diff that are shown. */
const MAX_LINES = 100;

export function commandApproval(
  params: CommandExecutionRequestApprovalParams,
): Approval<CommandExecutionApprovalDecision> {
  const { command, cwd, reason, kind, networkApprovalContext: network, additionalPermissions: more } = params;
  const offered = params.availableDecisions ?? ["accept", "acceptForSession", "decline", "cancel"];
  const question =
    network != null
      ? `Let a command connect to ${network.host} (${network.protocol})?`
      : kind === "writeStdin"
        ? "Send input to this running command?"
        : "Run this command?";
  return {
    question,
    details: [
      ...(reason == null ? [] : [`why: ${reason}`]),
      ...(cwd == null ? [] : [`in ${cwd}`]),
      ...(more == null ? [] : permissionLines(more).map((line) => `with: ${line}`)),
      ...(command == null ? [] : commandLines(command)),
    ],
    choices: [
      { key: "y", says: "yes", answer: "accept" },
      ...offered.flatMap(commandChoice),
      { key: "n", says: NO, answer: "decline" },
      { key: "c", says: CANCEL, answer: "cancel" },
    ],
  };
}

/** The command as a shell would show it: `$` before its first line, `>` before the others. */
function commandLines(command: string): readonly string[] {
  return command.split("\n").map((line, at) => `${at === 0 ? "$" : ">"} ${line}`);
}

/** The choices besides yes, no and cancel, which every question offers. */
function commandChoice(
  decision: CommandExecutionApprovalDecision,
): readonly Choice<CommandExecutionApprovalDecision>[] {
  if (decision === "acceptForSession") return [{ key: "s", says: SESSION, answer: decision }];
  if (typeof decision === "string") return [];
  if ("acceptWithExecpolicyAmendment" in decision) {
    const words = decision.acceptWithExecpolicyAmendment.execpolicy_amendment.join(" ");
    return [
      { key: "p", says: `yes, and always for commands that begin with \`${words}\``, answer: decision },
    ];
  }
  const { host, action } = decision.applyNetworkPolicyAmendment.network_policy_amendment;
  // The option to always deny a host is not offered as an answer, because it would not approve the command.
  return action === "allow" ? [{ key: "p", says: `yes, and always for ${host}`, answer: decision }] : [];
}

/** The diffs of file changes, line by line, up to MAX_LINES. */
export function diffLines(changes: readonly FileUpdateChange[]): readonly string[] {
  const lines = changes.flatMap(({ path, kind, diff }) => [
    `${kind.type} ${path}`,
    ...diff
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => (kind.type === "update" ? line : `${kind.type === "add" ? "+" : "-"}${line}`)),
  ]);
  const left = lines.length - MAX_LINES;
  return left > 0 ? [...lines.slice(0, MAX_LINES), `… ${left} more lines`] : lines;
}

/** `item` is the file change in question, if its `item/started` was received. */
export function patchApproval(
  { reason, grantRoot }: FileChangeRequestApprovalParams,
  item: ThreadItem | undefined,
): Approval<FileChangeApprovalDecision> {
  const changes = item?.type === "fileChange" ? item.changes : [];
  return {
    question: changes.length === 1 ? "Change this file?" : "Change these files?",
    details: [
      ...(reason == null ? [] : [`why: ${reason}`]),
      ...(grantRoot == null ? [] : [`for the session: everything in ${grantRoot}`]),
      ...diffLines(changes),
    ],
    choices: [
      { key: "y", says: "yes", answer: "accept" },
      { key: "s", says: SESSION, answer: "acceptForSession" },
      { key: "n", says: NO, answer: "decline" },
      { key: "c", says: CANCEL, answer: "cancel" },
    ],
  };
}

export function permissionsApproval({
  permissions: { network, fileSystem },
  reason,
  cwd,
}: PermissionsRequestApprovalParams): Approval<PermissionsRequestApprovalResponse> {
  const permissions = { ...(network && { network }), ...(fileSystem && { fileSystem }) };
  return {
    question: "Grant these permissions?",
    details: [
      ...(reason === null ? [] : [`why: ${reason}`]),
      `in ${cwd}`,
      ...permissionLines({ network, fileSystem }),
    ],
    choices: [
      { key: "y", says: "yes, for this turn", answer: { permissions, scope: "turn" } },
      { key: "s", says: "yes, for this session", answer: { permissions, scope: "session" } },
      { key: "n", says: NO, answer: { permissions: {}, scope: "turn" } },
    ],
  };
}

/** The permissions as lines, without duplicates: the host may send a path in both the old and the new form. */
function permissionLines({ network, fileSystem }: AdditionalPermissionProfile): readonly string[] {
  const lines = [
    ...(network?.enabled ? ["network access"] : []),
    ...(fileSystem?.read ?? []).map((path) => `read ${path}`),
    ...(fileSystem?.write ?? []).map((path) => `write ${path}`),
    ...(fileSystem?.entries ?? []).map(({ access, path }) => `${access} ${placeOf(path)}`),
  ];
  return [...new Set(lines)];
}

function placeOf(path: FileSystemPath): string {
  switch (path.type) {
    case "path":
      return path.path;
    case "glob_pattern":
      return path.pattern;
    case "special":
      return JSON.stringify(path.value);
  }
}

/** A form without fields is a yes/no question. Returns undefined for other elicitations. */
export function elicitationApproval(
  params: McpServerElicitationRequestParams,
): Approval<McpServerElicitationRequestResponse> | undefined {
  if (params.mode === "url" || !("requestedSchema" in params) || !isEmpty(params.requestedSchema))
    return undefined;
  const meta = (params._meta ?? {}) as Readonly<Record<string, unknown>>;
  // Only the host can set these fields, so a server's text cannot be shown as if it came from the host.
  const isOfHost = "codex_approval_kind" in meta || "bobbin_approval_kind" in meta;
  const offered = Array.isArray(meta["persist"]) ? meta["persist"] : [meta["persist"]];
  const answer = (
    action: McpServerElicitationRequestResponse["action"],
    persist?: string,
  ): McpServerElicitationRequestResponse => ({
    action,
    content: action === "accept" ? {} : null,
    _meta: persist === undefined ? null : { persist },
  });
  const [first = "", ...rest] = params.message.split("\n");
  return {
    question: isOfHost ? first : `${params.serverName} asks: ${first}`,
    details: [
      ...rest.map((line) => `| ${line}`),
      ...(meta["tool_params"] === undefined ? [] : [`with ${JSON.stringify(meta["tool_params"])}`]),
    ],
    choices: [
      { key: "y", says: "yes", answer: answer("accept") },
      ...(offered.includes("session")
        ? [{ key: "s", says: SESSION, answer: answer("accept", "session") } as const]
        : []),
      ...(offered.includes("always")
        ? [{ key: "p", says: "yes, and always for this tool", answer: answer("accept", "always") } as const]
        : []),
      { key: "n", says: NO, answer: answer("decline") },
    ],
  };
}

function isEmpty(schema: unknown): boolean {
  const { properties } = (schema ?? {}) as { properties?: object };
  return properties !== undefined && Object.keys(properties).length === 0;
}
