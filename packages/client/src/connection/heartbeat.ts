import { NoAnswerError } from "@bobbin/rpc";
import type { BobbinClient } from "../client.ts";
import { pause } from "./retry-delay.ts";

/**
 * Calls `silent` once if the host does not answer any more although the connection is open: the host hangs, or the
 * network was lost without an error, such as while a laptop slept. After `everyMs` without a notification the client
 * sends a request, and the host has the same time to reply. Ends with the connection.
 */
export async function watchForSilence(
  client: BobbinClient,
  everyMs: number,
  silent: () => void,
): Promise<void> {
  const over = new AbortController();
  client.onClosed(() => over.abort());
  let hasNotification = false;
  client.onNotification(() => {
    hasNotification = true;
  });
  for (;;) {
    hasNotification = false;
    await pause(everyMs, over.signal);
    if (over.signal.aborted) return;
    if (!hasNotification && !(await answers(client, everyMs)) && !hasNotification) return silent();
  }
}

/** Whether the host replies in time. A refusal is a reply, too; the end of the connection is noticed elsewhere. */
async function answers(client: BobbinClient, timeoutMs: number): Promise<boolean> {
  try {
    await client.request("thread/loaded/list", { limit: 1 }, { timeoutMs });
    return true;
  } catch (cause) {
    return !(cause instanceof NoAnswerError && cause.reason === "timedOut");
  }
}
