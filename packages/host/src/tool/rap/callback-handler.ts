import { createHash } from "node:crypto";
import { type CallbackSubject, isOwnUrl, type ServerAddress } from "@bobbin/rap/runtime";
import { type CallbackMessage, IDEMPOTENCY_KEY, isJson, LIMITS, parseIdempotencyKey } from "@bobbin/rap/wire";
import type { RapCommand } from "../../core/rap/commands.ts";
import type { CallReport } from "../../core/rap/records.ts";
import type { ThreadRecord } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import { Fault } from "../../errors.ts";
import type { Log } from "../../observe/log.ts";
import type { Clock, HttpReply, Ids, IncomingRequest, Timers } from "../../platform/platform.ts";
import { eventOf, reportOf, unreadableReport } from "./call-result-conversion.ts";
import { type CallbackBody, problemText, readCallbackBody } from "./callback-body-parser.ts";
import { CallbackBodyReader } from "./callback-body-reader.ts";
import { CallbackRateLimit } from "./callback-rate-limit.ts";

/** The parts of the host that handling callbacks needs. */
export interface CallbackPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  readonly log: Log;
  readonly secrets: SecretsPort;
  /** Runs a command on its thread, loaded or not. The resulting records are synced to disk. */
  deliver(threadId: string, command: RapCommand): Promise<CommandResult>;
  /** The address of a loaded thread's tool server; undefined if the thread is not loaded. */
  addressOf(threadId: string, server: string): ServerAddress | undefined;
  hasServer(thread: ThreadState, server: string): boolean;
  /** Forwards a request to the host that has loaded the thread; resolves to its reply, or to `otherwise`. */
  forward(request: IncomingRequest, body: Uint8Array, otherwise: 410 | 503): Promise<HttpReply>;
  count(type: CallbackMessage["type"] | "unreadable", status: number): void;
}

/** A body that is delivered to its thread. */
interface DeliverableBody {
  readonly body: Extract<CallbackBody, { kind: "message" | "unreadableResult" }>;
  readonly bytes: Uint8Array;
}

/** The thread's state after a command, and the records that the command added. */
export interface CommandResult {
  readonly state: ThreadState;
  readonly records: readonly ThreadRecord[];
}

/** Stores the secret parts of server requests, which journals do not contain. */
export interface SecretsPort {
  hold(requestId: number, secret: string): void;
  save(threadId: string, requestId: number): Promise<void>;
  forget(threadId: string, requestId: number): Promise<void>;
}

/** Limit on the characters of a view. Views stay in memory with their thread and are sent to all subscribers. */
const MAX_VIEW = 1024 * 1024;
/** Handles the messages that tool servers post to callback URLs. */
export class CallbackHandler {
  readonly #ports: CallbackPorts;
  readonly #bodies: CallbackBodyReader;
  readonly #rateLimit: CallbackRateLimit;

  constructor(ports: CallbackPorts) {
    this.#ports = ports;
    this.#bodies = new CallbackBodyReader(ports);
    this.#rateLimit = new CallbackRateLimit(ports.clock);
  }

  /**
   * Handles a request, and resolves to the reply. A message that cannot be accepted now gets 503, because tool
   * servers do not retry after 4xx.
   */
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

  async #read(subject: CallbackSubject, request: IncomingRequest): Promise<DeliverableBody | HttpReply> {
    const { method, headers, body } = request;
    if (method !== "POST") return { status: 405 };
    if (!isJson(headers.get("content-type")))
      return this.#refuse(subject, 415, "The type must be application/json, in UTF-8.");
    if (Number(headers.get("content-length") ?? 0) > LIMITS.callbackBytes) return this.#tooLarge(subject);
    if (!this.#rateLimit.take(subject.threadId)) return { status: 503 };
    try {
      const bytes = await this.#bodies.read(subject, body);
      if (bytes === 413) return this.#tooLarge(subject);
      if (typeof bytes === "number") return { status: bytes };
      return this.#judge(subject, bytes);
    } catch {
      // The sender has disconnected, and will not get this status.
      return { status: 400 };
    }
  }

  #judge(subject: CallbackSubject, bytes: Uint8Array): DeliverableBody | HttpReply {
    const { log } = this.#ports;
    const body = readCallbackBody(bytes, subject);
    switch (body.kind) {
      case "message":
        if (body.ignored !== undefined)
          log.warn("the display_as of a tool server's result cannot be read and is ignored", {
            ...subject,
            problem: body.ignored,
          });
        return { body, bytes };
      case "unreadableResult":
        log.warn("a tool server's result cannot be read", { ...subject, problem: body.problem });
        return { body, bytes };
      case "unreadable":
        return this.#refuse(subject, 400, `The message cannot be read: ${problemText(body.problem)}.`);
      case "misplaced":
        return this.#refuse(subject, 400, `The ${body.type} is not for the call of this address.`);
    }
  }

  #tooLarge(subject: CallbackSubject): HttpReply {
    return this.#refuse(subject, 413, `A message must not be larger than ${LIMITS.callbackBytes} bytes.`);
  }

  /** Refuses a message, and logs the refusal for the host's operator, because it is recorded nowhere else. */
  #refuse(subject: CallbackSubject, status: number, says: string): HttpReply {
    this.#ports.log.warn("refused a tool server's message", { ...subject, status, says });
    return { status, says };
  }

  async #deliver(
    subject: CallbackSubject,
    read: DeliverableBody,
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
      const loadHasEnded = state.status.type === "notLoaded" || state.loadEpoch !== subject.load;
      if (records.length === 0 && loadHasEnded) return this.#acknowledgeUnused(subject, body, 410);
      if (body.kind === "unreadableResult")
        return { status: 400, says: `The result cannot be read: ${problemText(body.problem)}.` };
      if (records.length > 0) return { status: 200 };
      if (command.kind !== "lookUp") return this.#acknowledgeUnused(subject, body, 200);
      // The thread is being loaded. Its servers will be known in a moment.
      if (this.#ports.hasServer(state, subject.server)) return { status: 503 };
      return this.#refuse(subject, 410, `The thread has no tool server ${subject.server} any more.`);
    } catch (cause) {
      const code = cause instanceof Fault ? cause.code : undefined;
      // An ephemeral thread of another host looks like a missing thread here.
      if (code === "noRollout" || code === "threadNotFound") return { otherwise: 410 };
      if (code === "heldElsewhere") return { otherwise: 503 };
      this.#ports.log.warn("a tool server's message could not be delivered to its thread", {
        ...subject,
        cause,
      });
      return { status: 503 };
    }
  }

  #acknowledgeUnused(subject: CallbackSubject, body: DeliverableBody["body"], status: 200 | 410): HttpReply {
    const closed = status === 410;
    const type = body.kind === "message" ? body.message.type : "tool_result";
    this.#ports.log.info("a tool server sent a message that no call waits for", { ...subject, type, closed });
    return closed ? { status, says: "The thread is closed." } : { status };
  }

  #report({ load, callId }: CallbackSubject, report: CallReport): RapCommand {
    const { clock, ids } = this.#ports;
    return { kind: "reportCall", at: clock.now(), load, callId, report, eventId: `late_${ids.uuid()}` };
  }

  /**
   * Asks the user to open an OAuth URL. The URL is a secret: it is stored in memory before clients are asked, and
   * on disk before the callback is acknowledged.
   */
  async #ask({ threadId }: CallbackSubject, command: RapCommand, url: string): Promise<CommandResult> {
    const { secrets, deliver } = this.#ports;
    const { requestId } = command as Extract<RapCommand, { kind: "askOAuth" }>;
    secrets.hold(requestId, url);
    let delivered: CommandResult | undefined;
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

  /** The command that a message means, or the refusal of the message. */
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
        // The user's choice is sent only to the tool server that asked for it.
        if (!isOwnUrl(address, responseUrl))
          return this.#refuse(
            subject,
            400,
            "response_url is at an origin that is not the tool server's own.",
          );
        const choice = { server, prompt, choices, fallback, responseUrl };
        // `responseUrl` is not part of the name, because a server may use one URL for all answers.
        const name = `choice ${callId} ${key ?? digest(JSON.stringify(choice))}`;
        const named = key !== null;
        return { kind: "askChoice", ...about, requestId: ids.integer(), ...choice, key: name, named };
      }
      case "oauth":
        return { kind: "askOAuth", ...about, requestId: ids.integer() };
    }
  }
}

/** A SHA-256 digest. */
function digest(value: string | Uint8Array): string {
  return createHash("sha256").update(value).digest("base64url");
}
