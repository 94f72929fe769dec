import { type Migrate, PATHS, underBase } from "../wire/index.ts";
import { type Log, told } from "./log.ts";
import type { Platform } from "./platform.ts";
import { ToolError } from "./result.ts";
import type { SubscriptionSnapshot } from "./subscription.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** A session that moves to another server. */
export interface MigratingSession {
  /** The thread at its top. */
  readonly sessionId: string;
  /** Another instance of this server; it could be reached a moment ago. */
  readonly destinationUrl: string;
  /** Aborts when it takes too long. */
  readonly signal: AbortSignal;
  /**
   * The session's subscriptions, for `adoptSession()` of the other server. It has callback URLs in it: send it over a
   * connection that is encrypted and authenticated.
   */
  readonly state: string;
}

export interface MigrateGround {
  readonly platform: Platform;
  readonly subscriptions: Subscriptions;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly hook: (session: MigratingSession) => Promise<void>;
}

const REACH_MS = 10_000;

/** Answers when everything has arrived at the other server, or when it is sure that it has not. */
export async function migrate(
  ground: MigrateGround,
  tenant: string,
  { session_id, destination_url }: Migrate,
): Promise<Response> {
  const { platform, subscriptions, hook, log } = ground;
  if (!(await reachable(platform, destination_url)))
    return refusal(502, "The destination can not be reached.");
  const leaving = await subscriptions.detach(tenant, session_id);
  try {
    const state = JSON.stringify(leaving satisfies readonly SubscriptionSnapshot[]);
    await bounded(platform, ground.timeoutMs, (signal) =>
      hook({ sessionId: session_id, destinationUrl: destination_url, signal, state }),
    );
  } catch (error) {
    // It stays here, as if nothing had been.
    await subscriptions.attach(leaving);
    log({ level: "error", says: "a migration failed", session: session_id, error: told(error) });
    return refusal(500, error instanceof ToolError ? error.message : "The migration has failed.");
  }
  await subscriptions.forget(leaving);
  return new Response(null, { status: 200 });
}

/** Any answer will do: the other server may ask for credentials that we do not have. */
async function reachable(platform: Platform, destination: string): Promise<boolean> {
  try {
    await bounded(platform, REACH_MS, async (signal) => {
      const response = await platform.fetch(underBase(destination, PATHS.toolset), {
        redirect: "manual",
        signal,
      });
      await response.body?.cancel();
    });
    return true;
  } catch {
    return false;
  }
}

async function bounded(
  platform: Platform,
  ms: number,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    cancel = platform.after(ms, () => {
      over.abort();
      reject(new ToolError("It takes too long."));
    });
  });
  try {
    await Promise.race([work(over.signal), late]);
  } finally {
    cancel();
  }
}

function refusal(status: number, says: string): Response {
  return Response.json({ error: says }, { status });
}
