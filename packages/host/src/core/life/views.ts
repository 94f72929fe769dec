import type {
  ActivePermissionProfile,
  CollaborationMode,
  Thread,
  ThreadSettings as ThreadSettingsView,
  Turn,
} from "@bobbin/protocol";
import { seconds } from "../seconds.ts";
import type { ThreadState } from "../state.ts";
import { modeInstructions } from "./modes.ts";
import type { ThreadSettings } from "./records.ts";

/** Where a thread's journal is, as clients are told. */
export interface Place {
  /** Null for threads that are kept in memory. */
  readonly path: string | null;
  readonly archived: boolean;
}

/** A thread as clients see it. What only a loaded one has is null in others. */
export function threadView(state: ThreadState, place: Place, turns: Turn[] = []): Thread {
  const { facts, settings } = state;
  const loaded = state.status.type !== "notLoaded";
  return {
    id: facts.id,
    environments: loaded ? environmentsOf(settings) : null,
    extra: null,
    sessionId: facts.id,
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
    agentNickname: null,
    agentRole: null,
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

/** Where a thread works; there is one place. */
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
