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
import { anyObject, httpUrl, id, url } from "./value-shapes.ts";

/**
 * The outcome of a call, success or failure. It has a text, or content, or both. If it has both, the model gets the
 * content.
 */
export interface ToolResult {
  /** Tells results from other messages. */
  readonly type: "tool_result";
  /** The thread of the call. */
  readonly group_id: string;
  /** The id of the call, which the host made. */
  readonly id: string;
  /** The id that the model gave to the call. */
  readonly call_id: string | null;
  /** The result as text. */
  readonly text?: string;
  /** The result as text and images. */
  readonly content?: readonly ContentItem[];
  /** How to show the result to people, best form first. Only a hint: segments that cannot be parsed are dropped. */
  readonly display_as?: readonly DisplaySegment[];
  /** Whether the call started a subscription, whose events follow. */
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
    return mismatch("text", "is required unless content is present");
  return result;
};

const subscriptionEvent = object({
  type: exactly("subscription_event"),
  group_id: id,
  /** `id` of the call that started the subscription. */
  tool_call_id: id,
  text: text(),
  /** True: the event goes into the thread that subscribed. False: into a child of that thread. */
  associative: orElse(flag, false),
  final: orElse(flag, false),
});
/** An event of a subscription that an earlier call started. */
export type SubscriptionEvent = Read<typeof subscriptionEvent>;

const oauth = object({
  type: exactly("oauth"),
  group_id: id,
  id,
  call_id: orElse(id, null),
  /** The page that a user's browser opens. Must be https, so that it is encrypted and cannot be a `javascript:` URL. */
  auth_url: url("https:"),
});
/** Asks for a user's authorization at another service. */
export type OAuth = Read<typeof oauth>;

const choiceFields = object({
  type: exactly("user_choice"),
  group_id: id,
  id,
  call_id: orElse(id, null),
  prompt: text({ min: 1, max: LIMITS.prompt }),
  choices: list(text({ min: 1, max: LIMITS.choice }), { min: 1, max: LIMITS.choices }),
  /** Index of the choice that applies if the user makes none. */
  default: natural,
  response_url: httpUrl,
});
/** Asks the user to choose. */
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
  /** Passed through to the client unread. An empty object clears the view. */
  content: anyObject,
});
/** Content that is shown beside the conversation. */
export type ViewUpdate = Read<typeof viewUpdate>;

/** Any message that a tool server posts to a callback URL. */
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
 * Parses a message that was posted to a callback URL.
 *
 * @example
 * const read = parseCallback(JSON.parse(body));
 * if (read.ok && read.value.type === "tool_result") settle(read.value.id, read.value.text);
 */
export function parseCallback(value: unknown): Parsed<CallbackMessage> {
  return parse(callback, value);
}

/**
 * Parses the `Idempotency-Key` header, by which a receiver recognizes a message that was sent twice. Undefined if the
 * header is absent, too long, or not printable ASCII.
 *
 * @example
 * const key = parseIdempotencyKey(request.headers.get(IDEMPOTENCY_KEY));
 */
export function parseIdempotencyKey(header: string | null | undefined): string | undefined {
  if (header === null || header === undefined) return undefined;
  return header.length <= LIMITS.idempotencyKey && /^[\x21-\x7e]+$/.test(header) ? header : undefined;
}
