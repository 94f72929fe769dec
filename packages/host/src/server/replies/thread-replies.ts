import type { Result } from "@bobbin/protocol";
import type { ThreadFacts } from "../../core/life/records.ts";
import { activeProfile, workspaceRoots } from "../../core/life/thread-view.ts";
import type { ThreadState } from "../../core/state.ts";
import { PEER_VERSION } from "../../version.ts";
import { ownerOf } from "../authorize.ts";
import type { Connection } from "../connection.ts";
import type { HandlerContext } from "../handler-context.ts";

/** The facts of a new thread. */
export function newFacts(
  { platform }: HandlerContext,
  connection: Connection,
  more: Pick<ThreadFacts, "ephemeral" | "serviceName" | "threadSource"> & Partial<ThreadFacts>,
): ThreadFacts {
  return {
    id: platform.ids.uuid(),
    owner: ownerOf(connection.meta.principal),
    // The default source for all clients of this protocol.
    source: "vscode",
    originator: connection.client?.originator || null,
    cliVersion: PEER_VERSION,
    forkedFromId: null,
    parentThreadId: null,
    ...more,
  };
}

/** The fields that the replies to thread/start, thread/resume and thread/fork have in common. */
export function loadedView({ settings, docs }: ThreadState): Omit<Result<"thread/start">, "thread"> {
  return {
    model: settings.model,
    modelProvider: settings.modelProvider,
    serviceTier: settings.serviceTier,
    disabledPluginIds: [],
    cwd: settings.cwd,
    runtimeWorkspaceRoots: workspaceRoots(settings),
    instructionSources: docs.filter((doc) => doc.as === undefined).map((doc) => doc.path),
    approvalPolicy: settings.approvalPolicy,
    approvalsReviewer: settings.approvalsReviewer,
    sandbox: settings.sandbox,
    activePermissionProfile: activeProfile(settings),
    reasoningEffort: settings.effort,
    multiAgentMode: "explicitRequestOnly",
  };
}

/** Sends the current token usage to a client that has missed the notifications about it. */
export function sendUsage(connection: Connection, { facts, usage, turn, lastTurn }: ThreadState): void {
  const turnId = turn?.id ?? lastTurn?.id;
  if (usage === null || turnId === undefined) return;
  connection.notify("thread/tokenUsage/updated", { threadId: facts.id, turnId, tokenUsage: usage });
}

/** Sends the current views of tool servers to a client that has missed the notifications about them. */
export function sendViews(connection: Connection, { facts, rap }: ThreadState): void {
  for (const { type: viewType, content: view, server, callId } of rap.views) {
    connection.notify("thread/view/updated", { threadId: facts.id, server, callId, viewType, view });
  }
}
