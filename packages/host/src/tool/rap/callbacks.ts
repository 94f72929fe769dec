import { createHash } from "node:crypto";
import { type CallbackSubject, isOwn, type ServerAddress } from "@bobbin/rap/runtime";
import {
  type CallbackMessage,
  IDEMPOTENCY_KEY,
  isJson,
  LIMITS,
  parseCallback,
  parseIdempotencyKey,
  parseJson,
} from "@bobbin/rap/wire";
import type { RapCommand } from "../../core/commands.ts";
import type { ThreadRecord } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import { Fault } from "../../errors.ts";
import type { Log } from "../../observe/log.ts";
import type { Clock, Ids, IncomingRequest, Timers } from "../../platform/platform.ts";
import { BodyReadings } from "./body-readings.ts";
import { eventOf, reportOf } from "./result.ts";

export interface CallbackPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  readonly log: Log;
  readonly secrets: SecretsPort;
  /** Runs a command on its thread, wherever that is, and makes what comes of it survive a power cut. */
  deliver(threadId: string, command: RapCommand): Promise<Delivered>;
  /** A server of a thread that is loaded; undefined: that is not known now. */
  addressOf(threadId: string, server: string): ServerAddress | undefined;
  /** Whether a thread has a server of this name. */
  hasServer(thread: ThreadState, server: string): boolean;
  /** Hands a request to whichever host has the thread; what that answers, or `otherwise`. */
  forward(request: IncomingRequest, body: Uint8Array, otherwise: 410 | 503): Promise<number>;
  count(type: CallbackMessage["type"] | "unreadable", status: number): void;
}

interface Read {
  readonly message: CallbackMessage;
  readonly bytes: Uint8Array;
}

/** What a thread made of a command. */
export interface Delivered {
  readonly state: ThreadState;
  readonly records: readonly ThreadRecord[];
}

/** Where is kept what clients are asked with and no journal holds. */
export interface SecretsPort {
  hold(requestId: number, secret: string): void;
  save(threadId: string, requestId: number): Promise<void>;
  forget(threadId: string, requestId: number): Promise<void>;
}

/** A view is kept in memory with its thread, and sent to all who follow it. */
const MAX_VIEW = 1024 * 1024;
/** What one thread is sent at once, and each second from then on. */
const BURST = 500;
const PER_SECOND = 100;
/** Beyond so many threads, those that were quiet are forgotten. */
const MAX_RATES = 10_000;

/** What is posted to callback URLs. */
export class Callbacks {
  readonly #ports: CallbackPorts;
  readonly #readings: BodyReadings;
  /** How much each thread may still be sent, and when that was true. */
  readonly #rates = new Map<string, { left: number; at: number }>();

  constructor(ports: CallbackPorts) {
    this.#ports = ports;
    this.#readings = new BodyReadings(ports);
  }

  /** The status to answer with. What can not be taken now is 503: tool servers do not try again after 4xx. */
  async take(subject: CallbackSubject, request: IncomingRequest): Promise<number> {
    const read = await this.#read(subject, request);
    if (typeof read === "number") {
      this.#ports.count("unreadable", read);
      return read;
    }
    const { message, bytes } = read;
    const key = parseIdempotencyKey(request.headers.get(IDEMPOTENCY_KEY)) ?? null;
    const taken = await this.#deliver(subject, read, key);
    const status =
      typeof taken === "number" ? taken : await this.#ports.forward(request, bytes, taken.otherwise);
    this.#ports.count(message.type, status);
    return status;
  }

  async #read(subject: CallbackSubject, request: IncomingRequest): Promise<Read | number> {
    const { method, headers, body } = request;
    if (method !== "POST") return 405;
    if (!isJson(headers.get("content-type"))) return 415;
    if (Number(headers.get("content-length") ?? 0) > LIMITS.callbackBytes) return 413;
    if (!this.#mayTake(subject.threadId)) return 503;
    try {
      const bytes = await this.#readings.read(subject, body);
      if (typeof bytes === "number") return bytes;
      const json = parseJson(bytes);
      const message = json.ok ? parseCallback(json.value) : json;
      if (!message.ok) {
        this.#log("a tool server sent what can not be read", subject, { problem: message.problem });
        return 400;
      }
      if (!isAbout(message.value, subject)) {
        this.#log("a tool server sent what is for another call", subject, { type: message.value.type });
        return 400;
      }
      return { message: message.value, bytes };
    } catch {
      // Its sender is gone; nobody hears this.
      return 400;
    }
  }

  #mayTake(threadId: string): boolean {
    const now = this.#ports.clock.monotonic();
    const { left, at } = this.#rates.get(threadId) ?? { left: BURST, at: now };
    const grown = Math.min(BURST, left + ((now - at) / 1000) * PER_SECOND);
    if (grown < 1) return false;
    this.#rates.delete(threadId);
    this.#rates.set(threadId, { left: grown - 1, at: now });
    const [oldest] = this.#rates.size > MAX_RATES ? this.#rates.keys() : [];
    if (oldest !== undefined) this.#rates.delete(oldest);
    return true;
  }

  async #deliver(
    subject: CallbackSubject,
    read: Read,
    key: string | null,
  ): Promise<number | { readonly otherwise: 410 | 503 }> {
    const { message } = read;
    const command = this.#command(subject, read, key);
    if (typeof command === "number") return command;
    try {
      const { state, records } =
        message.type === "oauth"
          ? await this.#ask(subject, command, message.auth_url)
          : await this.#ports.deliver(subject.threadId, command);
      if (records.length > 0) return 200;
      const gone = state.status.type === "notLoaded" || state.loadEpoch !== subject.load;
      if (command.kind === "lookUp" && !gone) {
        // It is being loaded, and what it has will be known in a moment.
        if (this.#ports.hasServer(state, subject.server)) return 503;
        this.#log("a tool server asks that the thread does not have any more", subject, {});
        return 410;
      }
      this.#log("a tool server sent what nobody waits for", subject, { type: message.type, closed: gone });
      return gone ? 410 : 200;
    } catch (cause) {
      const code = cause instanceof Fault ? cause.code : undefined;
      // One that only another host's memory has looks like none.
      if (code === "noRollout" || code === "threadNotFound") return { otherwise: 410 };
      if (code === "heldElsewhere") return { otherwise: 503 };
      this.#ports.log.warn("what a tool server sent could not be taken", { ...subject, cause });
      return 503;
    }
  }

  /** The address is in the hands of those who ask before anyone is asked, and is kept before that is acknowledged. */
  async #ask({ threadId }: CallbackSubject, command: RapCommand, url: string): Promise<Delivered> {
    const { secrets, deliver } = this.#ports;
    const { requestId } = command as Extract<RapCommand, { kind: "askOAuth" }>;
    secrets.hold(requestId, url);
    let delivered: Delivered | undefined;
    try {
      delivered = await deliver(threadId, command);
      if (delivered.records.length > 0 && !delivered.state.facts.ephemeral)
        await secrets.save(threadId, requestId);
      return delivered;
    } finally {
      if (delivered === undefined || delivered.records.length === 0)
        await secrets.forget(threadId, requestId);
    }
  }

  /** What it asks of the thread, or the status that it is refused with. */
  #command(
    { threadId, callId, load, server }: CallbackSubject,
    { message, bytes }: Read,
    key: string | null,
  ): RapCommand | number {
    const { clock, ids } = this.#ports;
    const about = { at: clock.now(), load, callId };
    switch (message.type) {
      case "tool_result":
        return { kind: "reportCall", ...about, report: reportOf(message), eventId: `late_${ids.uuid()}` };
      case "subscription_event":
        return {
          kind: "receiveEvent",
          ...about,
          key,
          digest: digest(bytes),
          eventId: `event_${ids.uuid()}`,
          event: eventOf(message),
          childId: message.associative ? null : ids.uuid(),
          final: message.final,
        };
      case "view_update": {
        const { view_type: viewType, content: view } = message;
        if (JSON.stringify(view).length > MAX_VIEW) return 413;
        return { kind: "updateView", ...about, server, viewType, view };
      }
      case "user_choice": {
        const { prompt, choices, default: fallback, response_url: responseUrl } = message;
        const address = this.#ports.addressOf(threadId, server);
        if (address === undefined) return { kind: "lookUp", at: about.at };
        // Nothing is sent anywhere on the word of a tool server but to itself.
        if (!isOwn(address, responseUrl)) {
          this.#log("a tool server wants an answer sent elsewhere", { threadId, load, server, callId }, {});
          return 400;
        }
        const asked = { server, prompt, choices, fallback, responseUrl };
        // A server may have one address for all answers.
        const name = `choice ${callId} ${key ?? digest(JSON.stringify(asked))}`;
        const named = key !== null;
        return { kind: "askChoice", ...about, requestId: ids.integer(), ...asked, key: name, named };
      }
      case "oauth":
        return { kind: "askOAuth", ...about, requestId: ids.integer() };
    }
  }

  #log(message: string, subject: CallbackSubject, more: object): void {
    this.#ports.log.info(message, { ...subject, ...more });
  }
}

/** Equal values give equal digests. */
function digest(value: string | Uint8Array): string {
  return createHash("sha256").update(value).digest("base64url");
}

/** The address says what it is good for; what is said in the message has to be the same. */
function isAbout(message: CallbackMessage, { threadId, callId }: CallbackSubject): boolean {
  if (message.group_id !== threadId) return false;
  switch (message.type) {
    case "view_update":
      return true;
    case "subscription_event":
      return message.tool_call_id === callId;
    default:
      return message.id === callId;
  }
}
