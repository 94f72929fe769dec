import type { NotificationName } from "@bobbin/protocol";
import { Frame } from "@bobbin/rpc";
import type { Clock, Platform, Timers } from "../platform/platform.ts";
import { deltaMessage, type Subscription, type TextStream } from "./subscription.ts";

/** `held`: its start is not told yet. `frozen`: its end is decided, what comes later is not part of it. */
interface RunningItem {
  phase: "held" | "told" | "frozen";
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
  readonly #subscriptions: () => Iterable<Subscription>;
  readonly #items = new Map<string, RunningItem>();
  /** Pieces that no one was sent yet, by stream. */
  readonly #pending = new Map<TextStream, string[]>();
  #flushing = false;

  constructor(
    threadId: string,
    { clock, timers }: Pick<Platform, "clock" | "timers">,
    subscriptions: () => Iterable<Subscription>,
  ) {
    this.#threadId = threadId;
    this.#clock = clock;
    this.#timers = timers;
    this.#subscriptions = subscriptions;
  }

  begin(itemId: string): void {
    this.#items.set(itemId, { phase: "held", streams: new Map() });
  }

  /** The item's start was told; its text may follow. */
  told(itemId: string): void {
    const item = this.#items.get(itemId);
    if (item?.phase === "held") item.phase = "told";
  }

  freeze(itemId: string): void {
    const item = this.#items.get(itemId);
    if (item !== undefined) item.phase = "frozen";
  }

  grow(method: NotificationName, params: { readonly itemId: string }, delta: string): void {
    const item = this.#items.get(params.itemId);
    if (item === undefined || item.phase === "frozen" || delta === "") return;
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
    if (this.#flushing) return;
    this.#flushing = true;
    this.#timers.soon(() => this.flush());
  }

  /** Sends what has grown; called at the end of a tick, and before anything durable is told. */
  flush(): void {
    this.#flushing = false;
    for (const [stream, pieces] of this.#pending) {
      if (this.#items.get(stream.itemId)?.phase === "held") continue;
      this.#pending.delete(stream);
      const at = this.#clock.now();
      const frame = new Frame(...pieces.map((text) => deltaMessage({ stream, text }, at)));
      const delta = { stream, text: pieces.length === 1 ? pieces[0]! : pieces.join("") };
      for (const subscription of this.#subscriptions()) {
        if (!subscription.lagging) subscription.text(delta, stream.text.length, frame);
      }
    }
  }

  /** One delta a stream with what a subscriber missed. */
  bringUp(subscription: Subscription): void {
    for (const { phase, streams } of this.#items.values()) {
      if (phase === "held") continue;
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

  /** The running items' text as clients have it or are about to. */
  shown(): ReadonlyMap<string, string> {
    const shown = new Map<string, string>();
    for (const { streams } of this.#items.values()) {
      for (const stream of streams.values()) shown.set(stream.itemId, stream.text);
    }
    return shown;
  }

  end(itemId: string): void {
    const item = this.#items.get(itemId);
    if (item === undefined) return;
    this.#items.delete(itemId);
    for (const stream of item.streams.values()) {
      this.#pending.delete(stream);
      for (const subscription of this.#subscriptions()) subscription.ended(stream);
    }
  }
}
