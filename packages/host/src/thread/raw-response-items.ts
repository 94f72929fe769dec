import type { ContentItem, ResponseItem, ThreadItem, UserInput } from "@bobbin/protocol";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { Carry } from "../core/turn/records.ts";
import type { Clock } from "../platform/platform.ts";
import type { Actor } from "./actor.ts";
import { notificationFrame } from "./notification-frame.ts";
import type { CommittedThread, ThreadObserver } from "./observers.ts";
import type { Recipient } from "./subscription.ts";

const METHOD = "rawResponseItem/completed";

interface Follow {
  readonly recipients: Set<Recipient>;
  /** Ids of the running calls of freeform tools. Their outputs have a type of their own. */
  readonly custom: Set<string>;
}

/**
 * Sends the items of a thread's conversation in the format of the Responses API to the clients that started the thread
 * with `experimentalRawEvents`. They are not replayed: a client that connects again gets none.
 */
export class RawResponseItems implements ThreadObserver {
  readonly #clock: Pick<Clock, "now">;
  readonly #followed = new WeakMap<Actor, Follow>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  follow(actor: Actor, recipient: Recipient): void {
    const follow = this.#followed.get(actor) ?? { recipients: new Set(), custom: new Set() };
    follow.recipients.add(recipient);
    this.#followed.set(actor, follow);
  }

  committed({ records }: Commit, _state: ThreadState, { actor }: CommittedThread): void {
    const follow = actor && this.#followed.get(actor);
    if (actor === undefined || follow === undefined) return;
    for (const record of records) {
      const made = rawItem(record, follow.custom);
      if (made === undefined) continue;
      const frame = notificationFrame(METHOD, { threadId: actor.id, ...made }, this.#clock.now());
      for (const subscription of actor.subscriptions)
        if (follow.recipients.has(subscription.recipient)) subscription.unrecorded(METHOD, frame);
    }
  }
}

function rawItem(
  record: ThreadRecord,
  custom: Set<string>,
): { readonly turnId: string; readonly item: ResponseItem } | undefined {
  switch (record.type) {
    case "itemCompleted": {
      const item = ofThreadItem(record.item, record);
      return item && { turnId: record.turnId, item };
    }
    case "toolCalled": {
      const { callId: call_id, name, namespace, arguments: args, kind } = record.call;
      if (kind === "custom") custom.add(call_id);
      const item: ResponseItem =
        kind === "custom"
          ? { type: "custom_tool_call", call_id, name, input: args }
          : {
              ...{ type: "function_call", call_id, name, arguments: args },
              ...(namespace !== null && { namespace }),
            };
      return { turnId: record.turnId, item };
    }
    case "toolAnswered": {
      // Parts of a large output are in blobs of the thread, which this notification does not have.
      if (record.blobs !== undefined) return undefined;
      const { callId: call_id, output } = record;
      const type = custom.delete(call_id) ? "custom_tool_call_output" : "function_call_output";
      return { turnId: record.turnId, item: { type, call_id, output } };
    }
    default:
      return undefined;
  }
}

function ofThreadItem(
  item: ThreadItem,
  { said, carry }: { readonly said?: string | undefined; readonly carry?: Carry | undefined },
): ResponseItem | undefined {
  const { id } = item;
  switch (item.type) {
    case "userMessage":
      return { type: "message", role: "user", content: item.content.flatMap(ofInput) };
    case "agentMessage": {
      const content: ContentItem[] = [{ type: "output_text", text: said ?? item.text }];
      return {
        ...{ type: "message", id, role: "assistant", content },
        ...(item.phase !== null && { phase: item.phase }),
      };
    }
    case "reasoning":
      return {
        ...{ type: "reasoning", id },
        summary: item.summary.map((text) => ({ type: "summary_text", text })),
        encrypted_content: typeof carry?.data === "string" ? carry.data : null,
      };
    default:
      return undefined;
  }
}

function ofInput(input: UserInput): ContentItem[] {
  if (input.type === "text") return [{ type: "input_text", text: input.text }];
  return input.type === "image" && "url" in input ? [{ type: "input_image", image_url: input.url }] : [];
}
