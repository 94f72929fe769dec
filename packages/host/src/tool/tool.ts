import type { Command } from "../core/commands.ts";
import type { Effect } from "../core/next.ts";
import type { Commit } from "../core/records.ts";
import type { Ask, RequestAnswer } from "../core/requests/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { CallStep } from "../core/turn/calls.ts";
import type { ToolCall } from "../core/turn/records.ts";
import type { RunningText } from "../core/turn/texts.ts";
import type { ToolSpec } from "../model/model.ts";

/**
 * Something that a model can call. A call is taken step by step: each method says what comes next, the step becomes
 * durable, and only then is it performed. So a host that is lost in between is followed by one that calls the method
 * of the step that the journal knows. Only `perform` acts on the world; `heard` may save what the user decided, in a
 * way that can be repeated.
 */
export interface Tool {
  readonly name: string;
  readonly namespace: string | null;
  /** What models are told of it; null: it can be called, and is not shown. */
  readonly spec: ToolSpec | null;
  /** A JSON Schema that the arguments keep to; undefined: it looks at them itself. */
  readonly parameters?: unknown;
  /** The tool server that its calls go to, if they go to one. */
  readonly via?: string;
  begin(invocation: Invocation): Step | Promise<Step>;
  /** Called with the answer to a question of the call. */
  heard?(invocation: Invocation, question: AskedQuestion, answer: RequestAnswer): Step | Promise<Step>;
  /** After a `dispatch`. `signal` aborts when the call is given up. */
  perform?(invocation: Invocation, signal: AbortSignal, live: LiveOutput): Promise<Step>;
  /** A call that was told to wait has had its time. `acknowledged`: it is known that the tool had taken it. */
  late?(invocation: Invocation, acknowledged: boolean): Step;
}

/** One call. */
export interface Invocation {
  readonly thread: ThreadState;
  readonly turnId: string;
  readonly call: ToolCall;
  /** Read as JSON and held to `parameters`; the text itself for a custom tool. */
  readonly args: unknown;
  /** What its dispatch was recorded with, if it was dispatched. */
  readonly plan?: unknown;
  /** When it was first shown, if it was. */
  readonly startedAt: number;
  readonly now: number;
}

/** Shows clients a piece of a running item's text. Durable is only what the item completes with. */
export type LiveOutput = (text: RunningText, delta: string) => void;

/** Which of a call's questions was answered: its name if the tool gave it one, and its kind. */
export interface AskedQuestion {
  readonly name: string | undefined;
  readonly method: Ask["method"];
}

/** What comes next; the id of a question is not the tool's to choose, and what it may change is saved by the host. */
export type Step =
  | Exclude<CallStep, { kind: "ask" | "dispatch" }>
  | Omit<Extract<CallStep, { kind: "ask" }>, "requestId" | "reviewId" | "fingerprint">
  | (Omit<Extract<CallStep, { kind: "dispatch" }>, "before"> & {
      /** The files that `perform` may change, as paths, or whatever is in the workspace. */
      readonly changes?: readonly string[] | "workspace" | undefined;
    });

/** Where a thread's tools come from: the host itself, the client, tool servers. */
export interface ToolSource {
  /** The tools that a thread has now. */
  tools(thread: ThreadState): readonly Tool[];
  /** Resolves when `tools` is complete for the thread; undefined if it already is. */
  ready?(thread: ThreadState): Promise<void> | undefined;
  /** Called when a thread is loaded. */
  load?(thread: ThreadState): void;
  /** Called when a thread is unloaded: the source gives up what it holds for it. */
  unload?(threadId: string): void;
  /** Called after each commit of a thread. */
  committed?(commit: Commit, thread: ThreadState): void;
  /** Whether the source has to be notified of the thread's closing. */
  mustHearClosed?(thread: ThreadState): boolean;
  /** Called once per closing, after its record is durable, if `mustHearClosed`. */
  closed?(thread: ThreadState): void;
  /** Performs effects of the source's own kinds, when they are due. */
  readonly effects?: SourceEffects;
  /** Called once, when the host serves clients. */
  start?(): void;
  /** Called when the host ends: from here on nothing from outside is taken. */
  stop?(): Promise<void>;
  /** Called after the last thread was unloaded. */
  close?(): Promise<void>;
}

/** What a source does for an effect; the outcome goes back to the thread as a command. Throws only if `signal` aborts. */
export type SourceEffects = {
  readonly [K in Effect["kind"]]?: (
    effect: Extract<Effect, { kind: K }>,
    thread: ThreadState,
    signal: AbortSignal,
    live: LiveOutput,
  ) => Promise<Command>;
};

/** Goes back to the model as what the call came to: it can do something about it. */
export function refusal(message: string): Step {
  return { kind: "settle", output: message, success: false };
}
