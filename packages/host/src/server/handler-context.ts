import type {
  CredentialStorage,
  HostOfHome,
  LoadSettings,
  NotificationName,
  NotificationParams,
  Thread,
  ThreadSection,
  Turn,
} from "@bobbin/protocol";
import type { Accounts } from "../account/current-account.ts";
import type { RateLimits } from "../account/rate-limits.ts";
import type { UsageLedger } from "../account/usage/usage-ledger.ts";
import type { Config } from "../config/config.ts";
import type { KeyWarningCheck } from "../config/key-warning-check.ts";
import { type JournalLocation, threadView } from "../core/life/thread-view.ts";
import type { ThreadState } from "../core/state.ts";
import type { FeedbackReports } from "../feedback/feedback-reports.ts";
import type { RedactedLogReader } from "../feedback/redacted-log-reader.ts";
import type { ThreadQueries } from "../history/thread-queries.ts";
import type { Hooks } from "../hooks/thread-hooks.ts";
import type { Imports } from "../import/import-runs.ts";
import type { ProviderRegistry } from "../model/providers.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Platform } from "../platform/platform.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Actor } from "../thread/actor.ts";
import type { IdempotentStarts } from "../thread/idempotent-starts.ts";
import type { Idle } from "../thread/idle-unload.ts";
import type { RawResponseItems } from "../thread/raw-response-items.ts";
import type { Registry } from "../thread/registry.ts";
import type { Access } from "../thread/stored-threads.ts";
import type { ThreadArchive } from "../thread/thread-archive.ts";
import type { Sections } from "../thread/thread-sections.ts";
import type { RulesStore } from "../tool/consent/rules-store.ts";
import type { ExecSource } from "../tool/exec/exec-source.ts";
import type { LazyMcp } from "../tool/mcp/lazy-mcp-servers.ts";
import type { LazyMcpSource } from "../tool/mcp/lazy-mcp-source.ts";
import type { LazyOAuth } from "../tool/mcp/oauth/lazy-oauth.ts";
import type { LazyRap } from "../tool/rap/lazy-rap.ts";
import type { WorkspaceChanges } from "../workspace/lazy-turn-files.ts";
import type { AccountUpdates } from "./account-updates.ts";
import { maySee, ownerOf } from "./authorize.ts";
import type { ClientFileWatches } from "./client-file-watches.ts";
import type { ClientProcesses } from "./client-processes.ts";
import type { Connection } from "./connection.ts";
import type { ClientFileRequests } from "./file-request-limits.ts";
import type { FileSearches } from "./file-searches.ts";
import type { Reach, ReachLookup } from "./owner-access.ts";
import type { SkillWatches } from "./skill-watches.ts";
import type { ThreadConfigs } from "./thread-configs.ts";

/** The parts of the host that handlers use. */
export interface HandlerContext {
  readonly home: string;
  /** The current configuration. Clients may change it. */
  readonly config: Config;
  /** Why the configuration file is invalid; null if it is valid. */
  readonly wrongConfig: string | null;
  /** Replaces the current configuration. */
  configure(config: Config): void;
  /** The configurations of loaded threads. */
  readonly configs: ThreadConfigs;
  /** Finds unknown keys in the configuration. */
  readonly keyWarnings: Pick<KeyWarningCheck, "read">;
  /** Whether requests with unknown configuration keys are refused. */
  readonly strictConfig: boolean;
  readonly platform: Platform;
  /** When this host was started, in seconds. */
  readonly startedAt: number;
  /** The hosts that listen on a socket of this home. This host may be among them. */
  listeningHosts(): Promise<readonly HostOfHome[]>;
  readonly registry: Registry;
  readonly idempotentStarts: IdempotentStarts;
  readonly idle: Idle;
  readonly rawItems: RawResponseItems;
  readonly lists: ThreadQueries;
  readonly archive: ThreadArchive;
  readonly providers: ProviderRegistry;
  /** Encrypts the secrets in load settings for the journal. */
  sealed(load: LoadSettings): Promise<LoadSettings>;
  readonly accounts: Accounts;
  /** Where keys are stored. Asks the keyring. */
  credentialStorage(): Promise<CredentialStorage>;
  readonly accountNews: AccountUpdates;
  readonly rateLimits: RateLimits;
  readonly usage: UsageLedger;
  /** Creates reports of problems. */
  feedback(): Promise<FeedbackReports>;
  /** The last lines of the host's log, without secrets. */
  readonly logs: RedactedLogReader;
  /** Imports settings and threads from other agents. */
  imports(): Promise<Imports>;
  /** The base instructions of a thread's model. */
  instructionsOf(state: ThreadState): string;
  /** Warns subscribers, before a turn that a handler starts, if another model will answer than the one requested. */
  readonly warnings: { beforeTurn(actor: Actor, state: ThreadState): void };
  readonly metrics: Metrics;
  readonly sections: Sections;
  readonly rap: LazyRap;
  readonly mcp: LazyMcp;
  readonly mcpTools: LazyMcpSource;
  /** OAuth logins to MCP servers. */
  readonly mcpOAuth: LazyOAuth;
  /** Sends a notification to every connection of an owner, and to those of the host's own user. */
  notify<N extends NotificationName>(owner: string, method: N, params: NotificationParams<N>): void;
  readonly rules: RulesStore;
  readonly hooks: Hooks;
  readonly exec: ExecSource;
  /** For `process/spawn`. */
  readonly clientProcesses: ClientProcesses;
  readonly turnFiles: WorkspaceChanges;
  /** For `fs/*`. */
  readonly clientFiles: ClientFileRequests;
  readonly clientWatches: ClientFileWatches;
  readonly skillWatches: SkillWatches;
  readonly fileSearches: FileSearches;
  /** For `command/exec`. */
  readonly clientCommands: ClientProcesses;
  /** Runs commands in the sandbox. */
  readonly sandbox: Sandbox;
  /** Handles failures of promises that no caller awaits. */
  readonly supervisor: Supervisor;
  readonly reachLookup: ReachLookup;
}

/** Converts a thread's state to the protocol's `Thread`. */
export type Viewer = (state: ThreadState, place: JournalLocation, turns?: Turn[]) => Thread;

/** A viewer that fills in the current sections. */
export async function viewer({ sections }: HandlerContext, connection: Connection): Promise<Viewer> {
  const known = await sections.all(seenOwner(connection));
  return (state, place, turns) =>
    inSection(threadView(state, place, turns), known, state.section?.id ?? null);
}

/** The thread with its section; with null if the section was deleted. */
export function inSection(thread: Thread, known: readonly ThreadSection[], sectionId: string | null): Thread {
  const section = known.find(({ id }) => id === sectionId) ?? null;
  return { ...thread, section, sectionEnteredAt: section && thread.sectionEnteredAt };
}

/** The owner whose threads and sections a connection sees; undefined if it sees those of all owners. */
export function seenOwner({ meta: { principal } }: Connection): string | undefined {
  return principal.kind === "subject" ? ownerOf(principal) : undefined;
}

/** The files, folders and servers that a connection may use. */
export function reachOf({ reachLookup }: HandlerContext, { meta: { principal } }: Connection): Reach {
  return reachLookup.of(ownerOf(principal));
}

/** Which threads a connection may access. For a subject, threads of other owners do not exist. */
export function accessOf({ meta: { principal } }: Connection): Access {
  return (owner) => maySee(principal, owner);
}
