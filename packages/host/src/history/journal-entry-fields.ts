import type { JournalMessage } from "@bobbin/protocol";
import { notify } from "../core/notify.ts";
import type { ThreadRecord } from "../core/records.ts";

/** Limit on the characters of a record's or message's JSON in a reply. The rest is cut. */
const MAX_JSON_CHARS = 256 * 1024;

/** Fields with URLs to which anyone can post an answer. Other secrets are encrypted before they are written. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(["responseUrl"]);

/** A record as JSON, without secrets. */
export function journalJson(value: unknown): string {
  return JSON.stringify(value, (name, field) =>
    SECRET_FIELDS.has(name) && typeof field === "string" ? "(hidden)" : field,
  );
}

/** The JSON for a reply, cut if it is long. */
export function textOf(json: string): Pick<JournalMessage, "json" | "isCut"> {
  return { json: json.slice(0, MAX_JSON_CHARS), isCut: json.length > MAX_JSON_CHARS };
}

export function recordTime(record: ThreadRecord): number | undefined {
  if ("at" in record) return record.at;
  return record.type === "requestSent" ? record.request.at : undefined;
}

/** The turn that a record belongs to. */
export function recordTurn(record: ThreadRecord): string | undefined {
  if ("turnId" in record) return record.turnId ?? undefined;
  // The turn ID is empty if an MCP server asks during a tool call that a client made.
  return record.type === "requestSent" ? record.request.turnId || undefined : undefined;
}

/** The messages to clients and tool servers that a record causes. */
export function sentFor(
  threadId: string,
  record: ThreadRecord,
  toolServers: readonly string[],
  includeJson: boolean,
): JournalMessage[] {
  const message = (
    kind: JournalMessage["kind"],
    method: string,
    to: readonly string[],
    params: unknown,
  ): JournalMessage => {
    const text = includeJson ? textOf(journalJson(params)) : { json: null, isCut: false };
    return { kind, method, to: [...to], ...text };
  };
  const sent = notify(threadId, record).map(({ method, audience, params }) =>
    message("notification", method, [audience], params),
  );
  if (record.type === "requestSent")
    sent.push(message("request", record.request.method, ["subscribers"], record.request.params));
  if (record.type === "notified")
    sent.push(message("toolServerNotice", "closeThread", toolServers, { thread_id: threadId }));
  if (record.type === "cancelNotified") {
    const body = { thread_id: threadId, tool_call_id: record.callId };
    sent.push(message("toolServerNotice", "cancelToolCall", toolServers, body));
  }
  return sent;
}
