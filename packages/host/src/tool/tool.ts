import { conforms } from "@bobbin/protocol/conforms";
import type { Schema } from "@bobbin/protocol/schema";
import type { Command } from "../core/commands.ts";
import type { Effect } from "../core/next.ts";
import type { Frozen } from "../core/record-check.ts";
import type { Commit } from "../core/records.ts";
import type { Ask, RequestAnswer } from "../core/requests/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { CallStep } from "../core/turn/call-stages.ts";
import type { RunningText } from "../core/turn/item-texts.ts";
import type { ToolCall } from "../core/turn/records.ts";
import type { ToolSpec } from "../model/model.ts";
import type { SearchableTool } from "./search/tool-search.ts";

/**
 * A tool that a model can call. A call proceeds in steps: each method returns the next step, which is recorded before
 * it is performed. After a crash, the next host continues with the recorded step. Only `perform` has external
 * effects; `heard` may save the user's decision, in a way that can be repeated.
 */
export interface Tool {
  readonly name: string;
  readonly namespace: string | null;
  /** The definition for models; null if the tool can be called but is not listed. */
  readonly spec: ToolSpec | null;
  /** The JSON Schema for validating arguments; undefined if the tool validates them itself. */
  readonly parameters?: unknown;
  /** The tool server that receives the calls, if there is one. */
  readonly via?: string;
  /** The first step of a call. */
  begin(invocation: Invocation): Step | Promise<Step>;
  /** The step after the question of an `ask` step was answered. */
  heard?(invocation: Invocation, question: AskedQuestion, answer: RequestAnswer): Step | Promise<Step>;
  /** Performs the call after its `dispatch` is durable. `signal` aborts when the call is cancelled. */
  perform?(invocation: Invocation, signal: AbortSignal, live: LiveOutput): Promise<Step>;
  /** The step after the deadline of a waiting call. `acknowledged`: the tool had accepted the call. */
  late?(invocation: Invocation, acknowledged: boolean): Step;
}

/** One call of a tool. */
export interface Invocation {
  readonly thread: ThreadState;
  readonly turnId: string;
  readonly call: ToolCall;
  /** The parsed and validated JSON; the text itself for a custom tool. */
  readonly args: unknown;
  /** The data recorded with the dispatch, if the call was dispatched. */
  readonly plan?: unknown;
  /** When clients first saw the call; the current time if they have not. */
  readonly startedAt: number;
  readonly now: number;
}

/** Sends a piece of a running item's text to subscribers. The piece is not durable; the completed item is. */
export type LiveOutput = (text: RunningText, delta: string) => void;

/** The answered question: its method, and its name if the tool named it. */
export interface AskedQuestion {
  readonly name: string | undefined;
  readonly method: Ask["method"];
}

/** The next step of a call. The host adds the question's ID, and saves the files that may change. */
export type Step =
  | Exclude<CallStep, { kind: "ask" | "dispatch" }>
  | Omit<Extract<CallStep, { kind: "ask" }>, "requestId" | "reviewId" | "fingerprint">
  | (Omit<Extract<CallStep, { kind: "dispatch" }>, "before"> & {
      /** The files that `perform` may change: their paths, or `workspace` for any file in the workspace. */
      readonly changes?: readonly string[] | "workspace" | undefined;
      /** Whether the effect survives a power cut. If so, the record of the dispatch is synced to disk first. */
      readonly lasting?: boolean | undefined;
    });

/** A source of tools: the host itself, the client, tool servers. */
export interface ToolSource {
  /** The tools of a thread at the moment. */
  tools(thread: ThreadState): readonly Tool[];
  /**
   * Those of `tools` that the model is not shown before it has searched for them. The array stays the same until they
   * change.
   */
  searched?(thread: ThreadState): readonly SearchableTool[];
  /**
   * Resolves when `tools` is complete for the thread, or contains the tool of `call` if there is one; undefined if
   * nothing has to be awaited.
   */
  ready?(thread: ThreadState, call?: ToolCall): Promise<void> | undefined;
  /** Called when a thread is loaded. */
  load?(thread: ThreadState): void;
  /**
   * Called before a thread is unloaded: ends the processes that the source runs for the thread. Resolves when they
   * have ended or a time limit has passed; undefined if the source runs none.
   */
  leave?(threadId: string): Promise<void> | undefined;
  /** Called when a thread is unloaded. The source frees its data about the thread. */
  unload?(threadId: string): void;
  /** Called after each commit of a thread. */
  committed?(commit: Commit, thread: ThreadState): void;
  /**
   * Whether external servers have to be notified of cancellations and of the thread's close. `committed` notifies
   * them.
   */
  mustNotify?(thread: ThreadState): boolean;
  /** Performs the effects of the source's own kinds. */
  readonly effects?: SourceEffects;
  /** Called once, when the host starts to serve clients. */
  start?(): void;
  /** Called when the host shuts down. From then on, the source accepts nothing from outside. */
  stop?(): Promise<void>;
  /** Called after the last thread was unloaded. */
  close?(): Promise<void>;
}

/**
 * Functions that perform an effect. Each resolves to a command that reports the outcome to the thread, and throws
 * only if `signal` aborts.
 */
export type SourceEffects = {
  readonly [K in Effect["kind"]]?: (
    effect: Extract<Effect, { kind: K }>,
    thread: ThreadState,
    signal: AbortSignal,
    live: LiveOutput,
  ) => Promise<Command>;
};

/** Ends a call with a message for the model, which can react to it. */
export function refusal(message: string): Step {
  return { kind: "settle", output: message, success: false };
}

/** The data recorded with the dispatch; undefined if a damaged journal contains something else. */
export function planOf<T>(schema: Schema<T>, { plan }: Invocation): Frozen<T> | undefined {
  return conforms(schema, plan) ? (plan as Frozen<T>) : undefined;
}

/** The output of a call whose recorded plan is damaged. */
export const PLAN_DAMAGED =
  "The journal is damaged where it said how to go on with the call, and whether it had its effect is not known. Look before you try again.";
