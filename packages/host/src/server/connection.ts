import {
  type ClientInfo,
  type MethodName,
  type NotificationName,
  type NotificationParams,
  notifications,
  type Result,
  type ServerRequestName,
  type ServerRequestParams,
} from "@bobbin/protocol";
import { type Encoded, Frame, jsonOf, type Link, type LinkEvents, MAX_MESSAGE_BYTES } from "@bobbin/rpc";
import { type Fault, fault } from "../errors.ts";
import type { Clock, Timers } from "../platform/platform.ts";
import { notificationFrame } from "../thread/notification-frame.ts";
import type { Outgoing, Recipient, Subscription } from "../thread/subscription.ts";
import type { UndeliveredSubscriptions } from "../thread/undelivered-subscriptions.ts";
import { type Answer, type RequestId, readFrame } from "./incoming-frames.ts";
import type { LinkMeta } from "./listen/listener.ts";
import { Outbox } from "./outbox.ts";

/** Limit on the requests in progress per connection. Further requests are refused as `overloaded`. */
const MAX_IN_FLIGHT = 1024;
/** How long closing a connection may take: in all, and until a lagging client has caught up. */
const FLUSH_MS = 2000;
const CATCH_UP_MS = 1000;

/**
 * How long a thread stays loaded after its last client on a socket has disconnected, because the client may
 * reconnect.
 */
const SOCKET_DELAY_MS = 30 * 60 * 1000;

type State =
  | { readonly kind: "new" }
  | { readonly kind: "ready"; readonly client: Client }
  /** The connection accepts no more requests, and answers those in progress. */
  | { readonly kind: "closing"; readonly client: Client | undefined }
  /** The client's capabilities still apply, for example how long its threads stay loaded. */
  | { readonly kind: "closed"; readonly client: Client | undefined };

/** A client's name and capabilities from `initialize`. */
export interface Client {
  readonly info: ClientInfo;
  /** The client name that threads started by this client are listed under. */
  readonly originator: string;
  readonly experimental: boolean;
  readonly optedOut: ReadonlySet<string>;
  readonly eventCursor: boolean;
  /** How long a thread stays loaded after this client has left it; undefined for the default. */
  readonly unloadDelayMs: number | undefined;
}

export interface ConnectionPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** The configured unload delay, for clients that name none. */
  readonly unloadDelayMs: number | undefined;
  request(connection: Connection, id: RequestId, method: string, params: unknown): void;
  /** False if the answer belongs to no open question. */
  answer(connection: Connection, id: string | number, answer: Answer): boolean;
  closed(connection: Connection): void;
  /** Called when `initialize` was accepted. */
  initialized(connection: Connection, client: Client): void;
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
    this.#ports.initialized(this, client);
  }

  // Events of the link (LinkEvents).

  message(text: string): void {
    if (this.#state.kind === "closed") return;
    const frame = readFrame(text);
    switch (frame.kind) {
      case "request":
        return this.#request(frame.id, frame.method, frame.params);
      case "invalid":
        return this.#send(errorFrame(frame.id, frame.fault));
      case "notification":
        // `initialized` needs no reaction, and no other notification is known.
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
    this.undelivered.stop();
    this.#outbox.close();
    this.#idle?.();
    this.#ports.closed(this);
  }

  // Notifications from threads (Recipient).

  wants(method: NotificationName): boolean {
    if (this.client?.optedOut.has(method)) return false;
    return notifications[method].stability === "stable" || this.client?.experimental === true;
  }

  get wantsCursors(): boolean {
    return this.client?.eventCursor ?? false;
  }

  get isExperimental(): boolean {
    return this.client?.experimental ?? false;
  }

  /**
   * Threads of a client on stdio are unloaded at once, because no other client can connect. A client on a socket may
   * reconnect.
   */
  get unloadDelayMs(): number {
    const normally = this.meta.transport === "stdio" ? 0 : SOCKET_DELAY_MS;
    return this.client?.unloadDelayMs ?? this.#ports.unloadDelayMs ?? normally;
  }

  /** Sends a notification to this client only. */
  notify<N extends NotificationName>(method: N, params: NotificationParams<N>): void {
    if (this.wants(method)) this.#send(notificationFrame(method, params, this.#ports.clock.now()));
  }

  /** Sends a server request to this client only. The answer arrives through `ports.answer`. */
  ask<N extends ServerRequestName>(id: number, method: N, params: ServerRequestParams<N>): void {
    this.#send(new Frame(JSON.stringify({ id, method, params })));
  }

  /**
   * Resolves when the client has read everything sent, or has disconnected; undefined if nothing is unread. For
   * messages that are not urgent.
   */
  room(): Promise<void> | undefined {
    return this.#outbox.room();
  }

  get congested(): boolean {
    return this.#outbox.congested;
  }

  deliver(subscription: Subscription, outgoing: Outgoing): void {
    if (this.#state.kind !== "closed") this.#outbox.thread(subscription, outgoing);
  }

  get undelivered(): UndeliveredSubscriptions {
    return this.#outbox.undelivered;
  }

  waitForRoom(subscription: Subscription): void {
    this.#outbox.waitForRoom(subscription);
  }

  /** Sends a notification about a thread that goes to all connections. */
  notice(threadId: string, method: NotificationName, frame: Frame): void {
    if (this.client !== undefined && this.wants(method)) this.#outbox.notice({ threadId, method, frame });
  }

  // Replies.

  /** Throws, and sends nothing, if the reply is too large. */
  reply<M extends MethodName>(id: RequestId, result: Result<M> | Encoded<Result<M>>): void {
    const json = `{"id":${id.json},"result":${jsonOf(result)}}`;
    // A UTF-16 unit takes at most three bytes in UTF-8, so a text below a third of the limit needs no exact
    // measurement.
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

  /** Accepts no more requests. */
  leave(): void {
    if (this.#state.kind !== "closed") this.#state = { kind: "closing", client: this.client };
  }

  /** Resolves when no request is in progress, or when the client has disconnected. */
  async answered(): Promise<void> {
    if (this.#state.kind === "closed" || this.#inFlight === 0) return;
    await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  /** Waits for the requests in progress, sends everything that is queued, and closes the link. */
  async close(): Promise<void> {
    this.leave();
    await this.answered();
    const { clock, timers } = this.#ports;
    const begun = clock.monotonic();
    // The client's threads are closed, but a replay to the client may still be running.
    await new Promise<void>((done) => {
      const cancel = timers.after(CATCH_UP_MS, done);
      this.undelivered.whenDelivered(() => {
        cancel();
        done();
      });
    });
    // Checked again, because the client may have disconnected in between.
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
