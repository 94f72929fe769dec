import { createHash } from "node:crypto";
import { type CallbackSubject, isOwn, type ServerAddress } from "@bobbin/rap/runtime";
import { type CallbackMessage, IDEMPOTENCY_KEY, isJson, LIMITS, parseIdempotencyKey } from "@bobbin/rap/wire";
import type { RapCommand } from "../../core/commands.ts";
import type { CallReport } from "../../core/rap/records.ts";
import type { ThreadRecord } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import { Fault } from "../../errors.ts";
import type { Log } from "../../observe/log.ts";
import type { Clock, HttpReply, Ids, IncomingRequest, Timers } from "../../platform/platform.ts";
import { BodyReadings } from "./body-readings.ts";
import { type CallbackBody, problemText, readCallbackBody } from "./callback-body.ts";
import { eventOf, reportOf, unreadableReport } from "./result.ts";
import { ThreadRates } from "./thread-rates.ts";

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
  forward(request: IncomingRequest, body: Uint8Array, otherwise: 410 | 503): Promise<HttpReply>;
  count(type: CallbackMessage["type"] | "unreadable", status: number): void;
}

/** A body that something can be done about. */
interface Read {
  readonly body: Extract<CallbackBody, { kind: "message" | "unreadableResult" }>;
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
/** What is posted to callback URLs. */
export class Callbacks {
  readonly #ports: CallbackPorts;
  readonly #readings: BodyReadings;
  readonly #rates: ThreadRates;

  constructor(ports: CallbackPorts) {
    this.#ports = ports;
    this.#readings = new BodyReadings(ports);
    this.#rates = new ThreadRates(ports.clock);
  }

  /** What to answer with. What can not be taken now is 503: tool servers do not try again after 4xx. */
  async take(subject: CallbackSubject, request: IncomingRequest): Promise<HttpReply> {
    const read = await this.#read(subject, request);
    if ("status" in read) {
      this.#ports.count("unreadable", read.status);
      return read;
    }
    const { body, bytes } = read;
    const key = parseIdempotencyKey(request.headers.get(IDEMPOTENCY_KEY)) ?? null;
    const taken = await this.#deliver(subject, read, key);
    const reply = "status" in taken ? taken : await this.#ports.forward(request, bytes, taken.otherwise);
    this.#ports.count(body.kind === "message" ? body.message.type : "unreadable", reply.status);
    return reply;
  }

  async #read(subject: CallbackSubject, request: IncomingRequest): Promise<Read | HttpReply> {
    const { method, headers, body } = request;
    if (method !== "POST") return { status: 405 };
    if (!isJson(headers.get("content-type")))
      return this.#refuse(subject, 415, "The type must be application/json, in UTF-8.");
    if (Number(headers.get("content-length") ?? 0) > LIMITS.callbackBytes) return this.#tooLarge(subject);
    if (!this.#rates.take(subject.threadId)) return { status: 503 };
    try {
      const bytes = await this.#readings.read(subject, body);
      if (bytes === 413) return this.#tooLarge(subject);
      if (typeof bytes === "number") return { status: bytes };
      return this.#judge(subject, bytes);
    } catch {
      // Its sender is gone; nobody hears this.
      return { status: 400 };
    }
  }

  #judge(subject: CallbackSubject, bytes: Uint8Array): Read | HttpReply {
    const { log } = this.#ports;
    const body = readCallbackBody(bytes, subject);
    switch (body.kind) {
      case "message":
        if (body.ignored !== undefined)
          log.warn("a tool server's display_as can not be read", { ...subject, problem: body.ignored });
        return { body, bytes };
      case "unreadableResult":
        log.warn("a tool server's result can not be read", { ...subject, problem: body.problem });
        return { body, bytes };
      case "unreadable":
        return this.#refuse(subject, 400, `The message can not be read: ${problemText(body.problem)}.`);
      case "misplaced":
        return this.#refuse(subject, 400, `The ${body.type} is not for the call of this address.`);
    }
  }

  #tooLarge(subject: CallbackSubject): HttpReply {
    return this.#refuse(subject, 413, `A message must not be larger than ${LIMITS.callbackBytes} bytes.`);
  }

  /** Nothing changes, so whoever runs the host has to be able to see it. */
  #refuse(subject: CallbackSubject, status: number, says: string): HttpReply {
    this.#ports.log.warn("refused a message of a tool server", { ...subject, status, says });
    return { status, says };
  }

  async #deliver(
    subject: CallbackSubject,
    read: Read,
    key: string | null,
  ): Promise<HttpReply | { readonly otherwise: 410 | 503 }> {
    const { body } = read;
    const command =
      body.kind === "message"
        ? this.#command(subject, body.message, read.bytes, key)
        : this.#report(subject, unreadableReport(subject.server, body.problem));
    if ("status" in command) return command;
    try {
      const { state, records } =
        body.kind === "message" && body.message.type === "oauth"
          ? await this.#ask(subject, command, body.message.auth_url)
          : await this.#ports.deliver(subject.threadId, command);
      const gone = state.status.type === "notLoaded" || state.loadEpoch !== subject.load;
      if (records.length === 0 && gone) return this.#unwanted(subject, body, 410);
      if (body.kind === "unreadableResult")
        return { status: 400, says: `The result can not be read: ${problemText(body.problem)}.` };
      if (records.length > 0) return { status: 200 };
      if (command.kind !== "lookUp") return this.#unwanted(subject, body, 200);
      // It is being loaded, and what it has will be known in a moment.
      if (this.#ports.hasServer(state, subject.server)) return { status: 503 };
      return this.#refuse(subject, 410, `The thread has no tool server ${subject.server} any more.`);
    } catch (cause) {
      const code = cause instanceof Fault ? cause.code : undefined;
      // One that only another host's memory has looks like none.
      if (code === "noRollout" || code === "threadNotFound") return { otherwise: 410 };
      if (code === "heldElsewhere") return { otherwise: 503 };
      this.#ports.log.warn("what a tool server sent could not be taken", { ...subject, cause });
      return { status: 503 };
    }
  }

  #unwanted(subject: CallbackSubject, body: Read["body"], status: 200 | 410): HttpReply {
    const closed = status === 410;
    const type = body.kind === "message" ? body.message.type : "tool_result";
    this.#ports.log.info("a tool server sent what nobody waits for", { ...subject, type, closed });
    return closed ? { status, says: "The thread is closed." } : { status };
  }

  #report({ load, callId }: CallbackSubject, report: CallReport): RapCommand {
    const { clock, ids } = this.#ports;
    return { kind: "reportCall", at: clock.now(), load, callId, report, eventId: `late_${ids.uuid()}` };
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

  /** What it asks of the thread, or the refusal. */
  #command(
    subject: CallbackSubject,
    message: CallbackMessage,
    bytes: Uint8Array,
    key: string | null,
  ): RapCommand | HttpReply {
    const { threadId, callId, load, server } = subject;
    const { clock, ids } = this.#ports;
    const about = { at: clock.now(), load, callId };
    switch (message.type) {
      case "tool_result":
        return this.#report(subject, reportOf(message));
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
        if (JSON.stringify(view).length > MAX_VIEW)
          return this.#refuse(subject, 413, `A view must not have more than ${MAX_VIEW} characters.`);
        return { kind: "updateView", ...about, server, viewType, view };
      }
      case "user_choice": {
        const { prompt, choices, default: fallback, response_url: responseUrl } = message;
        const address = this.#ports.addressOf(threadId, server);
        if (address === undefined) return { kind: "lookUp", at: about.at };
        // Nothing is sent anywhere on the word of a tool server but to itself.
        if (!isOwn(address, responseUrl))
          return this.#refuse(
            subject,
            400,
            "response_url is at an origin that is not the tool server's own.",
          );
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
}

/** Equal values give equal digests. */
function digest(value: string | Uint8Array): string {
  return createHash("sha256").update(value).digest("base64url");
}
