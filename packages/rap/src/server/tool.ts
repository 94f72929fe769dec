import type { DisplaySegment, JsonObject, ToolAnnotations } from "../wire/index.ts";
import type { Arguments, InputSchema } from "./input-schema.ts";
import type { ToolContent } from "./tool-result.ts";

/** The output of a tool. A string is sent as it is, `content()` with its images, anything else as JSON. */
export type ToolOutput =
  | string
  | ToolContent
  | JsonObject
  | readonly unknown[]
  | number
  | boolean
  | null
  | undefined;

/** Definition of a tool. */
export interface ToolOptions<S extends InputSchema | undefined = InputSchema | undefined> {
  /** Letters, digits, underscores and hyphens. */
  readonly name: string;
  /** For the model: what the tool does, and about how long it takes. */
  readonly description: string;
  /** A zod schema or a JSON Schema of the arguments. Without it, the tool takes no arguments. */
  readonly input?: S;
  /** Hints about the tool's behaviour, by which hosts decide whether to ask the user before a call. */
  readonly annotations?: ToolAnnotations;
  /** A Rhai script that returns a line of text to show for a call, computed from `args`. */
  readonly displayScript?: string;
  /**
   * Time limit of a call, after which it is aborted. Waits for people do not count. Default: the server's `callMs` (a
   * day).
   */
  readonly timeoutMs?: number;
  /**
   * Does the work. An error becomes the result of the call: a `ToolError` with its message, any other error without it,
   * because it may contain secrets.
   */
  run(args: Arguments<S>, ctx: ToolContext): Promise<ToolOutput> | ToolOutput;
  /**
   * Watches for the events of a subscription that `run` started, and emits them. Called once the host has confirmed the
   * subscription, and again at every start of the server until the subscription ends. Without it, emit events through
   * `server.subscriptions()`.
   */
  listen?(subscription: Subscription): Promise<void> | void;
}

/** A tool without the static type of its arguments, so that different tools fit in one list. */
export type Tool = ToolOptions;

/**
 * Defines a tool. Infers the type of `run`'s arguments from `input`.
 *
 * @example
 * const roll = tool({
 *   name: "roll_dice",
 *   description: "Rolls dice. Takes no time.",
 *   input: z.object({ sides: z.number().int().min(2) }),
 *   annotations: { readOnly: true },
 *   run: ({ sides }) => `${1 + Math.floor(Math.random() * sides)}`,
 * });
 */
export function tool<const S extends InputSchema | undefined = undefined>(options: ToolOptions<S>): Tool {
  return options as unknown as Tool;
}

/** Why a call was aborted. `closed`: its thread was closed. `shutdown`: the tool server stops. */
export type AbortReason = "cancelled" | "closed" | "timedOut" | "shutdown";

/**
 * The `reason` of an aborted call's signal.
 *
 * @example
 * ctx.signal.addEventListener("abort", () => {
 *   if (ctx.signal.reason instanceof CallAborted) console.log(`stopped: ${ctx.signal.reason.why}`);
 * });
 */
export class CallAborted extends Error {
  /** Always `AbortError`. */
  override readonly name = "AbortError";
  /** Why the call is no longer wanted. */
  readonly why: AbortReason;
  constructor(why: AbortReason) {
    super(`the call is no longer wanted: ${why}`);
    this.why = why;
  }
}

/** What a tool can use during a call, besides its arguments. */
export interface ToolContext {
  /** The id of this call. */
  readonly callId: string;
  /** Id of the user, if the host sends one. The tool decides what this user may do. */
  readonly userId: string | undefined;
  /** Aborts when the call is cancelled or times out, its thread is closed, or the server stops. */
  readonly signal: AbortSignal;
  /** The thread that the call belongs to. */
  readonly thread: ThreadContext;
  /**
   * Starts a subscription, by which the tool server can send events to the thread, also after a restart. `state` is
   * stored with it.
   *
   * @example
   * const subscription = await ctx.subscribe({ repository: "acme/api" });
   * return `Subscribed. Subscription ID: ${subscription.id}`;
   */
  subscribe(state?: JsonObject): Promise<Subscription>;
  /**
   * An access token of the user for one of the server's `oauth` providers. If there is none, asks the user to authorize
   * and waits. Call it before any side effect: if the server restarts during the wait, `run` starts again.
   *
   * @example
   * const token = await ctx.requireOAuth("github");
   */
  requireOAuth(provider: string): Promise<string>;
  /**
   * Asks the user to choose, and waits. Call it before any side effect: if the server restarts during the wait, `run`
   * starts again. Questions that were already answered are then not asked again.
   *
   * @example
   * const { label } = await ctx.choose({ prompt: "Deploy to production?", choices: ["Yes", "No"], default: 1 });
   */
  choose(question: Question): Promise<Choice>;
  /**
   * Shows content beside the conversation, and replaces earlier content of the same type. `null` clears it.
   *
   * @example
   * await ctx.view("diff", { patch });
   */
  view(type: string, content: JsonObject | null): Promise<void>;
  /**
   * Sets how clients show the result to people: by the first segment whose type the client supports. The model gets the
   * result itself.
   *
   * @example
   * ctx.display({ type: "diff", content: { path, patch } }, { type: "text", content: "1 line changed" });
   */
  display(...segments: readonly DisplaySegment[]): void;
}

/** The thread (conversation) that a call belongs to. */
export interface ThreadContext {
  /** The id of the thread. */
  readonly id: string;
  /** Ids of the thread's ancestors, from the root to its parent. */
  readonly ancestors: readonly string[];
  /**
   * Opens a resource once per thread and shares it between the thread's calls. It is closed when the thread is closed
   * or expires, or when the server stops.
   *
   * @example
   * const shell = await ctx.thread.resource("shell", () => startShell(), (shell) => shell.kill());
   */
  resource<T>(key: string, open: () => Promise<T> | T, close: (value: T) => Promise<void> | void): Promise<T>;
  /**
   * Path of a folder for this thread alone. The folder is deleted when the thread is closed or expires.
   *
   * @example
   * await writeFile(join(await ctx.thread.directory(), "notes.txt"), text);
   */
  directory(): Promise<string>;
}

/** A question to the user with fixed choices. */
export interface Question {
  /** What the user is asked. */
  readonly prompt: string;
  /** Labels of the choices. Each must be different. */
  readonly choices: readonly string[];
  /** Index of the choice that applies if the user makes none. */
  readonly default: number;
  /**
   * Remembers an answer that is one of `labels`, for the rest of the thread and for its child threads: a question with
   * the same `key` is then not asked again.
   */
  readonly remember?: { readonly key: string; readonly labels: readonly string[] };
}

/** The choice that the user made, or the default. */
export interface Choice {
  /** The index of the choice in `choices`. */
  readonly index: number;
  /** The label of the choice. */
  readonly label: string;
}

/** A subscription of a thread to events of a tool. */
export interface Subscription {
  /** Id of the call that started the subscription. The model uses it to cancel the subscription. */
  readonly id: string;
  /** The name of the tool that started it. */
  readonly tool: string;
  /** The thread that gets the events. */
  readonly threadId: string;
  /** Id of the user, if the host sent one. */
  readonly userId: string | undefined;
  /** The `state` that was passed to `ctx.subscribe`. */
  readonly state: JsonObject;
  /** Aborts when the subscription ends, and when the server stops. */
  readonly signal: AbortSignal;
  /**
   * Sends an event: a string as it is, anything else as JSON. Resolves when the event is stored; it is then delivered
   * with retries, in order and once. Resolves with false if the subscription has ended. Rejects if the event exceeds
   * the size limit, or if too many events wait.
   *
   * @example
   * await subscription.emit({ number: 42, action: "opened" });
   */
  emit(event: unknown, options?: EventOptions): Promise<boolean>;
  /**
   * Waits until a time (milliseconds since the epoch). False if the subscription ended or the server stopped before.
   */
  sleepUntil(time: number): Promise<boolean>;
  /** Ends the subscription without an event. */
  end(): Promise<void>;
}

/** How an event is delivered. */
export interface EventOptions {
  /** True: the event goes into the subscribing thread itself. Otherwise the host may start a child thread for it. */
  readonly associative?: boolean;
  /** Marks the last event. Its delivery ends the subscription. */
  readonly final?: boolean;
}
