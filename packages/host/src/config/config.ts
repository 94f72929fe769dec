import { basename, resolve } from "node:path";
import type {
  ApprovalsReviewer,
  AskForApproval,
  Personality,
  ReasoningSummary,
  Verbosity,
} from "@bobbin/protocol";
import { type ProjectDocSettings, USUAL_DOCS } from "../core/life/project-doc-settings.ts";
import type { CredentialSettings } from "../credentials/open-credentials.ts";
import type { AnswerLimits } from "../model/answer-limits.ts";
import type { ProviderSettings } from "../model/provider-settings.ts";
import { serviceTier } from "../model/service-tier.ts";
import type { ShellEnvironmentPolicy } from "../process/command-environment.ts";
import type { HostRules } from "../sandbox/network/host-rules.ts";
import type { PermissionProfile } from "../sandbox/permission-profile.ts";
import type { AgentSettings } from "../tool/children/helper-settings.ts";
import type { Projects } from "../tool/consent/project-rules.ts";
import type { RapSettings } from "../tool/rap/rap-settings.ts";
import { readAgents } from "./agent-settings.ts";
import { policyWarnings, readApprovalPolicy } from "./approval-policy.ts";
import { ConfigError } from "./bad-config-error.ts";
import { readCredentialStores } from "./credential-settings.ts";
import { readFeatures } from "./features.ts";
import { type FeedbackSettings, readFeedback } from "./feedback-settings.ts";
import { type LoginSettings, readLogin } from "./login-settings.ts";
import { allowedServers } from "./mcp-requirements.ts";
import { type McpConfig, readMcpServers } from "./mcp-servers.ts";
import { readAnswerLimits } from "./model-answer-limits.ts";
import { readModelProviders } from "./model-providers.ts";
import { readNetworkProxy } from "./network-hosts.ts";
import { withinNetworkRules } from "./network-requirements.ts";
import { type NotifySettings, readNotify } from "./notify-settings.ts";
import { readPermissionProfiles } from "./permission-profile-reader.ts";
import { readProjects } from "./project-trust-reader.ts";
import {
  allowedLogin,
  allowedSearch,
  modeOf,
  NO_REQUIREMENTS,
  type Requirements,
  requirementWarnings,
  withManaged,
  withResidency,
} from "./requirements.ts";
import { readSandbox, readWorkspaceWrite, type SandboxChoice } from "./sandbox-settings.ts";
import { readShellEnvironment } from "./shell-environment.ts";
import { readSubjects, type SubjectSettings } from "./subject-permissions.ts";
import { list, oneOf, subtable, type Table, text, whole } from "./table-reader.ts";
import { readRap } from "./tool-servers.ts";
import { readUsage, type UsageSettings } from "./usage-settings.ts";

/**
 * The configuration of a host: its own settings, and the defaults of its threads. config.toml has the keys of the
 * Codex CLI.
 */
export interface Config {
  readonly model: string;
  readonly modelProvider: string;
  readonly modelProviders: readonly ProviderSettings[];
  /** Whether models may search the web, if their provider supports it: live or from a cache; null for no search. */
  readonly webSearch: "live" | "cached" | null;
  /** Size of the model's context window in tokens; null to derive it from the model. */
  readonly contextWindow: number | null;
  /** Number of tokens at which the conversation is summarized automatically; null for a share of the context window. */
  readonly autoCompactTokens: number | null;
  /** Prompt that asks the model to summarize the conversation; null for the built-in one. */
  readonly compactPrompt: string | null;
  /** Model that reviews code and approvals; null for the thread's own. */
  readonly reviewModel: string | null;
  /** Policy by which a model decides approvals; null for the built-in one. */
  readonly approvalReviewPolicy: string | null;
  /** Limits on the size of model answers. */
  readonly answerLimits: AnswerLimits;
  /** Developer instructions of threads that are started without any. */
  readonly developerInstructions: string | null;
  /**
   * Path of a file with the base instructions for threads that are started without any; null for the built-in ones.
   */
  readonly instructionsFile: string | null;
  readonly projectDocs: ProjectDocSettings;
  readonly approvalPolicy: AskForApproval;
  /**
   * Whether the user configured these values. The trust in a folder sets defaults only for values that the user did
   * not configure.
   */
  readonly chosen: { readonly approvalPolicy: boolean; readonly sandbox: boolean };
  /** Warnings for the user about values that were replaced or ignored. */
  readonly warnings: readonly string[];
  readonly approvalsReviewer: ApprovalsReviewer;
  /** Sandbox of commands. `workspaceWrite` is used where a client asks for the mode `workspace-write`. */
  readonly sandbox: SandboxChoice;
  /** `[permissions.NAME]`: the user's permission profiles, by name. */
  readonly permissionProfiles: ReadonlyMap<string, PermissionProfile>;
  readonly workspaceWrite: ReturnType<typeof readWorkspaceWrite>;
  /**
   * Rules about the hosts that commands may connect to. They apply to every command with network access. Null for no
   * rules.
   */
  readonly networkProxy: HostRules | null;
  /** Which environment variables the model's commands get. */
  readonly shellEnvironment: ShellEnvironmentPolicy;
  readonly serviceTier: string | null;
  readonly effort: string | null;
  readonly summary: ReasoningSummary | null;
  readonly verbosity: Verbosity | null;
  readonly personality: Personality | null;
  /** Upper bound, and default, of a goal's token budget; null for no bound. */
  readonly maxGoalTokenBudget: number | null;
  /** Delay until a thread without subscribers is unloaded; undefined for the default of the transport. */
  readonly threadUnloadDelaySecs: number | undefined;
  /** How long a server request waits for an answer while no client that could answer is connected. */
  readonly serverRequestDeadlineSecs: number;
  /** Limit on idle threads in memory. Beyond it, the least recently used ones are hibernated. */
  readonly maxResidentThreads: number;
  /** When a thread's journal is fsynced: before a turn's end is notified, after every commit, or never. */
  readonly journalSync: "turns" | "always" | "never";
  readonly rap: RapSettings;
  readonly mcp: McpConfig;
  /** With more MCP tools than this, models get a search tool instead of the list of all tools. */
  readonly toolSearchAbove: number;
  readonly feedback: FeedbackSettings;
  readonly login: LoginSettings;
  /** Storage of credentials: files, keyring or memory. */
  readonly credentials: CredentialSettings;
  readonly usage: UsageSettings;
  /** What each subject (the user named by a signed token) may access. */
  readonly subjects: SubjectSettings;
  /** Whether and how models may start helpers. */
  readonly agents: AgentSettings;
  /** Projects that the user trusts, and the digests of their trusted rules and files. */
  readonly projects: Projects;
  /** Program or URL that is notified of events outside of clients; null for none. */
  readonly notify: NotifySettings | null;
  /** `[hooks]` as it is written; undefined if the table is missing. */
  readonly hooks: unknown;
  /** Limit on the clients of one socket listener. */
  readonly maxConnections: number;
  /** Features that the configuration turns on or off. */
  readonly features: Readonly<Record<string, boolean>>;
  /** Requirements of an administrator on this configuration. */
  readonly requirements: Requirements;
}

interface ConfigContext {
  /** Folder against which relative paths are resolved. */
  readonly home?: string;
  /** Configuration of the layers below, for tables that only override some keys. */
  readonly below?: Config;
  /** Requirements, whose managed values override those of the table. */
  readonly requirements?: Requirements;
}

/** Reads the configuration from a merged table. Unknown keys are ignored; `unknownKeys` reports them. */
export function readConfig(
  writtenTable: Table,
  { home = ".", below, requirements }: ConfigContext = {},
): Config {
  const required = requirements ?? below?.requirements ?? NO_REQUIREMENTS;
  const table = withManaged(writtenTable, required);
  const network = {
    networkProxy: readNetworkProxy(table),
    permissionProfiles: readPermissionProfiles(table),
  };
  const { networkProxy, permissionProfiles } = withinNetworkRules(network, required.network);
  const workspaceWrite = readWorkspaceWrite(table, home, below?.workspaceWrite);
  const reviewer = oneOf(table, "approvals_reviewer", ["user", "auto_review", "guardian_subagent"]);
  // The key `profile` is refused: ignoring it could allow more than the user intended with that profile.
  const profile = text(table, "profile");
  if (profile !== undefined)
    throw new ConfigError(`legacy \`profile = ${JSON.stringify(profile)}\` config is no longer supported`);
  const mcp = allowedServers(required.mcpServers, readMcpServers(table));
  const search = webSearch(table);
  const approvalPolicy = readApprovalPolicy(table);
  const sandbox = readSandbox(table, workspaceWrite, permissionProfiles);
  const login = readLogin(table);
  const file = text(table, "model_instructions_file");
  const tier = text(table, "service_tier");
  return {
    ...withResidency(readModelProviders(table), required),
    webSearch: allowedSearch(search, required),
    contextWindow: whole(table, "model_context_window", 1) ?? null,
    autoCompactTokens: whole(table, "model_auto_compact_token_limit", 1) ?? null,
    compactPrompt: text(table, "compact_prompt") ?? null,
    reviewModel: text(table, "review_model") ?? null,
    approvalReviewPolicy: readReviewPolicy(table),
    answerLimits: readAnswerLimits(table),
    developerInstructions: text(table, "developer_instructions") ?? null,
    instructionsFile: file === undefined ? null : resolve(home, file),
    projectDocs: readProjectDocSettings(table),
    approvalPolicy: approvalPolicy ?? "on-request",
    chosen: {
      approvalPolicy: table["approval_policy"] !== undefined,
      sandbox: table["sandbox_mode"] !== undefined || table["default_permissions"] !== undefined,
    },
    warnings: [
      ...policyWarnings(table),
      ...requirementWarnings(required, {
        approvalPolicy,
        mode: modeOf(sandbox, permissionProfiles),
        webSearch: search,
        forcedLogin: login.forcedMethod,
        hooks: table["hooks"],
        networkProxy: network.networkProxy,
      }),
      ...mcp.problems.map((problem) => `An MCP server is left out: ${problem}`),
    ],
    approvalsReviewer: reviewer === undefined || reviewer === "user" ? "user" : "auto_review",
    sandbox,
    permissionProfiles,
    workspaceWrite,
    networkProxy,
    shellEnvironment: readShellEnvironment(table),
    serviceTier: tier === undefined ? null : serviceTier(tier),
    effort: text(table, "model_reasoning_effort") ?? null,
    summary: oneOf(table, "model_reasoning_summary", ["auto", "concise", "detailed", "none"]) ?? null,
    verbosity: oneOf(table, "model_verbosity", ["low", "medium", "high"]) ?? null,
    threadUnloadDelaySecs: whole(table, "thread_unload_delay_secs", 0),
    serverRequestDeadlineSecs: whole(table, "server_request_deadline_secs", 0) ?? 1800,
    journalSync: oneOf(table, "journal_sync", ["turns", "always", "never"]) ?? "turns",
    maxResidentThreads: whole(table, "max_resident_threads", 1) ?? 256,
    toolSearchAbove: whole(table, "tool_search_above", 0) ?? 50,
    maxGoalTokenBudget: whole(subtable(table, "goals") ?? {}, "max_goal_token_budget", 1, "goals.") ?? null,
    rap: readRap(table),
    feedback: readFeedback(table),
    login: { ...login, forcedMethod: allowedLogin(login.forcedMethod, required) },
    credentials: readCredentialStores(table),
    usage: readUsage(table),
    mcp,
    subjects: readSubjects(table, home),
    agents: readAgents(table, home),
    projects: readProjects(table),
    hooks: table["hooks"],
    notify: readNotify(table),
    maxConnections: whole(table, "max_connections", 1) ?? 10_000,
    personality: oneOf(table, "personality", ["none", "friendly", "pragmatic"]) ?? null,
    features: readFeatures(table),
    requirements: required,
  };
}

function readProjectDocSettings(table: Table): ProjectDocSettings {
  const fallbackNames = list(table, "project_doc_fallback_filenames") ?? [];
  const wrong = fallbackNames.find((name) => name.trim() === "" || basename(name) !== name);
  if (wrong !== undefined)
    throw new ConfigError(
      `project_doc_fallback_filenames: expected names of files, found ${JSON.stringify(wrong)}`,
    );
  return { maxBytes: whole(table, "project_doc_max_bytes", 0) ?? USUAL_DOCS.maxBytes, fallbackNames };
}

/** Limit on the characters of a review policy, because the reviewing model reads it for each approval. */
const POLICY_CHARACTERS = 32_768;

function readReviewPolicy(table: Table): string | null {
  const policy = text(subtable(table, "auto_review") ?? {}, "policy", "auto_review.")?.trim() ?? "";
  if (policy.length > POLICY_CHARACTERS)
    throw new ConfigError(`auto_review.policy has more than ${POLICY_CHARACTERS} characters`);
  return policy === "" ? null : policy;
}

/** Reads `web_search`. The default sends no search to the network. */
function webSearch(table: Table): Config["webSearch"] {
  const mode = oneOf(table, "web_search", ["disabled", "cached", "live"]);
  if (mode !== undefined) return mode === "disabled" ? null : mode;
  const { web_search: older } = subtable(table, "tools") ?? {};
  return typeof older === "boolean" && older ? "live" : null;
}
