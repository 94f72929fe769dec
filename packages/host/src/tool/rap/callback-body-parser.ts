import type { CallbackSubject } from "@bobbin/rap/runtime";
import {
  type CallbackMessage,
  displayProblem,
  isObject,
  type JsonObject,
  type Problem,
  parseCallback,
  parseJson,
} from "@bobbin/rap/wire";

/** The parsed body of a callback. */
export type CallbackBody =
  /** `ignored`: what is wrong with an optional part, which was dropped. */
  | { readonly kind: "message"; readonly message: CallbackMessage; readonly ignored: Problem | undefined }
  /** The body claims to be the call's result, but cannot be parsed. No other result will come. */
  | { readonly kind: "unreadableResult"; readonly problem: Problem }
  | { readonly kind: "unreadable"; readonly problem: Problem }
  /** The message is about another thread or call than the URL was issued for. */
  | { readonly kind: "misplaced"; readonly type: CallbackMessage["type"] };

/** Parses the body of a callback. `subject`: the thread and call that the callback URL was signed for. */
export function readCallbackBody(bytes: Uint8Array, subject: CallbackSubject): CallbackBody {
  const json = parseJson(bytes);
  const read = json.ok ? parseCallback(json.value) : json;
  if (!read.ok) {
    const { problem } = read;
    const value = json.ok ? json.value : objectIn(bytes);
    const isResult = value !== undefined && isResultOf(value, subject);
    return { kind: isResult ? "unreadableResult" : "unreadable", problem };
  }
  const { value: message } = read;
  if (!isAbout(message, subject)) return { kind: "misplaced", type: message.type };
  const ignored =
    message.type === "tool_result" && json.ok ? displayProblem(json.value["display_as"]) : undefined;
  return { kind: "message", message, ignored };
}

/** The problem as a phrase. */
export function problemText({ path, says }: Problem): string {
  return `${path === "" ? "it" : path} ${says}`;
}

/** Parses JSON without the limits on messages (such as nesting), to recognize a result that exceeds them. */
function objectIn(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the body claims to be the result of this call. Missing IDs count as a match, because the URL belongs to one
 * call only.
 */
function isResultOf({ type, group_id, id }: JsonObject, { threadId, callId }: CallbackSubject): boolean {
  const fits = (value: unknown, is: string): boolean => typeof value !== "string" || value === is;
  return type === "tool_result" && fits(group_id, threadId) && fits(id, callId);
}

/** Whether the IDs in the message are those that the callback URL was signed for. */
function isAbout(message: CallbackMessage, { threadId, callId }: CallbackSubject): boolean {
  if (message.group_id !== threadId) return false;
  switch (message.type) {
    case "view_update":
      return true;
    case "subscription_event":
      return message.tool_call_id === callId;
    default:
      return message.id === callId;
  }
}
