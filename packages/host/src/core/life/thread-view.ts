import type {
  ActivePermissionProfile,
  CollaborationMode,
  Thread,
  ThreadSettings as ThreadSettingsView,
  Turn,
} from "@bobbin/protocol";
import { helperFacts, rootOf } from "../children/helper-identity.ts";
import type { ThreadState } from "../state.ts";
import { seconds } from "../whole-seconds.ts";
import { modeInstructions } from "./collaboration-modes.ts";
import type { ThreadSettings } from "./records.ts";

/** Where a thread's journal is stored. */
export interface JournalLocation {
  /** Null for threads in memory, and for stores without files. */
  readonly path: string | null;
  readonly archived: boolean;
}

/** The thread object of the protocol. Fields that only loaded threads have are null for other threads. */
export function threadView(state: ThreadState, place: JournalLocation, turns: Turn[] = []): Thread {
  const { facts, settings } = state;
  const helper = helperFacts(facts);
  const loaded = state.status.type !== "notLoaded";
  return {
    id: facts.id,
    environments: loaded ? environmentsOf(settings) : null,
    extra: null,
    sessionId: helper === undefined ? facts.id : rootOf(facts),
    forkedFromId: facts.forkedFromId,
    parentThreadId: facts.parentThreadId,
    preview: state.preview,
    ephemeral: facts.ephemeral,
    section: null,
    sectionEnteredAt: state.section && seconds(state.section.since),
    projectId: null,
    historyMode: "paginated",
    modelProvider: settings.modelProvider,
    model: settings.model,
    reasoningEffort: settings.effort,
    createdAt: seconds(state.createdAt),
    updatedAt: seconds(state.updatedAt),
    recencyAt: seconds(state.updatedAt),
    status: state.status,
    path: place.path,
    cwd: settings.cwd,
    cliVersion: facts.cliVersion,
    originator: facts.originator,
    source: facts.source,
    canAcceptDirectInput: loaded ? true : null,
    threadSource: facts.threadSource,
    agentNickname: helper?.nickname ?? null,
    agentRole: helper?.role ?? null,
    gitInfo: state.gitInfo,
    name: state.name,
    daybreakEnabled: null,
    turns,
    ...(state.pendingLoad && { pendingLoadSettings: state.pendingLoad }),
  };
}

export function workspaceRoots({ roots, cwd }: ThreadSettings): string[] {
  return [...(roots ?? [cwd])];
}

/** The environments of a thread. There is only one: this host. */
export function environmentsOf(settings: ThreadSettings): NonNullable<Thread["environments"]> {
  return [{ environmentId: "local", cwd: settings.cwd, runtimeWorkspaceRoots: workspaceRoots(settings) }];
}

export function activeProfile({ permissionProfile: id }: ThreadSettings): ActivePermissionProfile | null {
  return id == null ? null : { id, extends: null };
}

export function modeView({ mode, model, effort }: ThreadSettings): CollaborationMode {
  const developer_instructions = modeInstructions(mode);
  return {
    mode: mode?.kind ?? "default",
    settings: { model, reasoning_effort: effort, developer_instructions },
  };
}

export function settingsView(settings: ThreadSettings): ThreadSettingsView {
  return {
    activePermissionProfile: activeProfile(settings),
    approvalPolicy: settings.approvalPolicy,
    approvalsReviewer: settings.approvalsReviewer,
    collaborationMode: modeView(settings),
    cwd: settings.cwd,
    disabledPluginIds: [],
    effort: settings.effort,
    model: settings.model,
    modelProvider: settings.modelProvider,
    multiAgentMode: "explicitRequestOnly",
    personality: settings.personality,
    sandboxPolicy: settings.sandbox,
    serviceTier: settings.serviceTier,
    summary: settings.summary,
  };
}
