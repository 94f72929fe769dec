import { type CancelToolCall, type CloseThread, PATHS, underBase } from "../wire/index.ts";
import { noAnswerText } from "./discovery.ts";
import { discard, exchange, type RuntimePorts } from "./http-exchange.ts";
import type { ServerAddress } from "./server-address.ts";

/** A one-way message to a tool server. */
export type Notice =
  | { readonly kind: "closeThread"; readonly body: CloseThread }
  | { readonly kind: "cancelToolCall"; readonly body: CancelToolCall };

/**
 * Sends a notice to a tool server, at most once: no retry, no redirect. Never rejects; the result is for the log.
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
  if (got.kind !== "answered") return { delivered: false, says: noAnswerText(got) };
  return { delivered: got.value === 200, says: `status ${got.value}` };
}
