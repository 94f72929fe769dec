// What a host tells a tool server beside calls.
import { natural, object, type Parsed, parse, type Read } from "./shape.ts";
import { httpUrl, id } from "./values.ts";

const closeThread = object({ thread_id: id });
/** A thread was closed: what was kept for it can go. */
export type CloseThread = Read<typeof closeThread>;

/**
 * Reads the notice that a thread was closed.
 *
 * @example
 * const read = parseCloseThread(JSON.parse(body));
 * if (read.ok) release(read.value.thread_id);
 */
export function parseCloseThread(value: unknown): Parsed<CloseThread> {
  return parse(closeThread, value);
}

const cancelToolCall = object({ thread_id: id, tool_call_id: id });
/** Nobody waits for a call any more, or for the events of a subscription. */
export type CancelToolCall = Read<typeof cancelToolCall>;

/**
 * Reads the notice that nobody waits for a call any more.
 *
 * @example
 * const read = parseCancelToolCall(JSON.parse(body));
 * if (read.ok) abort(read.value.thread_id, read.value.tool_call_id);
 */
export function parseCancelToolCall(value: unknown): Parsed<CancelToolCall> {
  return parse(cancelToolCall, value);
}

const migrate = object({
  /** The root thread. */
  session_id: id,
  /** The base URL of the server that takes over. */
  destination_url: httpUrl,
});
/** A session moves to another machine, and what is kept for it has to go along. */
export type Migrate = Read<typeof migrate>;

/**
 * Reads the request to hand a session over to another server.
 *
 * @example
 * const read = parseMigrate(JSON.parse(body));
 * if (read.ok) await transfer(read.value.session_id, read.value.destination_url);
 */
export function parseMigrate(value: unknown): Parsed<Migrate> {
  return parse(migrate, value);
}

const userChoiceResponse = object({ id, selected: natural });
/** What a user chose; posted to the `response_url` of the choice. */
export type UserChoiceResponse = Read<typeof userChoiceResponse>;

/**
 * Reads what a user chose. Whether there is a choice of that index, only the one who asked knows.
 *
 * @example
 * const read = parseUserChoiceResponse(JSON.parse(body));
 * if (read.ok) answer(read.value.id, read.value.selected);
 */
export function parseUserChoiceResponse(value: unknown): Parsed<UserChoiceResponse> {
  return parse(userChoiceResponse, value);
}
