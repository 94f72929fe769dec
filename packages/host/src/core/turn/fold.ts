import type { UserInput } from "@bobbin/protocol";
import { queueAfterTurn } from "../queue/fold.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { withAccepted } from "./accepted.ts";
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
          attempt: 0,
          sampled: false,
          retries: 0,
          retryAt: null,
          calls: [],
          answer: null,
          open: [],
          saved: {},
        },
      };
    case "inputAccepted": {
      const { messageId: id, turnId } = record;
      return { ...state, accepted: withAccepted(state.accepted, { id, turnId }) };
    }
    case "sampleRequested":
      return withTurn(state, record.turnId, () => ({
        attempt: record.attempt,
        sampled: false,
        retryAt: null,
        calls: [],
      }));
    case "retrying":
      return withTurn(state, record.turnId, () => ({ retries: record.retry, retryAt: record.until }));
    case "itemStarted":
      return withTurn(state, record.turnId, ({ open }) => ({
        open: [...open, record.item],
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
      return withTurn(state, record.turnId, ({ calls }) => ({
        calls: [...calls, { call: record.call, answered: false }],
      }));
    case "toolAnswered":
      return withTurn(state, record.turnId, ({ calls }) => ({
        calls: calls.map((one) => (one.call.callId === record.callId ? { ...one, answered: true } : one)),
      }));
    case "usageReported":
      return {
        ...withTurn(state, record.turnId, () => ({ sampled: true, retries: 0 })),
        usage: record.usage,
      };
    case "turnEnded":
      return {
        ...state,
        updatedAt: record.at,
        turn: null,
        lastTurn: { id: record.turnId, status: record.status },
        queue: queueAfterTurn(state.queue, record.status),
      };
  }
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
