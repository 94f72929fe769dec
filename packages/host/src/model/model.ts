import type {
  FunctionCallOutputBody,
  ImageDetail,
  MessagePhase,
  Model,
  RateLimitSnapshot,
  ReasoningSummary,
  TokenUsageBreakdown,
  TurnError,
  Verbosity,
  WebSearchAction,
} from "@bobbin/protocol";
import type { ToolCall } from "../core/turn/records.ts";

/** The provider that is built in, and its only model: what everyone has who configured nothing. */
export const OFFLINE_MODEL = "offline";

/** One kind of model provider. Adapters are small: bytes of a wire in, these events out. */
export interface ModelProvider {
  readonly id: string;
  /** Never empty, never long: what can not be asked is left out. */
  models(): Promise<readonly Model[]>;
  /** Why its models cannot judge approvals, as the end of a sentence; undefined: they can. */
  readonly reviewProblem?: string;
  /** Throws a sentence about why no model can be asked; for people who look for what is wrong. */
  check?(signal: AbortSignal): Promise<void>;
  /** Yields what came together, as one. Ends with `done` or `failed`, or by throwing when `signal` aborts. */
  stream(request: ModelRequest, signal: AbortSignal): ModelStream;
}

export type ModelStream = AsyncIterable<readonly ModelEvent[]>;

/** One call of a model, in no provider's words. */
export interface ModelRequest {
  readonly model: string;
  readonly effort: string | null;
  readonly summary: ReasoningSummary | null;
  readonly verbosity: Verbosity | null;
  readonly serviceTier: string | null;
  /** JSON Schema of the answer, or null. */
  readonly outputSchema: unknown;
  readonly instructions: string;
  /** The conversation so far, the newest last. Each tool call has its output. */
  readonly context: readonly ContextItem[];
  readonly tools: readonly ToolSpec[];
  readonly parallelToolCalls: boolean;
  /** Calls with the same key share what a provider remembers of the beginning: the thread's id. */
  readonly promptCacheKey: string;
  /** The answer is not read past about so many bytes of text. */
  readonly answerBytes: number;
}

export type ContextItem =
  | ContextMessage
  /** `carry`: what the same provider gave for it. */
  | { readonly type: "reasoning"; readonly summary: readonly string[]; readonly carry: unknown }
  | ({ readonly type: "toolCall" } & ToolCall)
  | {
      readonly type: "toolOutput";
      readonly callId: string;
      readonly kind: ToolCall["kind"];
      readonly output: FunctionCallOutputBody;
      readonly success: boolean;
    }
  /** In the words of the `responses` wire, and for it alone. */
  | { readonly type: "raw"; readonly item: unknown };

export interface ContextMessage {
  readonly type: "message";
  readonly role: "user" | "assistant" | "developer";
  readonly parts: readonly ContextPart[];
  /** The name that a client gave to what it said. */
  readonly clientId?: string | null;
  /** What the model meant a message of its own to be; those who say so want to be told again. */
  readonly phase?: MessagePhase | null;
}

export type ContextPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly url: string; readonly detail: ImageDetail | null }
  | { readonly type: "audio"; readonly url: string };

export type ToolSpec =
  | {
      readonly kind: "function";
      readonly name: string;
      readonly namespace: string | null;
      /** What its namespace is for, where that was said. */
      readonly namespaceDescription?: string | undefined;
      readonly description: string;
      /** JSON Schema. */
      readonly parameters: unknown;
      readonly strict: boolean;
    }
  | { readonly kind: "custom"; readonly name: string; readonly description: string; readonly format: unknown }
  /** The provider searches by itself, where it can; `live`: in what is there now. */
  | { readonly kind: "webSearch"; readonly live: boolean };

export type ModelEvent =
  | { readonly type: "messageStarted"; readonly itemId: string; readonly phase?: MessagePhase | null }
  | { readonly type: "messageDelta"; readonly itemId: string; readonly text: string }
  | {
      readonly type: "messageDone";
      readonly itemId: string;
      readonly text: string;
      readonly phase?: MessagePhase | null;
    }
  | { readonly type: "reasoningStarted"; readonly itemId: string }
  /** The first one of an index begins a part. */
  | {
      readonly type: "reasoningSummaryDelta" | "reasoningTextDelta";
      readonly itemId: string;
      readonly index: number;
      readonly text: string;
    }
  | {
      readonly type: "reasoningDone";
      readonly itemId: string;
      readonly summary: readonly string[];
      readonly content: readonly string[];
      /** To be sent back as it is; undefined: the model does not want it back. */
      readonly carry: unknown;
    }
  /** An item has grown by what nobody is shown: a call's arguments before the call is whole, a signature. */
  | {
      readonly type: "hiddenDelta";
      readonly itemId: string;
      readonly of: "call" | "reasoning";
      readonly text: string;
    }
  | { readonly type: "toolCall"; readonly call: ToolCall }
  | { readonly type: "webSearchStarted"; readonly itemId: string; readonly action: WebSearchAction }
  | {
      readonly type: "webSearchDone";
      readonly itemId: string;
      readonly action: WebSearchAction;
      readonly carry: unknown;
    }
  /** What is known of the account's limits at the provider. */
  | { readonly type: "rateLimits"; readonly limits: RateLimitSnapshot }
  /** Which model answers, as the provider says. */
  | { readonly type: "servedBy"; readonly model: string }
  | { readonly type: "done"; readonly usage: TokenUsageBreakdown; readonly contextWindow: number | null }
  | { readonly type: "failed"; readonly error: TurnError; readonly retry?: Retry | undefined };

/** Trying again can help: at most so often in a row, and not before the server's own delay, if it named one. */
export interface Retry {
  readonly of: number;
  readonly afterMs?: number | undefined;
}
