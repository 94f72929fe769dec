import type { NotificationName } from "@bobbin/protocol";
import { Frame } from "@bobbin/rpc";
import { outputStart, SAVED_OUTPUT } from "../core/terminals/output-tail.ts";
import { type RunningText, type TextPart, textKey } from "../core/turn/item-texts.ts";
import type { Clock, Platform, Timers } from "../platform/platform.ts";
import { deltaMessages, type ItemText, type Subscription } from "./subscription.ts";

interface GrowingText extends ItemText {
  readonly part: TextPart | undefined;
  /** The number of characters dropped from the beginning; 0 for most texts. */
  dropped: number;
  /**
   * Set for the output of a command. Only the end of an output is kept in memory, and the interval between saves
   * grows.
   */
  readonly saves: { everyMs: number; at: number } | undefined;
  /** The length that was saved to the journal. */
  saved: number;
  /** The length that was sent to live subscribers. */
  sent: number;
}

/** Consecutive pieces of one text that were not sent yet. */
interface Growth {
  readonly stream: GrowingText;
  readonly pieces: string[];
}

interface RunningItem {
  turnId: string;
  /** Whether `item/started` was sent. Deltas must come after it. */
  isStartSent: boolean;
  /** Whether the item's end is decided. Later deltas are ignored. */
  frozen: boolean;
  /** By `textKey`. */
  readonly streams: Map<string, GrowingText>;
}

/**
 * The texts of a thread's running items. The deltas of one tick are encoded once, framed once, and written once to each
 * subscriber.
 */
export class TextStreams {
  readonly #threadId: string;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #subscriptions: Iterable<Subscription>;
  readonly #items = new Map<string, RunningItem>();
  /** Text that was not sent yet, in the order of arrival. */
  #pending: Growth[] = [];
  #flushing = false;

  constructor(
    threadId: string,
    { clock, timers }: Pick<Platform, "clock" | "timers">,
    subscriptions: Iterable<Subscription>,
  ) {
    this.#threadId = threadId;
    this.#clock = clock;
    this.#timers = timers;
    this.#subscriptions = subscriptions;
  }

  /** Whether no item is running. */
  get empty(): boolean {
    return this.#items.size === 0;
  }

  begin(turnId: string, itemId: string): void {
    this.#items.set(itemId, { turnId, isStartSent: false, frozen: false, streams: new Map() });
  }

  /** Called when `item/started` was sent. From now on the item's text may be sent. */
  startSent(itemId: string): void {
    const item = this.#items.get(itemId);
    if (item === undefined) return;
    item.isStartSent = true;
    // Text that is already pending must not wait for the next delta, which may come much later.
    if (this.#pending.length > 0) this.#flushSoon();
  }

  freeze(itemId: string): void {
    const item = this.#items.get(itemId);
    if (item !== undefined) item.frozen = true;
  }

  grow(text: RunningText, delta: string): void {
    const { itemId } = text.params;
    const item = this.#items.get(itemId);
    if (item === undefined || item.frozen || delta === "") return;
    const key = textKey(itemId, text.part);
    let stream = item.streams.get(key);
    if (stream === undefined) {
      stream = this.#stream(text);
      item.streams.set(key, stream);
    }
    stream.text += delta;
    if (stream.saves !== undefined) dropBeginning(stream);
    const last = this.#pending.at(-1);
    if (last?.stream === stream) last.pieces.push(delta);
    else this.#pending.push({ stream, pieces: [delta] });
    this.#flushSoon();
  }

  /** Sends pending text. Called at the end of a tick, and before each durable notification. */
  flush(): void {
    this.#flushing = false;
    for (let first = this.#pending[0]; first !== undefined; first = this.#pending[0]) {
      // Later text waits, too, until this item has started. Otherwise the order would change.
      if (this.#items.get(first.stream.itemId)?.isStartSent === false) return;
      this.#pending.shift();
      this.#send(first);
    }
  }

  #send({ stream, pieces }: Growth): void {
    const text = pieces.length === 1 ? pieces[0]! : pieces.join("");
    const delta = { stream, text, opens: stream.sent === 0 };
    stream.sent += text.length;
    const frame = new Frame(...deltaMessages(delta, pieces, this.#clock.now()));
    for (const subscription of this.#subscriptions) {
      if (!subscription.lagging) subscription.text(delta, stream.sent, frame);
    }
  }

  /**
   * Makes a subscriber live that has all durable notifications: sends it the missing text, as one delta per stream.
   */
  bringUp(subscription: Subscription): void {
    // Flushed first, because the subscriber also lacks the pending text.
    this.flush();
    subscription.caughtUp();
    for (const { isStartSent, streams } of this.#items.values()) {
      if (!isStartSent) continue;
      for (const stream of streams.values()) {
        const shown = Math.max(subscription.shown(stream), stream.dropped);
        const text = stream.text.slice(shown - stream.dropped);
        if (text === "") continue;
        const delta = { stream, text, opens: shown === 0 };
        const frame = new Frame(...deltaMessages(delta, [text], this.#clock.now()));
        subscription.text(delta, lengthOf(stream), frame);
      }
    }
  }

  /** Returns the text that is not in the journal yet, and marks it as saved. */
  takeUnsaved(): readonly UnsavedText[] {
    const unsaved: UnsavedText[] = [];
    const now = this.#clock.now();
    for (const [itemId, item] of this.#items) {
      if (!item.isStartSent || item.frozen) continue;
      for (const stream of item.streams.values()) {
        if (lengthOf(stream) === stream.saved || (stream.saves?.at ?? 0) > now) continue;
        const text = stream.text.slice(Math.max(0, stream.saved - stream.dropped));
        unsaved.push({ turnId: item.turnId, itemId, ...(stream.part && { part: stream.part }), text });
        stream.saved = lengthOf(stream);
        if (stream.saves !== undefined) saveLater(stream.saves, now);
      }
    }
    return unsaved;
  }

  /** Whether there is text that still has to be saved to the journal. */
  get hasUnsaved(): boolean {
    for (const { frozen, streams } of this.#items.values()) {
      if (frozen) continue;
      for (const stream of streams.values()) if (lengthOf(stream) > stream.saved) return true;
    }
    return false;
  }

  /** The texts of running items, as far as they have arrived, by `textKey`. */
  shown(): ReadonlyMap<string, string> {
    const shown = new Map<string, string>();
    for (const { streams } of this.#items.values()) {
      for (const [key, stream] of streams) shown.set(key, stream.text);
    }
    return shown;
  }

  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    this.#timers.soon(() => this.flush());
  }

  end(itemId: string): void {
    const item = this.#items.get(itemId);
    if (item === undefined) return;
    this.#items.delete(itemId);
    this.#pending = this.#pending.filter(({ stream }) => stream.itemId !== itemId);
    for (const stream of item.streams.values()) {
      for (const subscription of this.#subscriptions) subscription.ended(stream);
    }
  }

  #stream({ method, params, part, opening, isOutput }: RunningText): GrowingText {
    const sentParams = { threadId: this.#threadId, ...params };
    const json = (name: NotificationName) => JSON.stringify({ method: name, params: sentParams });
    return {
      itemId: params.itemId,
      method,
      head: `${json(method).slice(0, -2)},"delta":`,
      opening: opening && json(opening).slice(0, -1),
      text: "",
      part,
      dropped: 0,
      saves: isOutput ? { everyMs: FIRST_SAVE_MS, at: 0 } : undefined,
      saved: 0,
      sent: 0,
    };
  }
}

/** The interval between saves of a command's output: the first one, and the maximum. */
const FIRST_SAVE_MS = 1000;
const LAST_SAVE_MS = 60_000;

function saveLater(saves: { everyMs: number; at: number }, now: number): void {
  saves.everyMs = Math.min(LAST_SAVE_MS, saves.everyMs * 2);
  saves.at = now + saves.everyMs;
}

/**
 * Drops the beginning of a long output. Holds up to twice the limit, so that the text is not copied at every delta.
 */
function dropBeginning(stream: GrowingText): void {
  if (stream.text.length <= 2 * SAVED_OUTPUT) return;
  const start = outputStart(stream.text);
  stream.text = stream.text.slice(start);
  stream.dropped += start;
}

/** The length of the whole text, including its dropped beginning. */
function lengthOf({ dropped, text }: GrowingText): number {
  return dropped + text.length;
}

interface UnsavedText {
  readonly turnId: string;
  readonly itemId: string;
  readonly part?: TextPart;
  readonly text: string;
}
