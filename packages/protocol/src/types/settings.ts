import {
  array,
  boolean,
  enumeration,
  gated,
  inline,
  nullable,
  object,
  omittable,
  optional,
  type Static,
  string,
  union,
} from "../schema-language.ts";

// Values that older clients and documents use. `on-failure` no longer exists; `on-request` is the closest value.
const APPROVAL_ALIASES = {
  unlessTrusted: "untrusted",
  "unless-trusted": "untrusted",
  "on-failure": "on-request",
  onFailure: "on-request",
} as const;

export const ApprovalsReviewer = enumeration("ApprovalsReviewer", ["user", "auto_review"], {
  aliases: { guardian_subagent: "auto_review" },
});
export type ApprovalsReviewer = Static<typeof ApprovalsReviewer>;

export const AskForApproval = union("AskForApproval", () => [
  enumeration("", ["untrusted", "on-request", "never"], { aliases: APPROVAL_ALIASES }),
  gated(
    inline(() => ({
      granular: inline(() => ({
        sandbox_approval: boolean(),
        rules: boolean(),
        mcp_elicitations: boolean(),
        request_permissions: omittable(boolean()),
        skill_approval: omittable(boolean()),
      })),
    })),
    "askForApproval.granular",
  ),
]);
export type AskForApproval = Static<typeof AskForApproval>;

export const CollaborationMode = object("CollaborationMode", () => ({ mode: ModeKind, settings: Settings }));
export type CollaborationMode = Static<typeof CollaborationMode>;

export const CollaborationModeListParams = object("CollaborationModeListParams", () => ({}));
export type CollaborationModeListParams = Static<typeof CollaborationModeListParams>;

export const CollaborationModeListResponse = object("CollaborationModeListResponse", () => ({
  data: array(CollaborationModeMask),
}));
export type CollaborationModeListResponse = Static<typeof CollaborationModeListResponse>;

export const CollaborationModeMask = object("CollaborationModeMask", () => ({
  mode: nullable(ModeKind),
  model: nullable(string()),
  name: string(),
  reasoning_effort: nullable(ReasoningEffort),
}));
export type CollaborationModeMask = Static<typeof CollaborationModeMask>;

export const CyberAccessProgram = enumeration("CyberAccessProgram", [
  "standard",
  "daybreakBlue",
  "daybreakRed",
]);
export type CyberAccessProgram = Static<typeof CyberAccessProgram>;

export const ModeKind = enumeration("ModeKind", ["plan", "default"], {
  aliases: { code: "default", pair_programming: "default", execute: "default", custom: "default" },
});
export type ModeKind = Static<typeof ModeKind>;

export const MultiAgentMode = union("MultiAgentMode", () => [
  enumeration("", ["explicitRequestOnly", "proactive"]),
  inline(() => ({ custom: string() })),
]);
export type MultiAgentMode = Static<typeof MultiAgentMode>;

export const Personality = enumeration("Personality", ["none", "friendly", "pragmatic"]);
export type Personality = Static<typeof Personality>;

export const ReasoningEffort = string({ minLength: 1 });
export type ReasoningEffort = Static<typeof ReasoningEffort>;

export const ReasoningSummary = enumeration("ReasoningSummary", ["auto", "concise", "detailed", "none"]);
export type ReasoningSummary = Static<typeof ReasoningSummary>;

export const SandboxMode = enumeration("SandboxMode", ["read-only", "workspace-write", "danger-full-access"]);
export type SandboxMode = Static<typeof SandboxMode>;

export const Settings = object("Settings", () => ({
  developer_instructions: optional(string()),
  model: string(),
  reasoning_effort: optional(ReasoningEffort),
}));
export type Settings = Static<typeof Settings>;

export const ThreadHistoryMode = enumeration("ThreadHistoryMode", ["legacy", "paginated"]);
export type ThreadHistoryMode = Static<typeof ThreadHistoryMode>;

export const Verbosity = enumeration("Verbosity", ["low", "medium", "high"]);
export type Verbosity = Static<typeof Verbosity>;
