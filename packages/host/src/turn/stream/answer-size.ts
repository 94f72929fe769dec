import { limitFault } from "../../model/answer-limit-fault.ts";
import type { AnswerLimits } from "../../model/answer-limits.ts";
import type { ModelFault } from "../../model/faults.ts";
import type { ModelEvent, ModelStream } from "../../model/model.ts";

/** The minimum size that is counted per event, as a share of the limit, because even empty events use memory. */
const LEAST_SHARE = 1 / 1024;

/**
 * Yields the events of a model's answer, within its limits. Beyond a limit, the answer ends with a fault, and the
 * rest of the stream is not read. Before reading on, waits for `turn`: this thread's turn to use the event loop.
 */
export async function* withinLimits(
  stream: ModelStream,
  size: AnswerSize,
  turn: () => Promise<void> | undefined,
): ModelStream {
  for await (const events of stream) {
    const later = turn();
    if (later !== undefined) await later;
    const { taken, fault } = size.add(events);
    if (fault === undefined) yield events;
    else {
      yield [...events.slice(0, taken), fault.toEvent()];
      return;
    }
  }
}

/** Counts the size and the tool calls of one answer of a model. */
export class AnswerSize {
  readonly #limits: AnswerLimits;
  /** Tool calls that the turn made before this answer. */
  readonly #callsBefore: number;
  #bytes = 0;
  /** The bytes of items that have started and not ended, by item ID. */
  readonly #items = new Map<string, number>();
  /** The parts of reasoning items that have started. */
  readonly #parts = new Set<string>();
  /** Tool calls whose arguments have started to arrive. */
  readonly #begunCalls = new Set<string>();
  /** The number of complete tool calls. */
  #calls = 0;
  /** Bytes of arguments that were counted before their tool calls were complete. */
  #partialArguments = 0;
  #fault: ModelFault | undefined;

  constructor(limits: AnswerLimits, callsBefore: number) {
    this.#limits = limits;
    this.#callsBefore = callsBefore;
  }

  /** Counts events up to the first one that exceeds a limit. `taken`: the number of events before it. */
  add(events: readonly ModelEvent[]): { readonly taken: number; readonly fault?: ModelFault | undefined } {
    for (let taken = 0; taken < events.length; taken++) {
      this.#count(events[taken]!);
      const fault = this.#fault;
      if (fault !== undefined) return { taken, fault };
    }
    return { taken: events.length };
  }

  #count(event: ModelEvent): void {
    switch (event.type) {
      case "messageStarted":
      case "reasoningStarted":
      case "webSearchStarted":
        this.#items.set(event.itemId, 0);
        return this.#growAnswer(this.#least(this.#limits.answerBytes));
      case "messageDelta":
        return this.#grow(event.itemId, Buffer.byteLength(event.text));
      case "reasoningSummaryDelta":
      case "reasoningTextDelta":
        return this.#grow(event.itemId, Buffer.byteLength(event.text) + this.#part(event));
      case "hiddenDelta":
        return this.#growHidden(event);
      case "messageDone":
        return this.#end(event.itemId, Buffer.byteLength(event.text));
      case "reasoningDone": {
        const { summary, content, carry } = event;
        const hidden = typeof carry === "string" ? carry.length : 0;
        const parts = (summary.length + content.length) * this.#least(this.#limits.itemBytes);
        return this.#end(event.itemId, bytesOf(summary) + bytesOf(content) + hidden + parts);
      }
      case "webSearchDone":
        return this.#end(event.itemId, Buffer.byteLength(JSON.stringify([event.action, event.carry])));
      case "toolCall":
        return this.#call(bytesOf([event.call.name, event.call.arguments]));
      case "rateLimits":
      case "servedBy":
        return this.#growAnswer(this.#least(this.#limits.answerBytes));
      case "done":
      case "failed":
        return;
    }
  }

  #grow(itemId: string, bytes: number): void {
    const size = (this.#items.get(itemId) ?? 0) + bytes;
    this.#items.set(itemId, size);
    if (size > this.#limits.itemBytes) this.#exceed("itemBytes");
    this.#growAnswer(bytes);
  }

  #growAnswer(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.answerBytes) this.#exceed("answerBytes");
  }

  #growHidden({ itemId, of, text }: Extract<ModelEvent, { type: "hiddenDelta" }>): void {
    const bytes = Buffer.byteLength(text);
    if (of === "call") {
      this.#begunCalls.add(itemId);
      this.#checkCalls();
      this.#partialArguments += bytes;
    }
    this.#grow(itemId, bytes);
  }

  /** Counts a complete item, which may be larger than the sum of its deltas. */
  #end(itemId: string, bytes: number): void {
    const known = this.#items.get(itemId) ?? 0;
    if (bytes > known) this.#grow(itemId, bytes - known);
    this.#items.delete(itemId);
  }

  #call(bytes: number): void {
    this.#calls++;
    this.#checkCalls();
    if (bytes > this.#limits.itemBytes) this.#exceed("itemBytes");
    const known = Math.min(this.#partialArguments, bytes);
    this.#partialArguments -= known;
    this.#growAnswer(bytes - known);
  }

  #checkCalls(): void {
    const calls = Math.max(this.#calls, this.#begunCalls.size);
    if (calls > this.#limits.answerCalls) this.#exceed("answerCalls");
    else if (this.#callsBefore + calls > this.#limits.turnCalls) this.#exceed("turnCalls");
  }

  /** The bytes counted for a new part, so that many empty parts reach the limit too; 0 if the part is not new. */
  #part({ type, itemId, index }: { type: string; itemId: string; index: number }): number {
    const part = `${itemId} ${type} ${index}`;
    if (this.#parts.has(part)) return 0;
    this.#parts.add(part);
    return this.#least(this.#limits.itemBytes);
  }

  #exceed(limit: keyof AnswerLimits): void {
    this.#fault ??= limitFault(limit, this.#limits[limit]);
  }

  #least(limit: number): number {
    return Math.floor(limit * LEAST_SHARE);
  }
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0);
}
