import type { DisplaySegment, JsonObject, ToolAnnotations } from "../wire/index.ts";
import type { ToolContent } from "./result.ts";
import type { Arguments, InputSchema } from "./schema.ts";

/** What a tool gives back: text as it is, content for images, and anything else as JSON. */
export type ToolOutput =
  | string
  | ToolContent
  | JsonObject
  | readonly unknown[]
  | number
  | boolean
  | null
  | undefined;

/** One operation of a tool server. */
export interface ToolOptions<S extends InputSchema | undefined = InputSchema | undefined> {
  /** Letters, digits, underscores and hyphens. */
  readonly name: string;
  /** For the model: what it does, and about how long it takes. */
  readonly description: string;
  /** A zod schema or a JSON Schema of the arguments; none if there are no arguments. */
  readonly input?: S;
  readonly annotations?: ToolAnnotations;
  /** A Rhai script that gives a line to show for a call, from `args`. It must return a string. */
  readonly displayScript?: string;
  /** After this a call is aborted and gets an error; the time in which people are asked does not count. A day by default. */
  readonly timeoutMs?: number;
  /**
   * Does the work. What it throws becomes the result of the call: a `ToolError` with its words, everything else
   * without, because those may tell what nobody should know.
   */
  run(args: Arguments<S>, ctx: ToolContext): Promise<ToolOutput> | ToolOutput;
  /**
   * Watches for events of a subscription that `run` has begun. Called when its beginning was confirmed, and again
   * whenever the server starts, until the subscription ends. Without it, events come from `server.subscriptions()`.
   */
  listen?(subscription: Subscription): Promise<void> | void;
}

/** A tool whose arguments' type was forgotten, so that tools of all kinds fit in one list. */
export type Tool = ToolOptions;

/**
 * Describes a tool; this is where the type of its arguments comes from.
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

/** Why a call is no longer wanted. */
export type AbortReason = "cancelled" | "closed" | "timedOut" | "shutdown";

/** The `reason` of a call's signal. */
export class CallAborted extends Error {
  override readonly name = "AbortError";
  readonly why: AbortReason;
  constructor(why: AbortReason) {
    super(`the call is no longer wanted: ${why}`);
    this.why = why;
  }
}

/** What a call may use beside its arguments. */
export interface ToolContext {
  /** The id of this call. */
  readonly callId: string;
  /** Who asks, if the host says so. Whether they may is for the tool to decide. */
  readonly userId: string | undefined;
  /** Aborts when the call is cancelled, its thread is closed, its time is over or the server stops. */
  readonly signal: AbortSignal;
  readonly thread: ThreadContext;
  /**
   * Begins a subscription: from now on, and over restarts, events may be sent to the thread. `state` is kept with it.
   *
   * @example
   * const subscription = await ctx.subscribe({ repository: "acme/api" });
   * return `Subscribed. Subscription ID: ${subscription.id}`;
   */
  subscribe(state?: JsonObject): Promise<Subscription>;
  /**
   * A token of the user for one of the server's `oauth` providers. Asks the user to authorize if there is none, and
   * waits. Call it before doing anything: after a restart the call begins again from here.
   *
   * @example
   * const token = await ctx.requireOAuth("github");
   */
  requireOAuth(provider: string): Promise<string>;
  /**
   * Asks the user, and waits. Call it before doing anything: after a restart the call begins again from here, and
   * what was answered is not asked again.
   *
   * @example
   * const { label } = await ctx.choose({ prompt: "Deploy to production?", choices: ["Yes", "No"], default: 1 });
   */
  choose(question: Question): Promise<Choice>;
  /**
   * Shows something beside the conversation, and replaces what was shown under the same type. `null` clears it.
   *
   * @example
   * await ctx.view("diff", { patch });
   */
  view(type: string, content: JsonObject | null): Promise<void>;
  /**
   * Says how people see the result: the first of these that their client knows. The model sees the result itself.
   *
   * @example
   * ctx.display({ type: "diff", content: { path, patch } }, { type: "text", content: "1 line changed" });
   */
  display(...segments: readonly DisplaySegment[]): void;
}

/** The conversation that a call belongs to. */
export interface ThreadContext {
  readonly id: string;
  /** Ids of the threads above it, from the root to its parent. */
  readonly ancestors: readonly string[];
  /**
   * Something that is opened once for the thread and shared by its calls. Closed when the thread is closed, when it
   * was not used for a time, or when the server stops.
   *
   * @example
   * const shell = await ctx.thread.resource("shell", () => startShell(), (shell) => shell.kill());
   */
  resource<T>(key: string, open: () => Promise<T> | T, close: (value: T) => Promise<void> | void): Promise<T>;
  /**
   * A folder that only this thread has. Removed when the thread is closed, or was not used for a time.
   *
   * @example
   * await writeFile(join(await ctx.thread.directory(), "notes.txt"), text);
   */
  directory(): Promise<string>;
}

/** Something to ask a user. */
export interface Question {
  readonly prompt: string;
  /** Labels that say what they allow; all different. */
  readonly choices: readonly string[];
  /** The index that counts when the user chooses nothing. */
  readonly default: number;
  /**
   * Keeps some answers for the rest of the thread, and for threads below it: the question with this key is then not
   * asked again.
   */
  readonly remember?: { readonly key: string; readonly labels: readonly string[] };
}

export interface Choice {
  readonly index: number;
  readonly label: string;
}

/** Events that a thread waits for. */
export interface Subscription {
  /** The id of the call that began it; a model cancels it by this id. */
  readonly id: string;
  readonly tool: string;
  readonly threadId: string;
  readonly userId: string | undefined;
  /** What `ctx.subscribe` was given. */
  readonly state: JsonObject;
  /** Aborts when it ends, and when the server stops. */
  readonly signal: AbortSignal;
  /**
   * Sends an event: text, or anything else as JSON. When it resolves the event is kept, and will be sent until it
   * arrives. False if the subscription has ended. Events arrive in order, each with its effect once. Throws on one
   * that is larger than hosts take.
   *
   * @example
   * await subscription.emit({ number: 42, action: "opened" });
   */
  emit(event: unknown, options?: EventOptions): Promise<boolean>;
  /** Waits until a time (milliseconds since the epoch). False if the subscription has ended before, or the server stops. */
  sleepUntil(time: number): Promise<boolean>;
  /** Ends it without an event. */
  end(): Promise<void>;
}

export interface EventOptions {
  /** Goes into the thread itself; else the host may begin a thread below it for the event. */
  readonly associative?: boolean;
  /** The last one: it ends the subscription. */
  readonly final?: boolean;
}
