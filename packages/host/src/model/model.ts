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

/** The ID of the built-in provider and of its only model. It is used if no provider is configured. */
export const OFFLINE_MODEL = "offline";

/** A model provider. An adapter translates the events of one wire API into `ModelEvent`s. */
export interface ModelProvider {
  readonly id: string;
  /**
   * The provider's models. Never empty, and returned quickly: if a server does not answer in time, its models are
   * left out.
   */
  models(): Promise<readonly Model[]>;
  /** Why the provider's models cannot review approvals, in words that complete a sentence; undefined if they can. */
  readonly reviewProblem?: string;
  /** Throws an error that explains why no model can be called; used by `bobbin doctor`. */
  check?(signal: AbortSignal): Promise<void>;
  /** Yields events in batches as they arrive. Ends with `done` or `failed`, or throws when `signal` aborts. */
  stream(request: ModelRequest, signal: AbortSignal): ModelStream;
}

/** Batches of events of one answer. */
export type ModelStream = AsyncIterable<readonly ModelEvent[]>;

/** One model call, independent of the provider's API. */
export interface ModelRequest {
  readonly model: string;
  readonly effort: string | null;
  readonly summary: ReasoningSummary | null;
  readonly verbosity: Verbosity | null;
  readonly serviceTier: string | null;
  /** JSON Schema of the answer, or null. */
  readonly outputSchema: unknown;
  readonly instructions: string;
  /** The conversation so far, the newest item last. Each tool call is followed by its output. */
  readonly context: readonly ContextItem[];
  readonly tools: readonly ToolSpec[];
  readonly parallelToolCalls: boolean;
  /** The thread's id. Calls with the same key share the provider's prompt cache. */
  readonly promptCacheKey: string;
  /** Limit on the bytes of the answer's text. It is enforced only roughly. */
  readonly answerBytes: number;
}

/** One item of the conversation that a model is sent. */
export type ContextItem =
  | ContextMessage
  /** `carry`: opaque data from the provider that produced the item. It is sent back only to that provider. */
  | { readonly type: "reasoning"; readonly summary: readonly string[]; readonly carry: unknown }
  | ({ readonly type: "toolCall" } & ToolCall)
  | {
      readonly type: "toolOutput";
      readonly callId: string;
      readonly kind: ToolCall["kind"];
      readonly output: FunctionCallOutputBody;
      readonly success: boolean;
    }
  /** An item in the format of the Responses API; other APIs skip it. */
  | { readonly type: "raw"; readonly item: unknown };

export interface ContextMessage {
  readonly type: "message";
  readonly role: "user" | "assistant" | "developer";
  readonly parts: readonly ContextPart[];
  /** The id that a client gave to its message. */
  readonly clientId?: string | null;
  /** The phase that the model gave to its message. A provider that sends a phase needs it back. */
  readonly phase?: MessagePhase | null;
}

export type ContextPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly url: string; readonly detail: ImageDetail | null }
  | { readonly type: "audio"; readonly url: string };

/** A tool that a model may call. */
export type ToolSpec =
  | {
      readonly kind: "function";
      readonly name: string;
      readonly namespace: string | null;
      /** A description of the namespace, if its tool server has one. */
      readonly namespaceDescription?: string | undefined;
      readonly description: string;
      /** JSON Schema. */
      readonly parameters: unknown;
      readonly strict: boolean;
      /** Whether the tool is unlisted until a tool search has found it. */
      readonly deferred?: boolean;
    }
  /**
   * The tool with which a model searches for unlisted tools. If a provider has its own tool type for this, that type is
   * sent.
   */
  | {
      readonly kind: "toolSearch";
      readonly name: string;
      readonly description: string;
      readonly parameters: unknown;
    }
  | { readonly kind: "custom"; readonly name: string; readonly description: string; readonly format: unknown }
  /** Web search by the provider, if it has one. `live`: searches current pages, not only the provider's index. */
  | { readonly kind: "webSearch"; readonly live: boolean };

/** One event of a model's answer. */
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
  /** Text of the reasoning part with this index. The first delta of an index starts a new part. */
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
      /** Opaque data to be sent back unchanged; undefined if the provider needs nothing back. */
      readonly carry: unknown;
    }
  /**
   * An item grew by data that is not shown: arguments of an incomplete call, or a signature. The data counts towards
   * limits.
   */
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
  /** The account's rate limits at the provider. */
  | { readonly type: "rateLimits"; readonly limits: RateLimitSnapshot }
  /** The model that actually answers, as reported by the provider. */
  | { readonly type: "servedBy"; readonly model: string }
  | { readonly type: "done"; readonly usage: TokenUsageBreakdown; readonly contextWindow: number | null }
  | { readonly type: "failed"; readonly error: TurnError; readonly retry?: Retry | undefined };

/**
 * How a failed call may be retried: up to `of` times in a row, and the next time not before `afterMs`, if the server
 * asked for a delay.
 */
export interface Retry {
  readonly of: number;
  readonly afterMs?: number | undefined;
}
