import { afterWorking, PATIENCE_MS } from "./patience.ts";
import { recordFrame } from "./recorded-frames.ts";
import type { Wire } from "./wire.ts";

/** A frame as the host sent it. */
export interface Received {
  readonly text: string;
  readonly id?: unknown;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came; the schema check types it.
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly result?: any;
  readonly error?: WireError;
}

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data: { readonly code: string; readonly retryable: boolean; readonly [key: string]: unknown };
}

/** A client that keeps all received frames in order, and knows only the frame format of the protocol. */
export class WireClient {
  /** What came, in order. */
  readonly frames: Received[] = [];
  readonly #wire: Wire;
  /** Methods of sent requests, by the JSON of their ID. An ID may be used twice, and answered in any order. */
  readonly #asked = new Map<string, Set<string>>();
  readonly #waiting = new Set<() => void>();
  readonly #counts = new Map<string | undefined, number>();
  #lastId = 0;
  #gone = false;

  constructor(wire: Wire) {
    this.#wire = wire;
    wire.onMessage((text) => this.#receive(text));
    void wire.closed.then(() => {
      this.#gone = true;
      this.#wake();
    });
  }

  get closed(): Promise<number> {
    return this.#wire.closed;
  }

  /** Of one method, in order. */
  told(method: string): Received[] {
    return this.frames.filter((frame) => frame.method === method);
  }

  /** The number of frames of a method; of undefined, the number of replies. Cheap, for streams of many frames. */
  count(method: string | undefined): number {
    return this.#counts.get(method) ?? 0;
  }

  /** Sends a request. Resolves with its reply, even if that is an error. */
  async request(method: string, params?: unknown, id: string | number = ++this.#lastId): Promise<Received> {
    const from = this.frames.length;
    this.send({ id, method, ...(params !== undefined && { params }) });
    return this.waitFor((frame) => frame.method === undefined && frame.id === id, `reply to ${method}`, from);
  }

  /** Sends a request and returns the result. Throws if the reply is an error. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async call(method: string, params?: unknown): Promise<any> {
    const { result, error } = await this.request(method, params);
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  /** Sends a request and returns the error. Throws if the reply is a result. */
  async refusal(method: string, params?: unknown): Promise<WireError> {
    const { result, error } = await this.request(method, params);
    if (error === undefined) throw new Error(`${method} was not refused: ${JSON.stringify(result)}`);
    return error;
  }

  initialize(capabilities?: object): Promise<Received["result"]> {
    return this.call("initialize", { clientInfo: { name: "scenario", version: "1.0" }, capabilities });
  }

  async startThread(params: object = {}): Promise<string> {
    const { thread } = await this.call("thread/start", params);
    return thread.id;
  }

  /** Sends a text. Returns the ID of the turn that takes it. */
  async say(threadId: string, text: string): Promise<string> {
    const { turn } = await this.call("turn/start", { threadId, input: [{ type: "text", text }] });
    return turn.id;
  }

  /** A whole turn; its id. */
  async turn(threadId: string, text: string): Promise<string> {
    const turnId = await this.say(threadId, text);
    await this.turnCompleted(turnId);
    return turnId;
  }

  /** Starts a turn, and resolves in the middle of its long answer. */
  async speaking(threadId: string, text = `slowly ${"and on ".repeat(200)}`): Promise<string> {
    const turnId = await this.say(threadId, text);
    await this.waitFor(
      ({ method, params }) => method === "item/agentMessage/delta" && params.turnId === turnId,
      "a delta",
    );
    return turnId;
  }

  /** The next notification about a thread. */
  about(threadId: string, wanted: string, from = 0): Promise<Received> {
    return this.waitFor(
      ({ method, params }) => method === wanted && (params.threadId ?? params.thread?.id) === threadId,
      `${wanted} of ${threadId}`,
      from,
    );
  }

  turnCompleted(turnId: string): Promise<Received> {
    return this.waitFor(
      ({ method, params }) => method === "turn/completed" && params.turn.id === turnId,
      "turn/completed",
    );
  }

  notify(method: string, params?: unknown): void {
    this.send({ method, ...(params !== undefined && { params }) });
  }

  send(message: object): void {
    this.sendText(JSON.stringify(message));
  }

  /** Text as it is. */
  sendText(text: string): void {
    this.remember(text);
    this.#wire.send(text);
  }

  /** Sends several lines in one write, each with an LF. Only for transports that split at LF. */
  sendLines(lines: readonly string[]): void {
    for (const line of lines) this.remember(line);
    this.#wire.sendBytes(Buffer.from(`${lines.join("\n")}\n`));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#wire.sendBytes(bytes);
  }

  /** Sends one message with any bytes. It must have no line end. */
  sendMessage(bytes: Uint8Array): void {
    this.remember(Buffer.from(bytes).toString());
    this.#wire.sendMessage(bytes);
  }

  /** Stops reading, so that the host cannot send more. */
  pause(): void {
    this.#wire.pause();
  }

  resume(): void {
    this.#wire.resume();
  }

  /**
   * The first frame for which `fits` returns true, received or still to come. Frames before index `from` are skipped.
   */
  async waitFor(fits: (frame: Received) => boolean, what: string, from = 0): Promise<Received> {
    let at = from;
    await this.until(() => {
      while (at < this.frames.length && !fits(this.frames[at]!)) at++;
      return at < this.frames.length;
    }, what);
    return this.frames[at]!;
  }

  /** Resolves when `holds` returns true. It is called after each frame, and each frame restarts the time limit. */
  until(holds: () => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const expired = () => done(() => reject(new Error(`no ${what} in ${PATIENCE_MS} ms: ${this.#tail()}`)));
      let cancel = (): void => {};
      const look = (): void => {
        cancel();
        if (holds()) done(resolve);
        else if (this.#gone)
          done(() => reject(new Error(`the wire ended while waiting for ${what}: ${this.#tail()}`)));
        else cancel = afterWorking(PATIENCE_MS, expired);
      };
      const done = (settle: () => void): void => {
        cancel();
        this.#waiting.delete(look);
        settle();
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Closes the connection. Resolves when the host has closed it, too. */
  async close(): Promise<void> {
    this.resume();
    this.#wire.end();
    await this.#wire.closed;
  }

  /** Is gone without a word. */
  async cut(): Promise<void> {
    this.#wire.cut();
    await this.#wire.closed;
  }

  /** Ends this side only. */
  end(): void {
    this.#wire.end();
  }

  #receive(text: string): void {
    let message: Omit<Received, "text">;
    try {
      message = JSON.parse(text);
    } catch {
      throw new Error(`the host sent what is no JSON: ${text.slice(0, 200)}`);
    }
    recordFrame(
      message,
      text,
      message.method === undefined ? this.#asked.get(JSON.stringify(message.id)) : undefined,
    );
    this.frames.push({ text, ...message });
    this.#counts.set(message.method, this.count(message.method) + 1);
    this.#wake();
  }

  /** Remembers a request that was sent by `sendBytes`. */
  remember(text: string): void {
    let message: { id?: unknown; method?: unknown };
    try {
      message = JSON.parse(text) ?? {};
    } catch {
      return;
    }
    const { id, method } = message;
    if ((typeof id !== "string" && typeof id !== "number") || typeof method !== "string") return;
    const key = JSON.stringify(id);
    const methods = this.#asked.get(key);
    if (methods === undefined) this.#asked.set(key, new Set([method]));
    else methods.add(method);
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look();
  }

  #tail(): string {
    return `${this.frames.length} frames came, the last: ${this.frames
      .slice(-3)
      .map(({ text }) => text.slice(0, 300))
      .join(" | ")}`;
  }
}
