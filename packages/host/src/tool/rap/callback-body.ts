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

/** What was posted to the callback URL of a call. */
export type CallbackBody =
  /** `ignored`: what is wrong with a part that nothing depends on. */
  | { readonly kind: "message"; readonly message: CallbackMessage; readonly ignored: Problem | undefined }
  /** The result of the call, of which there will be no other, in a form that can not be read. */
  | { readonly kind: "unreadableResult"; readonly problem: Problem }
  | { readonly kind: "unreadable"; readonly problem: Problem }
  /** A message for another call. */
  | { readonly kind: "misplaced"; readonly type: CallbackMessage["type"] };

/** Reads the body of a callback. The subject is what its address is good for. */
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

/** The problem in words. */
export function problemText({ path, says }: Problem): string {
  return `${path === "" ? "it" : path} ${says}`;
}

/** An object that is JSON but out of the bounds of a message: nested too deep. */
function objectIn(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether it says that it is the result of the call, or says nothing else: the address is that of one call. */
function isResultOf({ type, group_id, id }: JsonObject, { threadId, callId }: CallbackSubject): boolean {
  const fits = (said: unknown, is: string): boolean => typeof said !== "string" || said === is;
  return type === "tool_result" && fits(group_id, threadId) && fits(id, callId);
}

/** The address says what it is good for; what is said in the message has to be the same. */
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
