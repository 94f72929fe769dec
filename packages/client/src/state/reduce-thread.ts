import type { ThreadItem } from "@bobbin/protocol";
import type { Notification } from "../run-turn.ts";
import { afterLoad, afterRead, withOlderTurns, withoutTurns } from "./reply-updates.ts";
import { runningItem, type TextPart, WHOLE_TEXT, withDelta } from "./running-item.ts";
import type { PendingRequest, ThreadEvent, ThreadState } from "./thread-state.ts";
import { isWrittenByModel, withBrokenOff, withItem, withRunning, withTurn } from "./turn-updates.ts";

const MAX_WARNINGS = 20;

/**
 * The state of a thread after one event: a notification, a server request, or a reply. Pure: the same events in the same
 * order give the same state, and the state before is not changed. Events about other threads return `state` itself.
 *
 * A delta copies no item and no list of items, so its cost depends only on its own length.
 *
 * @example
 * let state = emptyThread(thread.id);
 * state = reduceThread(state, { type: "loaded", result: await client.request("thread/resume", { threadId }) });
 * client.onNotification((notification) => {
 *   state = reduceThread(state, notification);
 *   render(state);
 * });
 */
export function reduceThread(state: ThreadState, event: ThreadEvent): ThreadState {
  if ("type" in event) return afterReply(state, event);
  if ("id" in event) return event.params.threadId === state.id ? withRequest(state, event) : state;
  const { params } = event;
  if (event.method === "thread/started") {
    const { thread } = event.params;
    return thread.id === state.id
      ? { ...state, thread: withoutTurns(thread), status: thread.status, name: thread.name }
      : state;
  }
  if (!("threadId" in params) || params.threadId !== state.id) return state;
  const next = afterNotification(state, event);
  const cursor = "cursor" in params ? params.cursor : undefined;
  return cursor == null ? next : { ...next, cursor };
}

function afterReply(state: ThreadState, event: Extract<ThreadEvent, { type: string }>): ThreadState {
  switch (event.type) {
    case "loaded":
      return event.result.thread.id === state.id ? afterLoad(state, event) : state;
    case "read":
      return event.thread.id === state.id ? afterRead(state, event.thread, event.includesTurns) : state;
    case "olderTurns":
      return withOlderTurns(state, event.turns);
    case "queue":
      return { ...state, queue: event.submissions, stale: { ...state.stale, queue: false } };
    case "goal":
      return { ...state, goal: event.goal };
  }
}

function withRequest(state: ThreadState, request: PendingRequest): ThreadState {
  const at = state.requests.findIndex(({ id }) => id === request.id);
  const requests = at === -1 ? [...state.requests, request] : state.requests.with(at, request);
  return { ...state, requests };
}

function afterNotification(state: ThreadState, event: Notification): ThreadState {
  switch (event.method) {
    case "item/agentMessage/delta":
    case "item/plan/delta":
      return grown(state, event.params, WHOLE_TEXT);
    case "item/commandExecution/outputDelta":
    case "item/fileChange/outputDelta":
      return grown(state, event.params, WHOLE_TEXT, true);
    case "item/reasoning/summaryTextDelta":
      return grown(state, event.params, { of: "summary", index: event.params.summaryIndex });
    case "item/reasoning/textDelta":
      return grown(state, event.params, { of: "content", index: event.params.contentIndex });
    case "item/reasoning/summaryPartAdded": {
      const { itemId, summaryIndex: index } = event.params;
      if (index < (state.running.get(itemId)?.summary.length ?? 0)) return state;
      return grown(state, { ...event.params, delta: "" }, { of: "summary", index });
    }
    case "item/mcpToolCall/progress": {
      const { itemId, message } = event.params;
      const running = state.running.get(itemId);
      return running === undefined ? state : withRunning(state, itemId, { ...running, progress: message });
    }
    case "item/started":
      return started(state, event.params.turnId, event.params.item);
    case "item/completed": {
      const { turnId, item } = event.params;
      return withRunning(withItem(state, turnId, item), item.id, null);
    }
    case "turn/started":
      return withTurn(state, event.params.turn.id, (turn) => ({
        ...turn,
        ...event.params.turn,
        items: turn.items,
        itemsView: "full",
      }));
    case "turn/completed":
      return completed(state, event.params.turn);
    case "turn/plan/updated": {
      const { turnId, explanation, plan: steps } = event.params;
      return withTurn(state, turnId, (turn) => ({ ...turn, plan: { explanation, steps } }));
    }
    case "turn/diff/updated": {
      const { turnId, diff } = event.params;
      return withTurn(state, turnId, (turn) => ({ ...turn, diff }));
    }
    case "error": {
      const { turnId, error, willRetry } = event.params;
      return withTurn(state, turnId, (turn) => ({ ...turn, retrying: willRetry ? error : null }));
    }
    case "serverRequest/resolved": {
      const { requestId } = event.params;
      const requests = state.requests.filter(({ id }) => id !== requestId);
      return requests.length === state.requests.length ? state : { ...state, requests };
    }
    default:
      return afterThreadNotification(state, event);
  }
}

/** Notifications about the thread as a whole. */
function afterThreadNotification(state: ThreadState, event: Notification): ThreadState {
  switch (event.method) {
    case "thread/status/changed":
      return { ...state, status: event.params.status };
    case "thread/name/updated":
      return { ...state, name: event.params.threadName ?? null };
    case "thread/tokenUsage/updated":
      return { ...state, tokenUsage: event.params.tokenUsage };
    case "thread/goal/updated":
      return { ...state, goal: event.params.goal };
    case "thread/goal/cleared":
      return { ...state, goal: null };
    case "thread/queue/changed":
      return { ...state, stale: { ...state.stale, queue: true } };
    case "thread/reverted":
      return { ...state, stale: { ...state.stale, turns: true } };
    case "thread/readState/changed":
      return { ...state, readState: event.params.readState };
    case "thread/settings/updated": {
      const { sandboxPolicy: sandbox, ...settings } = event.params.threadSettings;
      const { model, modelProvider, cwd, effort, approvalPolicy, approvalsReviewer, serviceTier } = settings;
      const next = { model, modelProvider, cwd, effort, approvalPolicy, approvalsReviewer, sandbox };
      return { ...state, settings: { ...next, serviceTier } };
    }
    case "warning":
      return { ...state, warnings: [...state.warnings, event.params.message].slice(-MAX_WARNINGS) };
    case "thread/closed":
      return { ...state, requests: [] };
    case "thread/archived":
      return { ...state, archived: true, requests: [] };
    case "thread/unarchived":
      return { ...state, archived: false };
    case "thread/deleted":
      return { ...state, deleted: true, requests: [] };
    default:
      return state;
  }
}

function grown(
  state: ThreadState,
  { turnId, itemId, delta }: { readonly turnId: string; readonly itemId: string; readonly delta: string },
  part: TextPart,
  isOutput = false,
): ThreadState {
  // Without a running item, `item/started` was missed, or the item was ended because its answer seemed to break off.
  const running = state.running.get(itemId) ?? reopened(state, turnId, itemId);
  return running === undefined
    ? state
    : withRunning(state, itemId, withDelta(running, part, delta, isOutput));
}

function reopened(state: ThreadState, turnId: string, itemId: string) {
  const turn = state.turns.findLast(({ id }) => id === turnId);
  const item = turn?.items.findLast(({ id }) => id === itemId);
  return item && runningItem(turnId, item);
}

function started(state: ThreadState, turnId: string, item: ThreadItem): ThreadState {
  // A message of the user cuts off the model's answer, without another notification about that.
  const before = item.type === "userMessage" ? withBrokenOff(state, turnId, isWrittenByModel) : state;
  return withRunning(withItem(before, turnId, item), item.id, runningItem(turnId, item));
}

type CompletedTurn = Extract<Notification, { method: "turn/completed" }>["params"]["turn"];

function completed(state: ThreadState, turn: CompletedTurn): ThreadState {
  // A command may continue as a background terminal. It then completes later.
  const ended = withBrokenOff(state, turn.id, ({ type }) => type !== "commandExecution");
  const unfinished = (item: ThreadItem) => item.type === "contextCompaction" && state.running.has(item.id);
  return withTurn(ended, turn.id, (one) => {
    const isKnown = one.items.length > 0 || one.itemsView === "full";
    return {
      ...one,
      ...turn,
      // The notification contains only the answer. A compaction that failed is not shown.
      items: isKnown ? one.items.filter((item) => !unfinished(item)) : turn.items,
      itemsView: isKnown ? one.itemsView : turn.itemsView,
      retrying: null,
    };
  });
}
