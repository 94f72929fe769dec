import type { Auth } from "./auth.ts";
import type { RetryPolicy } from "./deliver.ts";
import type { Log } from "./log.ts";
import type { MigratingSession } from "./migrate.ts";
import type { OAuthProvider } from "./oauth-tokens.ts";
import type { Platform } from "./platform.ts";
import type { Rate } from "./rate.ts";
import type { ToolServerData } from "./store.ts";
import type { ClosedThread } from "./threads.ts";
import type { Tool } from "./tool.ts";

/** How a tool server is made. All times are in milliseconds. */
export interface ToolServerOptions {
  /** The name of the toolset, 1 to 128 characters. */
  readonly name: string;
  readonly description?: string;
  /** Who may call: `bearer(…)`, `noAuth`, or a function of your own. */
  readonly auth: Auth;
  readonly tools: readonly Tool[];
  /** Where the server is for hosts and browsers; may have a path. Without it, where a request came to. */
  readonly url?: string;
  /** Where calls and subscriptions are kept: `folderData(…)`, `memoryData()`, or your own. In memory by default. */
  readonly data?: ToolServerData;
  /** Services that tools may ask users to authorize; needs `url`. The secret seals tokens in the store. */
  readonly oauth?: {
    readonly secret: string;
    readonly providers: { readonly [name: string]: OAuthProvider };
  };
  /**
   * Called for each thread that has made a call here, when it is closed or was not used for too long. If it fails, the
   * thread's folder is set aside in place of being removed.
   */
  readonly onThreadClosed?: (thread: ClosedThread) => Promise<void> | void;
  /** Hands a session over to another server. A server with this declares that it needs migration. */
  readonly migrate?: (session: MigratingSession) => Promise<void>;
  /** Only to these origins are results sent; anywhere by default, because those who call are trusted. */
  readonly callbackOrigins?: readonly string[];
  readonly limits?: Partial<Limits>;
  readonly retry?: Partial<RetryPolicy>;
  readonly log?: Log;
  /** For tests. */
  readonly platform?: Platform;
}

export interface Limits {
  /** Calls; one over it gets an error as its result. */
  readonly calls: Rate;
  /** Closings of threads; one over it is answered with 429. */
  readonly closings: Rate;
  readonly cancellations: Rate;
  /** Answers of users, and browsers that come back from an authorization. */
  readonly answers: Rate;
  /** Events of one subscription; those over it wait. */
  readonly events: Rate;
  /** Calls under way at once; one over it is answered with 503. */
  readonly concurrentCalls: number;
  /** How long a call may take, unless its tool says otherwise. */
  readonly callMs: number;
  /** How long a user may take to choose. */
  readonly choiceMs: number;
  /** How long a user may take to authorize. */
  readonly oauthMs: number;
  /** A thread that made no call for so long is treated as closed. */
  readonly threadTtlMs: number;
  /** A subscription that sent no event for so long ends. */
  readonly subscriptionTtlMs: number;
  readonly sweepMs: number;
  readonly migrationMs: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const defaultLimits: Limits = {
  calls: { perSecond: 1000, burst: 2000 },
  // Two hosts that close 500 threads in the same second are no attack.
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
