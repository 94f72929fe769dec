import { type CancelToolCall, type CloseThread, PATHS, underBase } from "../wire/index.ts";
import type { ServerAddress } from "./address.ts";
import { noAnswer } from "./discovery.ts";
import { discard, exchange, type RuntimePorts } from "./http.ts";

export type Notice =
  | { readonly kind: "closeThread"; readonly body: CloseThread }
  | { readonly kind: "cancelToolCall"; readonly body: CancelToolCall };

/**
 * Tells a tool server something, once: nothing is tried again, no redirect is followed, no answer is read. Does not
 * throw; what it gives is for logs.
 *
 * @example
 * await sendNotice(server, { kind: "closeThread", body: { thread_id } }, ports, { timeoutMs: 5000 });
 */
export async function sendNotice(
  server: ServerAddress,
  { kind, body }: Notice,
  ports: RuntimePorts,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<{ readonly delivered: boolean; readonly says: string }> {
  const got = await exchange(
    ports,
    new URL(underBase(server.url, PATHS[kind])),
    {
      method: "POST",
      headers: { ...server.headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    },
    timeoutMs,
    async (answer) => {
      await discard(answer);
      return answer.status;
    },
    signal,
  );
  if (got.kind !== "answered") return { delivered: false, says: noAnswer(got) };
  return { delivered: got.value === 200, says: `status ${got.value}` };
}
