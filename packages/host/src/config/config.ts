import { basename, resolve } from "node:path";
import type {
  ApprovalsReviewer,
  AskForApproval,
  Personality,
  ReasoningSummary,
  Verbosity,
} from "@bobbin/protocol";
import { type ProjectDocSettings, USUAL_DOCS } from "../core/life/project-docs.ts";
import type { AnswerLimits } from "../model/answer-limits.ts";
import type { ProviderSettings } from "../model/provider-settings.ts";
import { serviceTier } from "../model/service-tier.ts";
import type { ShellEnvironmentPolicy } from "../process/command-environment.ts";
import type { HostRules } from "../sandbox/network/hosts.ts";
import type { PermissionProfile } from "../sandbox/permission-profile.ts";
import type { Projects } from "../tool/project-rules.ts";
import type { RapSettings } from "../tool/rap/settings.ts";
import { readAnswerLimits } from "./answer-limits.ts";
import { policyWarnings, readApprovalPolicy } from "./approval-policy.ts";
import { ConfigError } from "./config-error.ts";
import { readModelProviders } from "./model-providers.ts";
import { readNetworkProxy } from "./network-hosts.ts";
import { readPermissionProfiles } from "./permission-profiles.ts";
import { readProjects } from "./projects.ts";
import { readSandbox, readWorkspaceWrite, type SandboxChoice } from "./sandbox.ts";
import { readShellEnvironment } from "./shell-environment.ts";
import { readSubjects, type SubjectSettings } from "./subjects.ts";
import { list, oneOf, subtable, type Table, text, whole } from "./table.ts";
import { readRap } from "./tool-servers.ts";

/** What threads start with, unless they say otherwise. Keys in config.toml are the peer's. */
export interface Config {
  readonly model: string;
  readonly modelProvider: string;
  readonly modelProviders: readonly ProviderSettings[];
  /** Whether a model that can search the web by itself may. */
  readonly webSearch: "live" | "cached" | null;
  /** How much the model takes in, in tokens, where someone knows better than we do. */
  readonly contextWindow: number | null;
  /** From so many tokens on a conversation is made shorter by itself; null: near the end of the window. */
  readonly autoCompactTokens: number | null;
  /** What the model is asked that has to do it; null: our own words. */
  readonly compactPrompt: string | null;
  /** Which model reviews; null: the thread's own. */
  readonly reviewModel: string | null;
  /** What a model judges approvals by; null: our own policy. */
  readonly approvalReviewPolicy: string | null;
  /** How much models may answer. */
  readonly answerLimits: AnswerLimits;
  /** For threads that have none of their own. */
  readonly developerInstructions: string | null;
  /** Has the base instructions for them. */
  readonly instructionsFile: string | null;
  readonly projectDocs: ProjectDocSettings;
  readonly approvalPolicy: AskForApproval;
  /** What people chose themselves: trust in a folder does not change it. */
  readonly chosen: { readonly approvalPolicy: boolean; readonly sandbox: boolean };
  /** What is taken otherwise than it was written. */
  readonly warnings: readonly string[];
  readonly approvalsReviewer: ApprovalsReviewer;
  /** What may be touched; `workspaceWrite` is for those who ask for that mode. */
  readonly sandbox: SandboxChoice;
  /** The profiles that people have written, by name. */
  readonly permissionProfiles: ReadonlyMap<string, PermissionProfile>;
  readonly workspaceWrite: ReturnType<typeof readWorkspaceWrite>;
  /** The rules for hosts where all that has the network has it by host; null: it has all of it. */
  readonly networkProxy: HostRules | null;
  /** Which variables a model's commands get. */
  readonly shellEnvironment: ShellEnvironmentPolicy;
  readonly serviceTier: string | null;
  readonly effort: string | null;
  readonly summary: ReasoningSummary | null;
  readonly verbosity: Verbosity | null;
  readonly personality: Personality | null;
  /** The most tokens that a goal may be given, and what it gets if nobody says; null: no bound. */
  readonly maxGoalTokenBudget: number | null;
  /** How long a thread stays loaded that nobody follows; by default it depends on the transport. */
  readonly threadUnloadDelaySecs: number | undefined;
  /** How long a question to clients waits when none is there to answer it. */
  readonly serverRequestDeadlineSecs: number;
  /** Idle threads beyond it are dropped from memory and come back when they are touched. */
  readonly maxResidentThreads: number;
  /** When a thread's journal is synced to the disk: before a turn's end is told, after every commit, or never. */
  readonly journalSync: "turns" | "always" | "never";
  readonly rap: RapSettings;
  /** What those may reach who come with a signed token that names them. */
  readonly subjects: SubjectSettings;
  /** Which projects people trust, and with which rules. */
  readonly projects: Projects;
  /** Clients that one socket listener serves at once. */
  readonly maxConnections: number;
}

interface ConfigPlace {
  /** Where files and folders are found that are not named from the root on. */
  readonly home?: string;
  /** What is said already: tables that are only begun go on with it. */
  readonly below?: Config;
}

/** Takes what it knows out of a table; keys that it does not know are someone else's. */
export function readConfig(table: Table, { home = ".", below }: ConfigPlace = {}): Config {
  const permissionProfiles = readPermissionProfiles(table);
  const workspaceWrite = readWorkspaceWrite(table, home, below?.workspaceWrite);
  const reviewer = oneOf(table, "approvals_reviewer", ["user", "auto_review", "guardian_subagent"]);
  // Who chose a profile may have wanted less to be allowed than is without it.
  const profile = text(table, "profile");
  if (profile !== undefined)
    throw new ConfigError(`legacy \`profile = ${JSON.stringify(profile)}\` config is no longer supported`);
  const file = text(table, "model_instructions_file");
  const tier = text(table, "service_tier");
  return {
    ...readModelProviders(table),
    webSearch: webSearch(table),
    contextWindow: whole(table, "model_context_window", 1) ?? null,
    autoCompactTokens: whole(table, "model_auto_compact_token_limit", 1) ?? null,
    compactPrompt: text(table, "compact_prompt") ?? null,
    reviewModel: text(table, "review_model") ?? null,
    approvalReviewPolicy: readReviewPolicy(table),
    answerLimits: readAnswerLimits(table),
    developerInstructions: text(table, "developer_instructions") ?? null,
    instructionsFile: file === undefined ? null : resolve(home, file),
    projectDocs: readProjectDocSettings(table),
    approvalPolicy: readApprovalPolicy(table) ?? "on-request",
    chosen: {
      approvalPolicy: table["approval_policy"] !== undefined,
      sandbox: table["sandbox_mode"] !== undefined || table["default_permissions"] !== undefined,
    },
    warnings: policyWarnings(table),
    approvalsReviewer: reviewer === undefined || reviewer === "user" ? "user" : "auto_review",
    sandbox: readSandbox(table, workspaceWrite, permissionProfiles),
    permissionProfiles,
    workspaceWrite,
    networkProxy: readNetworkProxy(table),
    shellEnvironment: readShellEnvironment(table),
    serviceTier: tier === undefined ? null : serviceTier(tier),
    effort: text(table, "model_reasoning_effort") ?? null,
    summary: oneOf(table, "model_reasoning_summary", ["auto", "concise", "detailed", "none"]) ?? null,
    verbosity: oneOf(table, "model_verbosity", ["low", "medium", "high"]) ?? null,
    threadUnloadDelaySecs: whole(table, "thread_unload_delay_secs", 0),
    serverRequestDeadlineSecs: whole(table, "server_request_deadline_secs", 0) ?? 1800,
    journalSync: oneOf(table, "journal_sync", ["turns", "always", "never"]) ?? "turns",
    maxResidentThreads: whole(table, "max_resident_threads", 1) ?? 256,
    maxGoalTokenBudget: whole(subtable(table, "goals") ?? {}, "max_goal_token_budget", 1, "goals.") ?? null,
    rap: readRap(table),
    subjects: readSubjects(table, home),
    projects: readProjects(table),
    maxConnections: whole(table, "max_connections", 1) ?? 10_000,
    personality: oneOf(table, "personality", ["none", "friendly", "pragmatic"]) ?? null,
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

/** The most characters of a policy: a reviewer reads it with every approval. */
const POLICY_CHARACTERS = 32_768;

function readReviewPolicy(table: Table): string | null {
  const policy = text(subtable(table, "auto_review") ?? {}, "policy", "auto_review.")?.trim() ?? "";
  if (policy.length > POLICY_CHARACTERS)
    throw new ConfigError(`auto_review.policy has more than ${POLICY_CHARACTERS} characters`);
  return policy === "" ? null : policy;
}

/** Nothing leaves the machine for a search unless someone said so. */
function webSearch(table: Table): Config["webSearch"] {
  const mode = oneOf(table, "web_search", ["disabled", "cached", "live"]);
  if (mode !== undefined) return mode === "disabled" ? null : mode;
  const { web_search: older } = subtable(table, "tools") ?? {};
  return typeof older === "boolean" && older ? "live" : null;
}
