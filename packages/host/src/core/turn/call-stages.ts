import type { FunctionCallOutputBody, ThreadItem, TurnPlanStep } from "@bobbin/protocol";
import type { RunningReview } from "../approval-reviews/records.ts";
import type { Awaited, Help } from "../children/helper-calls.ts";
import type { GoalCommand } from "../goal/commands.ts";
import type { Ask, RequestAnswer } from "../requests/records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import type { CommandEnd } from "../terminals/command-end.ts";
import type { Blobs } from "./blobs.ts";
import type { FilesBefore } from "./file-changes.ts";
import type { ToolCall } from "./records.ts";

/** A tool call and its stage. */
export interface CallState {
  readonly call: ToolCall;
  readonly stage: CallStage;
}

export type CallStage =
  /**
   * The model has made the call. `hooked`: preToolUse hooks have run, and did not block it. `undecided`:
   * permissionRequest hooks have run, and left the decision to people.
   */
  | {
      readonly kind: "proposed";
      readonly hooked?: boolean | undefined;
      readonly undecided?: boolean | undefined;
    }
  /** A request for approval was sent to clients. */
  | { readonly kind: "asking"; readonly requestId: number }
  /** A model reviews the request for approval in place of a person. */
  | ({ readonly kind: "reviewing" } & RunningReview)
  /** The request was answered, and the tool has to continue. */
  | {
      readonly kind: "heard";
      readonly method: Ask["method"];
      readonly question?: string | undefined;
      readonly answer: RequestAnswer;
      readonly undecided?: boolean | undefined;
    }
  /** The tool is performing the call. `until`: the deadline, if there is one. */
  | {
      readonly kind: "dispatched";
      readonly again: boolean;
      readonly via?: string | undefined;
      readonly at?: number;
      readonly until?: number | undefined;
      readonly plan?: unknown;
    }
  /** The tool has the call, and its answer arrives later. `unacknowledged`: it is unknown whether the tool has the call. */
  | {
      readonly kind: "waiting";
      readonly until: number | null;
      readonly via?: string | undefined;
      readonly unacknowledged?: boolean | undefined;
      readonly awaits?: Awaited | undefined;
    }
  | { readonly kind: "settled" };

/** The next step of a tool call. */
export type CallStep =
  /**
   * Asks clients. `question`: the tool's own ID of the question, which is returned with the answer; needed if there
   * are several questions.
   */
  | ({
      readonly kind: "ask";
      readonly requestId: number;
      /** The ID of the review, if a model decides in place of a person. */
      readonly reviewId: string;
      /** Identifies the action: equal for calls that ask for exactly the same action, and only for those. */
      readonly fingerprint: string;
      readonly ask: Ask;
      readonly question?: string | undefined;
      /** The request's `arguments` as JSON text, if they contain numbers that JavaScript cannot represent. */
      readonly argumentsJson?: string | undefined;
    } & Shown)
  | ({
      readonly kind: "dispatch";
      readonly again: boolean;
      readonly via?: string | undefined;
      readonly until?: number | undefined;
      /** What the tool is about to do, as plain data. After a crash, the next host continues from it. */
      readonly plan?: unknown;
      /** The current content of the files that the call may change. */
      readonly before?: FilesBefore | undefined;
      /** The input that is written to a background terminal. */
      readonly input?: { readonly processId: string; readonly stdin: string } | undefined;
    } & Shown)
  | { readonly kind: "wait"; readonly until: number | null }
  /** An operation on helpers. */
  | ({ readonly kind: "help"; readonly help: Help } & Shown)
  | ({
      readonly kind: "settle";
      readonly output: FunctionCallOutputBody;
      readonly success: boolean;
      /** The blobs that the output and the item refer to. */
      readonly blobs?: Blobs | undefined;
      /** The subscription that the call ends. */
      readonly unsubscribe?: string | undefined;
      readonly plan?: { readonly explanation: string | null; readonly steps: readonly TurnPlanStep[] };
      /** A change of the thread's goal. Its result replaces `output`. */
      readonly goal?: GoalCommand;
      /** The call's command continues as a background terminal, so its item stays open. */
      readonly left?: { readonly processId: string; readonly outside: boolean } | undefined;
      /** The background terminal that the call waited for, and that still runs. */
      readonly looked?: { readonly processId: string } | undefined;
      /** The background terminal that ended during the call. */
      readonly ended?: { readonly processId: string; readonly end: CommandEnd } | undefined;
    } & Shown)
  /** The user has cancelled the turn. */
  | { readonly kind: "interrupt"; readonly item?: ThreadItem | undefined };

interface Shown {
  /** The item of the call after the step. */
  readonly item?: ThreadItem | undefined;
  /** The grant that the user has given for similar calls. */
  readonly grant?: string | undefined;
}

export function isSettled({ stage }: CallState): boolean {
  return stage.kind === "settled";
}

/** Whether the tool may be working on the call. */
export function isOutside({ stage }: CallState): boolean {
  return stage.kind === "dispatched" || stage.kind === "waiting";
}

/** Whether the call only waits for an answer of a client or of a tool. */
export function isWaiting({ stage }: CallState): boolean {
  return stage.kind === "asking" || stage.kind === "waiting";
}

/** Whether the turn only waits for answers of clients or tools, so that no work of it runs in the host. */
export function onlyWaits({ phase }: Pick<TurnState, "phase">): boolean {
  return phase.kind === "calling" && phase.calls.every((call) => isSettled(call) || isWaiting(call));
}

/** Limit on the remembered call IDs. */
export const KEPT_CALL_IDS = 64;

/**
 * Makes a call ID that is unique in the thread. Models may use an ID twice, and tool servers and providers would
 * confuse the two calls. After more than `KEPT_CALL_IDS` calls, old IDs are forgotten, so the number of the call is
 * appended to each new ID.
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

/** The item of a tool call that was given up. */
export function givenUp(item: ThreadItem, at: number): ThreadItem {
  const durationMs = "startedAtMs" in item && item.startedAtMs != null ? at - item.startedAtMs : null;
  switch (item.type) {
    case "dynamicToolCall":
      return { ...item, status: "failed", contentItems: [], success: false, durationMs };
    case "mcpToolCall":
      return { ...item, status: "failed", error: { message: "The call was given up." }, durationMs };
    case "fileChange":
    case "collabAgentToolCall":
      return { ...item, status: "failed" };
    case "commandExecution":
      return { ...item, status: "failed", exitCode: item.exitCode ?? -1, durationMs };
    default:
      return item;
  }
}
