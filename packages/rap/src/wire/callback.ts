import { type ContentItem, contentItems, type DisplaySegment, displaySegments } from "./content.ts";
import { LIMITS } from "./limits.ts";
import {
  exactly,
  flag,
  isObject,
  list,
  mismatch,
  natural,
  object,
  orElse,
  type Parsed,
  parse,
  type Read,
  type Shape,
  text,
} from "./shape.ts";
import { anyObject, httpUrl, id, url } from "./values.ts";

/** The outcome of a call, good or bad. It has a text, or content, or both; then content is what the model gets. */
export interface ToolResult {
  readonly type: "tool_result";
  readonly group_id: string;
  readonly id: string;
  readonly call_id: string | null;
  readonly text?: string;
  readonly content?: readonly ContentItem[];
  /** How people may be shown it. A hint: what can not be read of it is left out, and does not spoil the result. */
  readonly display_as?: readonly DisplaySegment[];
  /** The call has begun a subscription. */
  readonly subscription: boolean;
}

const resultFields = object({
  type: exactly("tool_result"),
  group_id: id,
  id,
  call_id: orElse(id, null),
  text: orElse(text(), undefined),
  content: orElse(contentItems, undefined),
  display_as: displaySegments,
  subscription: orElse(flag, false),
});

const toolResult: Shape<ToolResult> = (value, path) => {
  const result = resultFields(value, path);
  if (result.text === undefined && result.content === undefined)
    return mismatch("text", "must be there, or content");
  return result;
};

const subscriptionEvent = object({
  type: exactly("subscription_event"),
  group_id: id,
  /** The `id` of the call that subscribed. */
  tool_call_id: id,
  text: text(),
  /** Into the thread that subscribed; else into a child of it. */
  associative: orElse(flag, false),
  final: orElse(flag, false),
});
export type SubscriptionEvent = Read<typeof subscriptionEvent>;

const oauth = object({
  type: exactly("oauth"),
  group_id: id,
  id,
  call_id: orElse(id, null),
  /** A user's browser goes there: never over an open line, never to a script. */
  auth_url: url("https:"),
});
export type OAuth = Read<typeof oauth>;

const choiceFields = object({
  type: exactly("user_choice"),
  group_id: id,
  id,
  call_id: orElse(id, null),
  prompt: text({ min: 1, max: LIMITS.prompt }),
  choices: list(text({ min: 1, max: LIMITS.choice }), { min: 1, max: LIMITS.choices }),
  /** The index that counts when the user chooses nothing. */
  default: natural,
  response_url: httpUrl,
});
export type UserChoice = Read<typeof choiceFields>;

const userChoice: Shape<UserChoice> = (value, path) => {
  const choice = choiceFields(value, path);
  if (choice.default >= choice.choices.length) return mismatch("default", "must be an index of choices");
  return choice;
};

const viewUpdate = object({
  type: exactly("view_update"),
  group_id: id,
  view_type: text({ min: 1, max: LIMITS.name }),
  /** Nobody between the tool and the client looks into it. An empty object clears the view. */
  content: anyObject,
});
export type ViewUpdate = Read<typeof viewUpdate>;

/** What a tool server posts to a callback URL. */
export type CallbackMessage = ToolResult | SubscriptionEvent | OAuth | UserChoice | ViewUpdate;

const BY_TYPE: { readonly [T in CallbackMessage["type"]]: Shape<Extract<CallbackMessage, { type: T }>> } = {
  tool_result: toolResult,
  subscription_event: subscriptionEvent,
  oauth,
  user_choice: userChoice,
  view_update: viewUpdate,
};

const callback: Shape<CallbackMessage> = (value, path) => {
  if (!isObject(value)) return mismatch(path, "must be an object");
  const { type } = value;
  if (typeof type !== "string" || !Object.hasOwn(BY_TYPE, type))
    return mismatch("type", `must be one of ${Object.keys(BY_TYPE).join(", ")}`);
  return BY_TYPE[type as CallbackMessage["type"]](value, path);
};

/**
 * Reads what was posted to a callback URL.
 *
 * @example
 * const read = parseCallback(JSON.parse(body));
 * if (read.ok && read.value.type === "tool_result") settle(read.value.id, read.value.text);
 */
export function parseCallback(value: unknown): Parsed<CallbackMessage> {
  return parse(callback, value);
}

/**
 * Reads the header with which a sender says that two messages are one. Undefined if there is none, or none that can
 * be used.
 *
 * @example
 * const key = parseIdempotencyKey(request.headers.get(IDEMPOTENCY_KEY));
 */
export function parseIdempotencyKey(header: string | null | undefined): string | undefined {
  if (header === null || header === undefined) return undefined;
  return header.length <= LIMITS.idempotencyKey && /^[\x21-\x7e]+$/.test(header) ? header : undefined;
}
