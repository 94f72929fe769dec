import type { NotificationName } from "@bobbin/protocol";
import { Frame } from "@bobbin/rpc";
import { outputStart, SAVED_OUTPUT } from "../core/terminals/saved-output.ts";
import { type RunningText, type TextPart, textKey } from "../core/turn/texts.ts";
import type { Clock, Platform, Timers } from "../platform/platform.ts";
import { deltaMessages, type Subscription, type TextStream } from "./subscription.ts";

interface GrowingText extends TextStream {
  readonly part: TextPart | undefined;
  /** How much of its beginning was dropped; of most texts nothing ever is. */
  dropped: number;
  /** Set for the output of a command: only its end is kept, and it is saved less and less often. */
  readonly saves: { everyMs: number; at: number } | undefined;
  /** How much of it is in the journal. */
  saved: number;
  /** How much of it was sent to those who follow. */
  sent: number;
}

/** What one stream has grown by before another one did. */
interface Growth {
  readonly stream: GrowingText;
  readonly pieces: string[];
}

interface RunningItem {
  turnId: string;
  /** Its start was told, so its text may be. */
  told: boolean;
  /** Its end is decided: what comes later is not part of it. */
  frozen: boolean;
  /** By `textKey`. */
  readonly streams: Map<string, GrowingText>;
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
  /** What no one was sent yet, in the order in which it came. */
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

  /** No item runs. */
  get empty(): boolean {
    return this.#items.size === 0;
  }

  begin(turnId: string, itemId: string): void {
    this.#items.set(itemId, { turnId, told: false, frozen: false, streams: new Map() });
  }

  /** The item's start was told; its text may follow. */
  told(itemId: string): void {
    const item = this.#items.get(itemId);
    if (item === undefined) return;
    item.told = true;
    // The model may say nothing more for long: what came before the start was told must not wait for that.
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

  /** Sends what has grown; called at the end of a tick, and before anything durable is told. */
  flush(): void {
    this.#flushing = false;
    for (let first = this.#pending[0]; first !== undefined; first = this.#pending[0]) {
      // What comes behind the text of an item whose start is not told yet waits for that, too.
      if (this.#items.get(first.stream.itemId)?.told === false) return;
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

  /** Makes a subscriber live again that has all that is durable: one delta a stream with what it missed. */
  bringUp(subscription: Subscription): void {
    // Before it counts as live: what is pending is part of what it missed.
    this.flush();
    subscription.caughtUp();
    for (const { told, streams } of this.#items.values()) {
      if (!told) continue;
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

  /** What is not in the journal yet; it counts as saved from now on. */
  takeUnsaved(): readonly UnsavedText[] {
    const unsaved: UnsavedText[] = [];
    const now = this.#clock.now();
    for (const [itemId, item] of this.#items) {
      if (!item.told || item.frozen) continue;
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

  /** Whether there is text that is not in the journal, and may get there. */
  get hasUnsaved(): boolean {
    for (const { frozen, streams } of this.#items.values()) {
      if (frozen) continue;
      for (const stream of streams.values()) if (lengthOf(stream) > stream.saved) return true;
    }
    return false;
  }

  /** The running items' texts as clients have them or are about to, by `textKey`. */
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
    const told = { threadId: this.#threadId, ...params };
    const json = (name: NotificationName) => JSON.stringify({ method: name, params: told });
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

/** How long after one part of a command's output the next one is saved: at first, and at most. */
const FIRST_SAVE_MS = 1000;
const LAST_SAVE_MS = 60_000;

function saveLater(saves: { everyMs: number; at: number }, now: number): void {
  saves.everyMs = Math.min(LAST_SAVE_MS, saves.everyMs * 2);
  saves.at = now + saves.everyMs;
}

/** Twice as much as is kept may be there, so that not every piece is a copy of all of it. */
function dropBeginning(stream: GrowingText): void {
  if (stream.text.length <= 2 * SAVED_OUTPUT) return;
  const start = outputStart(stream.text);
  stream.text = stream.text.slice(start);
  stream.dropped += start;
}

/** How long it is in all. */
function lengthOf({ dropped, text }: GrowingText): number {
  return dropped + text.length;
}

interface UnsavedText {
  readonly turnId: string;
  readonly itemId: string;
  readonly part?: TextPart;
  readonly text: string;
}
