import type { UserInput } from "@bobbin/protocol";
import { queueAfterTurn } from "../queue/fold.ts";
import { outlivesTurn } from "../requests/resolve.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { withAccepted } from "./accepted.ts";
import { type CallStage, KEPT_CALL_IDS } from "./calls.ts";
import { contextAfter } from "./given-context.ts";
import { isCompaction } from "./own-items.ts";
import type { TurnRecord } from "./records.ts";
import { isTextOf, textKey } from "./texts.ts";

const PREVIEW_CHARACTERS = 240;

export function foldTurn(state: ThreadState, record: TurnRecord): ThreadState {
  switch (record.type) {
    case "turnStarted":
      return {
        ...state,
        updatedAt: record.at,
        preview: state.preview || previewOf(record.input),
        hasUserMessage: state.hasUserMessage || record.input.length > 0,
        turn: {
          id: record.turnId,
          startedAt: record.at,
          outputSchema: record.outputSchema,
          kind: record.kind ?? "regular",
          attempt: 0,
          unheard: false,
          sampled: false,
          retries: 0,
          retryAt: null,
          answers: 0,
          compacting: null,
          compacted: "no",
          plans: 0,
          calls: [],
          shown: false,
          injected: false,
          lostHosts: 0,
          servedBy: null,
          answer: null,
          open: [],
          saved: {},
        },
      };
    case "inputAccepted": {
      const { messageId: id, turnId } = record;
      return { ...state, accepted: withAccepted(state.accepted, { id, turnId }) };
    }
    case "contextGiven":
      return { ...state, context: contextAfter(state.context, record) };
    case "sampleRequested":
      return withTurn(state, record.turnId, () => ({
        attempt: record.attempt,
        unheard: false,
        sampled: false,
        retryAt: null,
        shown: false,
        injected: false,
        compacting: null,
        calls: [],
      }));
    case "compactionRequested": {
      const { attempt, covers, lighter, because } = record;
      return withTurn(state, record.turnId, () => ({
        attempt,
        sampled: false,
        retryAt: null,
        shown: false,
        compacting: { covers, lighter, because },
        calls: [],
      }));
    }
    case "compacted":
      return {
        ...withTurn(state, record.turnId, () => ({ compacted: "done", retries: 0, lostHosts: 0 })),
        usage: record.usage,
        // Only what came with the running turn is left of it.
        context: [],
      };
    case "compactionFailed":
      return withTurn(state, record.turnId, ({ open }) => ({
        compacted: "failed",
        retries: 0,
        open: open.filter((item) => !isCompaction(item)),
      }));
    case "retrying":
      return withTurn(state, record.turnId, () => ({ retries: record.retry, retryAt: record.until }));
    case "itemStarted":
      return withTurn(state, record.turnId, ({ open, shown, plans, unheard }) => ({
        open: [...open, record.item],
        unheard: unheard || record.item.type === "userMessage",
        plans: record.item.type === "plan" ? plans + 1 : plans,
        shown: shown || record.item.type !== "userMessage",
      }));
    case "textSaved": {
      const key = textKey(record.itemId, record.part);
      return withTurn(state, record.turnId, ({ saved }) => ({
        saved: { ...saved, [key]: (saved[key] ?? "") + record.text },
      }));
    }
    case "itemCompleted":
      return withTurn(state, record.turnId, (turn) => {
        const open = turn.open.filter((item) => item.id !== record.item.id);
        const saved = Object.fromEntries(
          Object.entries(turn.saved).filter(([key]) => !isTextOf(key, record.item.id)),
        );
        return record.item.type === "agentMessage" ? { open, saved, answer: record.item } : { open, saved };
      });
    case "toolCalled":
      return {
        ...withTurn(state, record.turnId, ({ calls }) => ({
          calls: [...calls, { call: record.call, stage: { kind: "proposed" } }],
        })),
        callIds: [...state.callIds.slice(1 - KEPT_CALL_IDS), record.call.callId],
        callCount: state.callCount + 1,
      };
    case "toolDispatched":
      return withStage(state, record, {
        kind: "dispatched",
        again: record.again,
        via: record.via,
        at: record.at,
      });
    case "toolWaiting":
      return withStage(state, record, {
        kind: "waiting",
        until: record.until,
        via: viaOf(state, record.callId),
      });
    case "callCancelled":
    case "toolAnswered":
      return withStage(state, record, { kind: "settled" });
    case "approvalGranted":
      return { ...state, grants: [...state.grants, record.key] };
    case "planUpdated":
      return state;
    case "modelRerouted":
      return withTurn(state, record.turnId, () => ({ servedBy: record.to }));
    case "sampleLost":
      return withTurn(state, record.turnId, () => ({ sampled: true }));
    case "usageReported":
      return {
        ...withTurn(state, record.turnId, ({ answers, compacted }) => ({
          sampled: true,
          retries: 0,
          lostHosts: 0,
          answers: answers + 1,
          compacted: compacted === "failed" ? compacted : "no",
        })),
        usage: record.usage,
      };
    case "turnEnded":
      return {
        ...state,
        updatedAt: record.at,
        turn: null,
        requests: state.requests.filter((request) => outlivesTurn(state, request)),
        lastTurn: { id: record.turnId, status: record.status },
        queue: queueAfterTurn(state.queue, record.status),
      };
  }
}

function viaOf({ turn }: ThreadState, callId: string): string | undefined {
  const stage = turn?.calls.find(({ call }) => call.callId === callId)?.stage;
  return stage?.kind === "dispatched" ? stage.via : undefined;
}

/** The state with one call of the running turn further on. */
export function withStage(
  state: ThreadState,
  { turnId, callId }: { readonly turnId: string; readonly callId: string },
  stage: CallStage,
): ThreadState {
  return withTurn(state, turnId, ({ calls }) => ({
    calls: calls.map((one) => (one.call.callId === callId ? { ...one, stage } : one)),
  }));
}

function withTurn(
  state: ThreadState,
  turnId: string,
  change: (turn: TurnState) => Partial<TurnState>,
): ThreadState {
  if (state.turn?.id !== turnId) return state;
  return { ...state, turn: { ...state.turn, ...change(state.turn) } };
}

function previewOf(input: readonly UserInput[]): string {
  const text = input
    .map((part) => (part.type === "text" ? part.text : ""))
    .filter((part) => part !== "")
    .join(" ");
  return text.length > PREVIEW_CHARACTERS ? `${text.slice(0, PREVIEW_CHARACTERS)}…` : text;
}
