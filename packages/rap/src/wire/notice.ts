// Messages from a host to a tool server other than calls.
import { natural, object, type Parsed, parse, type Read } from "./shape.ts";
import { httpUrl, id } from "./value-shapes.ts";

const closeThread = object({ thread_id: id });
/** A thread was closed. The tool server can free what it holds for that thread. */
export type CloseThread = Read<typeof closeThread>;

/**
 * Parses the notice that a thread was closed.
 *
 * @example
 * const read = parseCloseThread(JSON.parse(body));
 * if (read.ok) release(read.value.thread_id);
 */
export function parseCloseThread(value: unknown): Parsed<CloseThread> {
  return parse(closeThread, value);
}

const cancelToolCall = object({ thread_id: id, tool_call_id: id });
/** The host no longer wants the result of a call, or the events of the subscription that the call started. */
export type CancelToolCall = Read<typeof cancelToolCall>;

/**
 * Parses the notice that a call or a subscription is cancelled.
 *
 * @example
 * const read = parseCancelToolCall(JSON.parse(body));
 * if (read.ok) abort(read.value.thread_id, read.value.tool_call_id);
 */
export function parseCancelToolCall(value: unknown): Parsed<CancelToolCall> {
  return parse(cancelToolCall, value);
}

const migrate = object({
  /** Id of the session's root thread. */
  session_id: id,
  /** Base URL of the tool server that takes over. */
  destination_url: httpUrl,
});
/** A session moves to another machine, and the tool server must move the data that it holds for the session. */
export type Migrate = Read<typeof migrate>;

/**
 * Parses the request to hand a session over to another tool server.
 *
 * @example
 * const read = parseMigrate(JSON.parse(body));
 * if (read.ok) await transfer(read.value.session_id, read.value.destination_url);
 */
export function parseMigrate(value: unknown): Parsed<Migrate> {
  return parse(migrate, value);
}

const userChoiceResponse = object({ id, selected: natural });
/** A user's answer to a choice. The host posts it to the `response_url` of the choice. */
export type UserChoiceResponse = Read<typeof userChoiceResponse>;

/**
 * Parses a user's answer to a choice. The caller must check that `selected` is an index of its choices.
 *
 * @example
 * const read = parseUserChoiceResponse(JSON.parse(body));
 * if (read.ok) answer(read.value.id, read.value.selected);
 */
export function parseUserChoiceResponse(value: unknown): Parsed<UserChoiceResponse> {
  return parse(userChoiceResponse, value);
}
