import type { Auth } from "./auth.ts";
import type { RetryPolicy } from "./callback-sender.ts";
import type { Log } from "./log.ts";
import type { OAuthProvider } from "./oauth-tokens.ts";
import type { Platform } from "./platform.ts";
import type { Rate } from "./rate-limit.ts";
import type { MigratingSession } from "./session-migration.ts";
import type { ToolServerData } from "./store.ts";
import type { ClosedThread } from "./thread-registry.ts";
import type { Tool } from "./tool.ts";

/** Options of `createToolServer`. All times are in milliseconds. */
export interface ToolServerOptions {
  /** The name of the toolset, 1 to 128 characters. */
  readonly name: string;
  /** What the toolset is for, for people and models. */
  readonly description?: string;
  /** Authenticates requests: `bearer(…)`, `noAuth`, or a function of your own. */
  readonly auth: Auth;
  /** The tools, each made by `tool()`. */
  readonly tools: readonly Tool[];
  /** Public base URL of the server; may have a path. Without it, the origin of each request is used. */
  readonly url?: string;
  /** Storage of calls and subscriptions: `folderData(…)`, `memoryData()`, or your own. In memory by default. */
  readonly data?: ToolServerData;
  /** OAuth services that tools may ask users to authorize. Needs `url`. `secret` encrypts the tokens in the store. */
  readonly oauth?: {
    readonly secret: string;
    readonly providers: { readonly [name: string]: OAuthProvider };
  };
  /**
   * Called when a thread that has called this server is closed, or has not been used for `threadTtlMs`. If it fails,
   * the thread's folder is moved aside instead of being deleted.
   */
  readonly onThreadClosed?: (thread: ClosedThread) => Promise<void> | void;
  /** Hands a session over to another instance. A server with this option declares `needsMigration`. */
  readonly migrate?: (session: MigratingSession) => Promise<void>;
  /** Origins to which results may be sent. Any origin by default, because authenticated callers are trusted. */
  readonly callbackOrigins?: readonly string[];
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<Limits>;
  /** How long results and events are sent again to a host that does not answer. */
  readonly retry?: Partial<RetryPolicy>;
  /** Takes log entries. Default: warnings and errors go to stderr. */
  readonly log?: Log;
  /** Clock, timers, randomness and network. For tests. */
  readonly platform?: Platform;
}

/** Rate, size and time limits of a tool server. */
export interface Limits {
  /** Rate of calls. A call over the rate gets an error as its result. */
  readonly calls: Rate;
  /** Rate of thread closings. A notice over the rate gets status 429. */
  readonly closings: Rate;
  /** Rate of cancellations. A notice over the rate gets status 429. */
  readonly cancellations: Rate;
  /** Rate of answers to user choices and of OAuth redirects, together. A request over the rate gets status 429. */
  readonly answers: Rate;
  /** Rate of events per subscription. Events over the rate wait. */
  readonly events: Rate;
  /** Number of concurrent calls. A call over the limit gets status 503. */
  readonly concurrentCalls: number;
  /** Time limit of a call whose tool sets no `timeoutMs`. */
  readonly callMs: number;
  /** Time limit for a user's answer to a choice. */
  readonly choiceMs: number;
  /** Time limit for a user's authorization. */
  readonly oauthMs: number;
  /** A thread without a call for this long is treated as closed. */
  readonly threadTtlMs: number;
  /** A subscription without an event for this long ends. */
  readonly subscriptionTtlMs: number;
  /** Interval of the sweep that closes unused threads and subscriptions. */
  readonly sweepMs: number;
  /** Time limit of the `migrate` hook. */
  readonly migrationMs: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const defaultLimits: Limits = {
  calls: { perSecond: 1000, burst: 2000 },
  // High enough for two hosts that close 500 threads each in the same second.
  closings: { perSecond: 1000, burst: 2000 },
  cancellations: { perSecond: 1000, burst: 2000 },
  answers: { perSecond: 50, burst: 200 },
  events: { perSecond: 10, burst: 100 },
  concurrentCalls: 10_000,
  callMs: DAY,
  choiceMs: 7 * DAY,
  oauthMs: HOUR,
  threadTtlMs: DAY,
  subscriptionTtlMs: 90 * DAY,
  sweepMs: MINUTE,
  migrationMs: 10 * MINUTE,
};
