import type { Thread, Turn } from "@bobbin/protocol";
import { seconds } from "../notify.ts";
import type { ThreadState } from "../state.ts";

/** A thread as clients see it. */
export function threadView(state: ThreadState, path: string | null, turns: Turn[] = []): Thread {
  const { facts, settings } = state;
  return {
    id: facts.id,
    environments: [{ environmentId: "local", cwd: settings.cwd, runtimeWorkspaceRoots: [settings.cwd] }],
    extra: null,
    sessionId: facts.id,
    forkedFromId: null,
    parentThreadId: null,
    preview: state.preview,
    ephemeral: facts.ephemeral,
    section: null,
    sectionEnteredAt: null,
    projectId: null,
    historyMode: "paginated",
    modelProvider: settings.modelProvider,
    model: settings.model,
    reasoningEffort: settings.effort,
    createdAt: seconds(state.createdAt),
    updatedAt: seconds(state.updatedAt),
    recencyAt: seconds(state.updatedAt),
    status: state.status,
    path,
    cwd: settings.cwd,
    cliVersion: facts.cliVersion,
    originator: facts.originator,
    source: facts.source,
    canAcceptDirectInput: true,
    threadSource: facts.threadSource,
    agentNickname: null,
    agentRole: null,
    gitInfo: facts.gitInfo,
    name: null,
    daybreakEnabled: null,
    turns,
  };
}
