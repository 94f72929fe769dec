import type { Bobbin } from "@bobbin/client";

/** The IDs of all loaded threads, the most recent first. `thread/loaded/list` has the oldest first. */
export async function loadedByRecency(client: Bobbin, signal?: AbortSignal): Promise<readonly string[]> {
  const { threads } = await client.request("server/diagnostics", {}, { ...(signal && { signal }) });
  return (threads ?? [])
    .map(({ threadId, recencyAt }) => ({ threadId, recencyAt: recencyAt ?? 0 }))
    .sort((one, other) => other.recencyAt - one.recencyAt || (one.threadId < other.threadId ? 1 : -1))
    .map(({ threadId }) => threadId);
}
