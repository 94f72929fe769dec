import type { FunctionCallOutputBody, ThreadItem, TurnPlanStep } from "@bobbin/protocol";
import type { GoalCommand } from "../commands.ts";
import type { Ask, RequestAnswer } from "../requests/records.ts";
import type { RunningReview } from "../reviews/records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import type { CommandEnd } from "../terminals/command-end.ts";
import type { Blobs } from "./blobs.ts";
import type { FilesBefore } from "./changes.ts";
import type { ToolCall } from "./records.ts";

/** One call of a tool, and how far it is. */
export interface CallState {
  readonly call: ToolCall;
  readonly stage: CallStage;
}

export type CallStage =
  | { readonly kind: "proposed" }
  /** Clients were asked. */
  | { readonly kind: "asking"; readonly requestId: number }
  /** A model judges it in their place. */
  | ({ readonly kind: "reviewing" } & RunningReview)
  /** They have answered, and the tool has to go on from that. */
  | {
      readonly kind: "heard";
      readonly method: Ask["method"];
      readonly question?: string | undefined;
      readonly answer: RequestAnswer;
    }
  /** The tool acts on the world. `until`: when it has had its time, if it has a deadline. */
  | {
      readonly kind: "dispatched";
      readonly again: boolean;
      readonly via?: string | undefined;
      readonly at?: number;
      readonly until?: number | undefined;
      readonly plan?: unknown;
    }
  /** The answer comes by itself. `unacknowledged`: or not, for it is not known whether the tool has the call. */
  | {
      readonly kind: "waiting";
      readonly until: number | null;
      readonly via?: string | undefined;
      readonly unacknowledged?: boolean | undefined;
    }
  | { readonly kind: "settled" };

/** What a tool does next with a call. */
export type CallStep =
  /** `question`: the tool's own name for what it asks, given back with the answer; a call may ask several times. */
  | ({
      readonly kind: "ask";
      readonly requestId: number;
      /** The name of the review, if a model judges it in place of a person. */
      readonly reviewId: string;
      /** The same for calls that ask for exactly the same, and for no others. */
      readonly fingerprint: string;
      readonly ask: Ask;
      readonly question?: string | undefined;
      /** `arguments` of the question as JSON, where they have numbers that JavaScript cannot hold. */
      readonly argumentsJson?: string | undefined;
    } & Shown)
  | ({
      readonly kind: "dispatch";
      readonly again: boolean;
      readonly via?: string | undefined;
      readonly until?: number | undefined;
      /** What the tool is about to do, as plain data: a host that follows a lost one goes on from it. */
      readonly plan?: unknown;
      /** The files that it may change, as they are. */
      readonly before?: FilesBefore | undefined;
      /** What is written to a background terminal. */
      readonly input?: { readonly processId: string; readonly stdin: string } | undefined;
    } & Shown)
  | { readonly kind: "wait"; readonly until: number | null }
  | ({
      readonly kind: "settle";
      readonly output: FunctionCallOutputBody;
      readonly success: boolean;
      /** What stands for large parts of the output, and what those are kept under. */
      readonly blobs?: Blobs | undefined;
      /** The subscription that it ends. */
      readonly unsubscribe?: string | undefined;
      readonly plan?: { readonly explanation: string | null; readonly steps: readonly TurnPlanStep[] };
      /** What becomes of the thread's goal; the model is answered with that in place of `output`. */
      readonly goal?: GoalCommand;
      /** The command of the call goes on: its item stays open. */
      readonly left?: { readonly processId: string; readonly outside: boolean } | undefined;
      /** A background terminal that ended while the call looked at it. */
      readonly ended?: { readonly processId: string; readonly end: CommandEnd } | undefined;
    } & Shown)
  /** The user wants none of it. */
  | { readonly kind: "interrupt"; readonly item?: ThreadItem | undefined };

interface Shown {
  /** The call as clients see it from then on. */
  readonly item?: ThreadItem | undefined;
  /** What the user has agreed to for all calls like it. */
  readonly grant?: string | undefined;
}

export function isSettled({ stage }: CallState): boolean {
  return stage.kind === "settled";
}

/** Someone outside may be at work on it. */
export function isOutside({ stage }: CallState): boolean {
  return stage.kind === "dispatched" || stage.kind === "waiting";
}

/** Nothing is under way: an answer, of a client or of a tool, will come or not. */
export function isWaiting({ stage }: CallState): boolean {
  return stage.kind === "asking" || stage.kind === "waiting";
}

/** Nothing of a turn runs in a host: only an answer, of a client or of a tool, takes it further. */
export function onlyWaits({ sampled, calls }: Pick<TurnState, "sampled" | "calls">): boolean {
  return sampled && calls.every((call) => isSettled(call) || isWaiting(call)) && calls.some(isWaiting);
}

/** How many of the last names are remembered as they are. */
export const KEPT_CALL_IDS = 64;

/**
 * A name that was given before would make two calls one, for tool servers as for the model. Models may not know that
 * they gave it. `calls`: how many there were; when not all names are remembered, this number makes new ones of them.
 */
export function uniqueCallId(
  callId: string,
  { callIds: taken, callCount }: Pick<ThreadState, "callIds" | "callCount">,
): string {
  const short = callId.replace(/[^\w-]/g, "_").slice(0, 48) || "call";
  const calls = Math.max(callCount, taken.length);
  if (calls < KEPT_CALL_IDS && /^[\w-]{1,64}$/.test(callId) && !taken.includes(callId)) return callId;
  for (let nth = calls < KEPT_CALL_IDS ? 2 : calls + 1; ; nth++) {
    const other = `${short}-${nth}`;
    if (!taken.includes(other)) return other;
  }
}

/** A tool call's item that is given up. */
export function givenUp(item: ThreadItem, at: number): ThreadItem {
  const durationMs = "startedAtMs" in item && item.startedAtMs != null ? at - item.startedAtMs : null;
  switch (item.type) {
    case "dynamicToolCall":
      return { ...item, status: "failed", contentItems: [], success: false, durationMs };
    case "mcpToolCall":
      return { ...item, status: "failed", error: { message: "The call was given up." }, durationMs };
    case "fileChange":
      return { ...item, status: "failed" };
    case "commandExecution":
      return { ...item, status: "failed", exitCode: item.exitCode ?? -1, durationMs };
    default:
      return item;
  }
}
