import {
  type ClientInfo,
  type MethodName,
  type NotificationName,
  type NotificationParams,
  notifications,
  type Result,
} from "@bobbin/protocol";
import { type Encoded, Frame, jsonOf, type Link, type LinkEvents, MAX_MESSAGE_BYTES } from "@bobbin/rpc";
import { type Fault, fault } from "../errors.ts";
import type { Clock, Timers } from "../platform/platform.ts";
import { notificationFrame } from "../thread/notification-frame.ts";
import type { Outgoing, Recipient, Subscription } from "../thread/subscription.ts";
import type { Unfinished } from "../thread/unfinished.ts";
import { type Answer, type RequestId, readFrame } from "./frames.ts";
import type { LinkMeta } from "./listen/door.ts";
import { Outbox } from "./outbox.ts";

/** Requests of one connection that may be under way; past it they are told to come back later. */
const MAX_IN_FLIGHT = 1024;
/** How long a client has to take its last replies, and what of it to catch up if it is behind. */
const FLUSH_MS = 2000;
const CATCH_UP_MS = 1000;

const SOCKET_DELAY_MS = 30 * 60 * 1000;

type State =
  | { readonly kind: "new" }
  | { readonly kind: "ready"; readonly client: Client }
  /** No more requests are taken; those under way are answered. */
  | { readonly kind: "closing"; readonly client: Client | undefined }
  /** What it said of itself still counts: how long its threads stay, for one. */
  | { readonly kind: "closed"; readonly client: Client | undefined };

/** What a client said of itself in `initialize`. */
export interface Client {
  readonly info: ClientInfo;
  /** Whose threads those are that it starts. */
  readonly originator: string;
  readonly experimental: boolean;
  readonly optedOut: ReadonlySet<string>;
  readonly eventCursor: boolean;
  /** How long a thread stays loaded after this client left it, if it said so. */
  readonly unloadDelayMs: number | undefined;
}

export interface ConnectionPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Configured for everyone. */
  readonly unloadDelayMs: number | undefined;
  request(connection: Connection, id: RequestId, method: string, params: unknown): void;
  /** False if nothing was asked of it that this answers. */
  answer(connection: Connection, id: string | number, answer: Answer): boolean;
  closed(connection: Connection): void;
  debug(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** One client on one transport. */
export class Connection implements LinkEvents, Recipient {
  readonly meta: LinkMeta;
  readonly #link: Link;
  readonly #ports: ConnectionPorts;
  readonly #outbox: Outbox;
  #state: State = { kind: "new" };
  #inFlight = 0;
  #idle: (() => void) | undefined;

  constructor(link: Link, meta: LinkMeta, ports: ConnectionPorts) {
    this.meta = meta;
    this.#link = link;
    this.#ports = ports;
    this.#outbox = new Outbox(link, ports.clock, () => void this.#link.close("slow", 0));
  }

  get state(): State["kind"] {
    return this.#state.kind;
  }

  /** Undefined until `initialize`. */
  get client(): Client | undefined {
    return this.#state.kind === "new" ? undefined : this.#state.client;
  }

  initialize(client: Client): void {
    if (this.#state.kind !== "new") throw fault("alreadyInitialized");
    this.#state = { kind: "ready", client };
  }

  // What the wire tells.

  message(text: string): void {
    if (this.#state.kind === "closed") return;
    const frame = readFrame(text);
    switch (frame.kind) {
      case "request":
        return this.#request(frame.id, frame.method, frame.params);
      case "invalid":
        return this.#send(errorFrame(frame.id, frame.fault));
      case "notification":
        // `initialized` asks for nothing, and others are not known: nothing waits for an answer.
        return;
      case "response":
        if (!this.#ports.answer(this, frame.id, frame.answer)) {
          this.#ports.debug("answer to no request", { id: frame.id });
        }
        return;
    }
  }

  oversized(): void {
    this.#send(errorFrame({ json: "null" }, fault("messageTooLarge", MAX_MESSAGE_BYTES)));
  }

  undecodable(): void {
    this.#send(errorFrame({ json: "null" }, fault("malformedJson", "the message is not UTF-8 text")));
  }

  drained(): void {
    this.#outbox.drained();
  }

  closed(): void {
    this.#state = { kind: "closed", client: this.client };
    this.unfinished.stop();
    this.#outbox.close();
    this.#idle?.();
    this.#ports.closed(this);
  }

  // What threads tell.

  wants(method: NotificationName): boolean {
    if (this.client?.optedOut.has(method)) return false;
    return notifications[method].stability === "stable" || this.client?.experimental === true;
  }

  get wantsCursors(): boolean {
    return this.client?.eventCursor ?? false;
  }

  /** A client on stdio that leaves is the last one; one on a socket may come back. */
  get unloadDelayMs(): number {
    const normally = this.meta.transport === "stdio" ? 0 : SOCKET_DELAY_MS;
    return this.client?.unloadDelayMs ?? this.#ports.unloadDelayMs ?? normally;
  }

  /** Tells this client alone. */
  notify<N extends NotificationName>(method: N, params: NotificationParams<N>): void {
    if (this.wants(method)) this.#send(notificationFrame(method, params, this.#ports.clock.now()));
  }

  /** Resolves when the client has read what it was sent, or is gone; undefined if it has. For what can wait. */
  room(): Promise<void> | undefined {
    return this.#outbox.room();
  }

  get congested(): boolean {
    return this.#outbox.congested;
  }

  deliver(subscription: Subscription, outgoing: Outgoing): void {
    if (this.#state.kind !== "closed") this.#outbox.thread(subscription, outgoing);
  }

  get unfinished(): Unfinished {
    return this.#outbox.unfinished;
  }

  waitForRoom(subscription: Subscription): void {
    this.#outbox.waitForRoom(subscription);
  }

  /** For what everyone is told of a thread. */
  notice(threadId: string, method: NotificationName, frame: Frame): void {
    if (this.client !== undefined && this.wants(method)) this.#outbox.notice({ threadId, method, frame });
  }

  // Replies.

  /** Throws if it would be too large: then nothing was sent. */
  reply<M extends MethodName>(id: RequestId, result: Result<M> | Encoded<Result<M>>): void {
    const json = `{"id":${id.json},"result":${jsonOf(result)}}`;
    // A UTF-16 unit takes at most three bytes as UTF-8, so a text below a third of the limit need not be measured.
    if (json.length * 3 > MAX_MESSAGE_BYTES && Buffer.byteLength(json) > MAX_MESSAGE_BYTES) {
      throw fault("replyTooLarge", MAX_MESSAGE_BYTES);
    }
    this.#send(new Frame(json));
    this.#answered();
  }

  refuse(id: RequestId, why: Fault): void {
    this.#send(errorFrame(id, why));
    this.#answered();
  }

  /** Takes no more requests. */
  leave(): void {
    if (this.#state.kind !== "closed") this.#state = { kind: "closing", client: this.client };
  }

  /** Resolves when no request is under way, or nobody is left to answer. */
  async answered(): Promise<void> {
    if (this.#state.kind === "closed" || this.#inFlight === 0) return;
    await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  /** Waits for the requests under way, writes everything out, and ends the wire. */
  async close(): Promise<void> {
    this.leave();
    await this.answered();
    const { clock, timers } = this.#ports;
    const begun = clock.monotonic();
    // Its threads are closed by now, but it may be in the middle of a replay.
    await new Promise<void>((done) => {
      const cancel = timers.after(CATCH_UP_MS, done);
      this.unfinished.heard(() => {
        cancel();
        done();
      });
    });
    // Asked again: it may have gone meanwhile.
    if (this.state === "closed") return;
    this.#outbox.flush();
    await this.#link.close("shutdown", FLUSH_MS - (clock.monotonic() - begun));
  }

  #request(id: RequestId, method: string, params: unknown): void {
    if (this.#state.kind === "closing") return this.#send(errorFrame(id, fault("shuttingDown")));
    if (this.#inFlight >= MAX_IN_FLIGHT) return this.#send(errorFrame(id, fault("overloaded")));
    this.#inFlight++;
    this.#ports.request(this, id, method, params);
  }

  #answered(): void {
    if (--this.#inFlight === 0) this.#idle?.();
  }

  #send(frame: Frame): void {
    if (this.#state.kind !== "closed") this.#outbox.reply(frame);
  }
}

function errorFrame(id: RequestId, why: Fault): Frame {
  return new Frame(`{"error":${JSON.stringify(why.toWire())},"id":${id.json}}`);
}
