import { type Migrate, PATHS, underBase } from "../wire/index.ts";
import type { SubscriptionSnapshot } from "./live-subscription.ts";
import { errorText, type Log } from "./log.ts";
import type { Platform } from "./platform.ts";
import type { SubscriptionRegistry } from "./subscription-registry.ts";
import { ToolError } from "./tool-result.ts";

/** A session that moves to another instance of this tool server. */
export interface MigratingSession {
  /** Id of the session's root thread. */
  readonly sessionId: string;
  /** Base URL of the instance that takes over. It was reachable a moment ago. */
  readonly destinationUrl: string;
  /** Aborts when the migration takes too long. */
  readonly signal: AbortSignal;
  /**
   * The session's subscriptions, for `adoptSession()` of the other instance. Contains callback URLs, which are secrets:
   * send it over an encrypted and authenticated connection.
   */
  readonly state: string;
}

export interface MigrateDeps {
  readonly platform: Platform;
  readonly subscriptions: SubscriptionRegistry;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly hook: (session: MigratingSession) => Promise<void>;
}

const REACH_MS = 10_000;

/**
 * Handles `/migrate`. Replies when the other instance has taken over, or when the session stays here after a failure.
 */
export async function migrate(
  deps: MigrateDeps,
  tenant: string,
  { session_id, destination_url }: Migrate,
): Promise<Response> {
  const { platform, subscriptions, hook, log } = deps;
  if (!(await reachable(platform, destination_url)))
    return refusal(502, "The destination cannot be reached.");
  const leaving = await subscriptions.detach(tenant, session_id);
  try {
    const state = JSON.stringify(leaving satisfies readonly SubscriptionSnapshot[]);
    await bounded(platform, deps.timeoutMs, (signal) =>
      hook({ sessionId: session_id, destinationUrl: destination_url, signal, state }),
    );
  } catch (error) {
    // The session stays here and continues.
    await subscriptions.attach(leaving);
    log({ level: "error", says: "a migration failed", session: session_id, error: errorText(error) });
    return refusal(500, error instanceof ToolError ? error.message : "The migration has failed.");
  }
  await subscriptions.forget(leaving);
  return new Response(null, { status: 200 });
}

/** Any HTTP status counts as reachable: the other instance may ask for credentials that this one does not have. */
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
      reject(new ToolError("The migration takes too long."));
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
