import type { ThreadTokenUsage, UserInput } from "@bobbin/protocol";
import { image, type SessionEvent } from "../session/session-events.ts";
import { textAt, timeOf } from "../session/session-line-fields.ts";
import { isObject, type JsonObject } from "../text-files.ts";
import { itemEvents, localImage, usageOf, userContent } from "./codex-items.ts";
import { bareType } from "./codex-session-head.ts";

/** Converts the lines of a rollout (a session file of the Codex CLI) to events, for all versions of the format. */
export async function* codexEvents(
  lines: AsyncIterable<JsonObject | undefined>,
  { startedAt }: { readonly startedAt: number },
  name: string | null,
): AsyncGenerator<SessionEvent> {
  if (name !== null) yield { kind: "name", name };
  const reading = new Rollout(startedAt);
  for await (const line of lines) if (line !== undefined) yield* reading.take(line);
  yield* reading.rest();
}

class Rollout {
  #at: number;
  /**
   * Whether the file marks the user's own messages. If not, context that the program added in the role of the user
   * looks the same.
   */
  #tellsUsers = false;
  /** A message in the role of the user that may be the user's own. */
  #candidate: readonly UserInput[] | undefined;
  #lastSaid = "";
  #usage: ThreadTokenUsage | undefined;

  constructor(at: number) {
    this.#at = at;
  }

  *take(line: JsonObject): Generator<SessionEvent> {
    this.#at = timeOf(line["timestamp"]) ?? this.#at;
    const at = this.#at;
    const enveloped = isObject(line["payload"]);
    const payload = enveloped ? (line["payload"] as JsonObject) : line;
    switch (enveloped ? line["type"] : bareType(line)) {
      case "response_item":
        yield* this.#item(payload);
        break;
      case "event_msg":
        yield* this.#event(payload);
        break;
      case "compacted": {
        const summary = textAt(payload, "message")?.trim() ?? "";
        // An encrypted summary cannot be used, so the history stays as it is.
        if (summary !== "") yield { kind: "compacted", at, summary };
        break;
      }
    }
  }

  *rest(): Generator<SessionEvent> {
    yield* this.#ownWords();
    yield* this.#spent();
  }

  *#item(item: JsonObject): Generator<SessionEvent> {
    if (item["type"] === "message" && item["role"] === "user") {
      const content = userContent(item["content"]);
      if (content.length > 0 && textOf(content) !== this.#lastSaid) {
        yield* this.#ownWords();
        this.#candidate = content;
      }
      return;
    }
    const events = itemEvents(item, this.#at);
    if (events.length > 0) yield* this.#ownWords();
    yield* events;
  }

  /** Yields the candidate as a user message, if the file does not mark user messages. */
  *#ownWords(): Generator<SessionEvent> {
    const content = this.#candidate;
    this.#candidate = undefined;
    if (content !== undefined && !this.#tellsUsers) yield { kind: "user", at: this.#at, content };
  }

  *#user(content: readonly UserInput[]): Generator<SessionEvent> {
    this.#tellsUsers = true;
    this.#candidate = undefined;
    this.#lastSaid = textOf(content);
    if (content.length > 0) yield { kind: "user", at: this.#at, content };
  }

  *#event(event: JsonObject): Generator<SessionEvent> {
    const at = this.#at;
    switch (event["type"]) {
      case "task_started":
      case "turn_started":
        yield { kind: "turn", at, turnId: textAt(event, "turn_id") };
        break;
      case "user_message":
        yield* this.#user(saidIn(event));
        break;
      case "item_completed": {
        const item = isObject(event["item"]) ? event["item"] : {};
        if (item["type"] === "UserMessage") yield* this.#user(userContent(item["content"]));
        break;
      }
      case "token_count":
        this.#usage = usageOf(event["info"]) ?? this.#usage;
        break;
      case "task_complete":
      case "turn_complete":
        yield* this.#spent();
        yield { kind: "end", at, status: "completed" };
        break;
      case "turn_aborted":
        yield* this.#spent();
        yield { kind: "end", at, status: "interrupted" };
        break;
      case "thread_rolled_back": {
        const turns = event["num_turns"];
        if (typeof turns === "number" && turns > 0) yield { kind: "dropped", at, turns };
        break;
      }
      case "thread_name_updated": {
        const name = textAt(event, "thread_name")?.trim();
        if (name) yield { kind: "name", name };
        break;
      }
    }
  }

  *#spent(): Generator<SessionEvent> {
    if (this.#usage !== undefined) yield { kind: "usage", at: this.#at, usage: this.#usage };
    this.#usage = undefined;
  }
}

function textOf(content: readonly UserInput[]): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

function saidIn(event: JsonObject): readonly UserInput[] {
  const text = textAt(event, "message") ?? "";
  const images = (key: string): readonly string[] => {
    const all = event[key];
    return Array.isArray(all) ? all.filter((one): one is string => typeof one === "string") : [];
  };
  return [
    ...(text.trim() === "" ? [] : [{ type: "text" as const, text, text_elements: [] }]),
    ...images("images").map(image),
    ...images("local_images").map(localImage),
  ];
}
