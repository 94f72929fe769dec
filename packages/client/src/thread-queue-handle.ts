import type { QueuedSubmission, UserInput } from "@bobbin/protocol";
import type { Bobbin } from "./bobbin.ts";
import { isLost } from "./connection/repeatable-request.ts";
import { uniqueId } from "./connection/unique-id.ts";
import type { FollowedThread } from "./followed-thread.ts";
import { inputOf } from "./run-turn.ts";

/**
 * Input that waits until the running turn has ended; each entry then becomes a turn of its own.
 *
 * @example
 * await thread.queue.add("And then run the tests");
 * console.log(thread.state.queue.length);
 */
export class ThreadQueueHandle {
  readonly #bobbin: Bobbin;
  readonly #thread: FollowedThread;

  constructor(bobbin: Bobbin, thread: FollowedThread) {
    this.#bobbin = bobbin;
    this.#thread = thread;
  }

  /**
   * Adds input at the end of the queue. Returns its id.
   *
   * @example
   * const id = await thread.queue.add("Now write the changelog");
   */
  async add(input: string | readonly UserInput[]): Promise<string> {
    const threadId = this.#thread.id;
    const clientUserMessageId = uniqueId();
    for (;;) {
      try {
        const params = { threadId, clientUserMessageId, input: inputOf(input) };
        return (await this.#bobbin.request("thread/queue/add", params)).queuedSubmission.id;
      } catch (cause) {
        if (!isLost(cause)) throw cause;
        // The host would add a repeated submission twice, so the client searches the queue before it sends one again.
        const known = await this.#find(clientUserMessageId);
        if (known !== undefined) return known;
      }
    }
  }

  /**
   * Replaces the input of an entry.
   *
   * @example
   * await thread.queue.update(id, "Rather write the README");
   */
  async update(id: string, input: string | readonly UserInput[]): Promise<void> {
    const params = { threadId: this.#thread.id, queuedSubmissionId: id, input: inputOf(input) };
    await this.#bobbin.request("thread/queue/update", params);
  }

  /**
   * Removes an entry. Returns false if it was not in the queue any more.
   *
   * @example
   * await thread.queue.remove(id);
   */
  async remove(id: string): Promise<boolean> {
    const params = { threadId: this.#thread.id, queuedSubmissionId: id };
    return (await this.#bobbin.request("thread/queue/delete", params)).deleted;
  }

  /**
   * Puts the entries in this order.
   *
   * @example
   * await thread.queue.reorder(thread.state.queue.map(({ id }) => id).reverse());
   */
  async reorder(ids: readonly string[]): Promise<void> {
    const params = { threadId: this.#thread.id, queuedSubmissionIds: [...ids] };
    await this.#bobbin.request("thread/queue/reorder", params);
  }

  /**
   * Starts a turn with the first entry, or with the entry `id`. After an interrupt, the queue waits for this call.
   *
   * @example
   * await thread.queue.start();
   */
  async start(id?: string): Promise<void> {
    const params = { threadId: this.#thread.id, ...(id !== undefined && { queuedSubmissionId: id }) };
    await this.#bobbin.request("thread/queue/start", params);
  }

  /** The ID of a submission that is in the queue or became a turn; undefined if the host did not receive it. */
  async #find(messageId: string): Promise<string | undefined> {
    const { data } = await this.#bobbin.request("thread/queue/list", { threadId: this.#thread.id });
    const waiting = data.find((one: QueuedSubmission) => one.clientUserMessageId === messageId);
    if (waiting !== undefined) return waiting.id;
    const { thread } = await this.#bobbin.request("thread/read", {
      threadId: this.#thread.id,
      includeTurns: true,
    });
    const items = thread.turns.flatMap((turn) => turn.items);
    return items.find((item) => item.type === "userMessage" && item.clientId === messageId)?.id;
  }
}
