import type { NotificationName } from "@bobbin/protocol";
import { Frame } from "@bobbin/rpc";
import type { Clock, Platform, Timers } from "../platform/platform.ts";
import { deltaMessage, type Subscription, type TextStream } from "./subscription.ts";

interface RunningItem {
  turnId: string;
  /** How much of the text is in the journal. */
  saved: number;
  /** Its start was told, so its text may be. */
  told: boolean;
  /** Its end is decided: what comes later is not part of it. */
  frozen: boolean;
  readonly streams: Map<NotificationName, TextStream>;
}

/**
 * The running items' texts of one thread. What grows in one tick is encoded once, framed once, and written
 * once to each subscriber, however many pieces it came in.
 */
export class TextStreams {
  readonly #threadId: string;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #subscriptions: Iterable<Subscription>;
  readonly #items = new Map<string, RunningItem>();
  /** Pieces that no one was sent yet, by stream. */
  readonly #pending = new Map<TextStream, string[]>();
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

  begin(turnId: string, itemId: string): void {
    this.#items.set(itemId, { turnId, saved: 0, told: false, frozen: false, streams: new Map() });
  }

  /** The item's start was told; its text may follow. */
  told(itemId: string): void {
    const item = this.#items.get(itemId);
    if (item === undefined) return;
    item.told = true;
    // The model may say nothing more for long: what came before the start was told must not wait for that.
    if (this.#pending.size > 0) this.#flushSoon();
  }

  freeze(itemId: string): void {
    const item = this.#items.get(itemId);
    if (item !== undefined) item.frozen = true;
  }

  grow(method: NotificationName, params: { readonly itemId: string }, delta: string): void {
    const item = this.#items.get(params.itemId);
    if (item === undefined || item.frozen || delta === "") return;
    let stream = item.streams.get(method);
    if (stream === undefined) {
      const json = JSON.stringify({ method, params: { threadId: this.#threadId, ...params } });
      stream = { itemId: params.itemId, method, head: `${json.slice(0, -2)},"delta":`, text: "" };
      item.streams.set(method, stream);
    }
    stream.text += delta;
    const pieces = this.#pending.get(stream);
    if (pieces === undefined) this.#pending.set(stream, [delta]);
    else pieces.push(delta);
    this.#flushSoon();
  }

  /** Sends what has grown; called at the end of a tick, and before anything durable is told. */
  flush(): void {
    this.#flushing = false;
    for (const [stream, pieces] of this.#pending) {
      if (this.#items.get(stream.itemId)?.told === false) continue;
      this.#pending.delete(stream);
      const at = this.#clock.now();
      const frame = new Frame(...pieces.map((text) => deltaMessage({ stream, text }, at)));
      const delta = { stream, text: pieces.length === 1 ? pieces[0]! : pieces.join("") };
      for (const subscription of this.#subscriptions) {
        if (!subscription.lagging) subscription.text(delta, stream.text.length, frame);
      }
    }
  }

  /** Makes a subscriber live again that has all that is durable: one delta a stream with what it missed. */
  bringUp(subscription: Subscription): void {
    // Before it counts as live: what is pending is part of what it missed.
    this.flush();
    subscription.caughtUp();
    for (const { told, streams } of this.#items.values()) {
      if (!told) continue;
      for (const stream of streams.values()) {
        const text = stream.text.slice(subscription.shown(stream));
        if (text !== "")
          subscription.text(
            { stream, text },
            stream.text.length,
            new Frame(deltaMessage({ stream, text }, this.#clock.now())),
          );
      }
    }
  }

  /** What is not in the journal yet; it counts as saved from now on. */
  takeUnsaved(): readonly { readonly turnId: string; readonly itemId: string; readonly text: string }[] {
    const unsaved: { turnId: string; itemId: string; text: string }[] = [];
    for (const [itemId, item] of this.#items) {
      if (!item.told || item.frozen) continue;
      for (const stream of item.streams.values()) {
        if (stream.text.length === item.saved) continue;
        unsaved.push({ turnId: item.turnId, itemId, text: stream.text.slice(item.saved) });
        item.saved = stream.text.length;
      }
    }
    return unsaved;
  }

  /** The running items' text as clients have it or are about to. */
  shown(): ReadonlyMap<string, string> {
    const shown = new Map<string, string>();
    for (const { streams } of this.#items.values()) {
      for (const stream of streams.values()) shown.set(stream.itemId, stream.text);
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
    for (const stream of item.streams.values()) {
      this.#pending.delete(stream);
      for (const subscription of this.#subscriptions) subscription.ended(stream);
    }
  }
}
