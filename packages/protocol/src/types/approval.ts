import {
  array,
  boolean,
  enumeration,
  experimental,
  inline,
  integer,
  nullable,
  object,
  omittable,
  optional,
  record,
  type Static,
  string,
  union,
} from "../schema-language.ts";
import { CommandAction } from "./item-part.ts";
import {
  AdditionalPermissionProfile,
  GrantedPermissionProfile,
  RequestPermissionProfile,
} from "./permission.ts";

export const CommandExecutionApprovalDecision = union("CommandExecutionApprovalDecision", () => [
  enumeration("", ["accept", "acceptForSession", "decline", "cancel"]),
  inline(() => ({
    acceptWithExecpolicyAmendment: inline(() => ({ execpolicy_amendment: array(string()) })),
  })),
  inline(() => ({
    applyNetworkPolicyAmendment: inline(() => ({ network_policy_amendment: NetworkPolicyAmendment })),
  })),
]);
export type CommandExecutionApprovalDecision = Static<typeof CommandExecutionApprovalDecision>;

export const CommandExecutionApprovalKind = enumeration("CommandExecutionApprovalKind", [
  "command",
  "writeStdin",
  "humanCommand",
]);
export type CommandExecutionApprovalKind = Static<typeof CommandExecutionApprovalKind>;

export const CommandExecutionRequestApprovalParams = object("CommandExecutionRequestApprovalParams", () => ({
  additionalPermissions: experimental(AdditionalPermissionProfile),
  approvalId: optional(string()),
  availableDecisions: experimental(array(CommandExecutionApprovalDecision)),
  command: optional(string()),
  commandActions: optional(array(CommandAction)),
  cwd: optional(string()),
  environmentId: nullable(string()),
  itemId: string(),
  kind: CommandExecutionApprovalKind,
  networkApprovalContext: optional(NetworkApprovalContext),
  proposedExecpolicyAmendment: optional(array(string())),
  proposedNetworkPolicyAmendments: optional(array(NetworkPolicyAmendment)),
  reason: optional(string()),
  startedAtMs: integer(),
  threadId: string(),
  turnId: string(),
}));
export type CommandExecutionRequestApprovalParams = Static<typeof CommandExecutionRequestApprovalParams>;

export const CommandExecutionRequestApprovalResponse = object(
  "CommandExecutionRequestApprovalResponse",
  () => ({ decision: CommandExecutionApprovalDecision }),
);
export type CommandExecutionRequestApprovalResponse = Static<typeof CommandExecutionRequestApprovalResponse>;

export const FileChangeApprovalDecision = enumeration("FileChangeApprovalDecision", [
  "accept",
  "acceptForSession",
  "decline",
  "cancel",
]);
export type FileChangeApprovalDecision = Static<typeof FileChangeApprovalDecision>;

export const FileChangeRequestApprovalParams = object("FileChangeRequestApprovalParams", () => ({
  grantRoot: optional(string()),
  itemId: string(),
  reason: optional(string()),
  startedAtMs: integer(),
  threadId: string(),
  turnId: string(),
}));
export type FileChangeRequestApprovalParams = Static<typeof FileChangeRequestApprovalParams>;

export const FileChangeRequestApprovalResponse = object("FileChangeRequestApprovalResponse", () => ({
  decision: FileChangeApprovalDecision,
}));
export type FileChangeRequestApprovalResponse = Static<typeof FileChangeRequestApprovalResponse>;

export const NetworkApprovalContext = object("NetworkApprovalContext", () => ({
  host: string(),
  protocol: NetworkApprovalProtocol,
}));
export type NetworkApprovalContext = Static<typeof NetworkApprovalContext>;

export const NetworkApprovalProtocol = enumeration("NetworkApprovalProtocol", [
  "http",
  "https",
  "socks5Tcp",
  "socks5Udp",
]);
export type NetworkApprovalProtocol = Static<typeof NetworkApprovalProtocol>;

export const NetworkPolicyAmendment = object("NetworkPolicyAmendment", () => ({
  action: NetworkPolicyRuleAction,
  host: string(),
}));
export type NetworkPolicyAmendment = Static<typeof NetworkPolicyAmendment>;

export const NetworkPolicyRuleAction = enumeration("NetworkPolicyRuleAction", ["allow", "deny"]);
export type NetworkPolicyRuleAction = Static<typeof NetworkPolicyRuleAction>;

export const PermissionGrantScope = enumeration("PermissionGrantScope", ["turn", "session"]);
export type PermissionGrantScope = Static<typeof PermissionGrantScope>;

export const PermissionsRequestApprovalParams = object("PermissionsRequestApprovalParams", () => ({
  cwd: string(),
  environmentId: nullable(string()),
  itemId: string(),
  permissions: RequestPermissionProfile,
  reason: nullable(string()),
  startedAtMs: integer(),
  threadId: string(),
  turnId: string(),
}));
export type PermissionsRequestApprovalParams = Static<typeof PermissionsRequestApprovalParams>;

export const PermissionsRequestApprovalResponse = object("PermissionsRequestApprovalResponse", () => ({
  permissions: GrantedPermissionProfile,
  scope: omittable(PermissionGrantScope),
  strictAutoReview: optional(boolean()),
}));
export type PermissionsRequestApprovalResponse = Static<typeof PermissionsRequestApprovalResponse>;

export const ToolRequestUserInputAnswer = object("ToolRequestUserInputAnswer", () => ({
  answers: array(string()),
}));
export type ToolRequestUserInputAnswer = Static<typeof ToolRequestUserInputAnswer>;

export const ToolRequestUserInputOption = object("ToolRequestUserInputOption", () => ({
  description: string(),
  label: string(),
}));
export type ToolRequestUserInputOption = Static<typeof ToolRequestUserInputOption>;

export const ToolRequestUserInputParams = object("ToolRequestUserInputParams", () => ({
  autoResolutionMs: nullable(integer("uint64")),
  isBlocking: boolean(),
  itemId: string(),
  questions: array(ToolRequestUserInputQuestion),
  threadId: string(),
  turnId: string(),
}));
export type ToolRequestUserInputParams = Static<typeof ToolRequestUserInputParams>;

export const ToolRequestUserInputQuestion = object("ToolRequestUserInputQuestion", () => ({
  header: string(),
  id: string(),
  isOther: boolean(),
  isSecret: boolean(),
  options: nullable(array(ToolRequestUserInputOption)),
  question: string(),
}));
export type ToolRequestUserInputQuestion = Static<typeof ToolRequestUserInputQuestion>;

export const ToolRequestUserInputResponse = object("ToolRequestUserInputResponse", () => ({
  answers: record(ToolRequestUserInputAnswer),
}));
export type ToolRequestUserInputResponse = Static<typeof ToolRequestUserInputResponse>;
