import { Frame, type LinkEvents, type MemoryLink } from "@bobbin/rpc";
import type { FrameRules, Message } from "./frame-rules.ts";
import type { Scheduler } from "./scheduler.ts";

/** How a request ended. `lost`: its connection ended before the reply came. */
export type Outcome = { readonly reply: Message } | { readonly lost: true };

/** Why a connection ended, as far as the test knows. */
export type WireEnd = "open" | "closed" | "cut" | "killed";

/** One client: sends requests, records every frame, and checks the rules. */
export class SimClient implements LinkEvents {
  readonly name: string;
  readonly frames: Message[] = [];
  readonly rules: FrameRules;
  /** What each request was. */
  readonly asked = new Map<number, { readonly method: string; readonly params: Record<string, unknown> }>();
  /** Requests that the host has read. Those still on the way when the connection ends need no reply. */
  readonly read = new Set<number>();
  end: WireEnd = "open";
  /** Called after each frame. */
  heard: () => void = () => {};
  readonly #link: MemoryLink;
  readonly #scheduler: Scheduler;
  readonly #pending = new Map<number, (outcome: Outcome) => void>();
  #watchers: { readonly matches: (message: Message) => boolean; readonly done: (found: boolean) => void }[] =
    [];
  #lastId = 0;

  constructor(name: string, link: MemoryLink, scheduler: Scheduler, rules: FrameRules) {
    this.name = name;
    this.#link = link;
    this.#scheduler = scheduler;
    this.rules = rules;
  }

  async initialize(capabilities: Record<string, unknown> = {}): Promise<void> {
    await this.call("initialize", {
      clientInfo: { name: this.name, title: null, version: "1" },
      capabilities,
    });
    this.#send({ method: "initialized" });
  }

  /** Sends a request and returns the result. Throws if the host refuses or the connection ends. */
  async call(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const outcome = await this.request(method, params);
    if ("lost" in outcome) throw new Error(`${this.name}: the wire went before ${method} was answered`);
    const { result, error } = outcome.reply;
    if (error !== undefined) throw new Error(`${this.name}: ${method} refused: ${error.message}`);
    return result!;
  }

  request(method: string, params: Record<string, unknown> = {}): Promise<Outcome> {
    const id = ++this.#lastId;
    const answer = new Promise<Outcome>((resolve) => {
      if (this.end !== "open") return resolve({ lost: true });
      this.rules.sent(id, method, params);
      this.asked.set(id, { method, params });
      this.#pending.set(id, resolve);
      this.#send({ id, method, params: this.#named(method, params, id) });
    });
    return this.#scheduler.waitFor(`${this.name}: reply to ${method} ${id}`, answer);
  }

  /**
   * Resolves with true at the first matching frame, received or still to come, or with false if the connection ends.
   */
  until(what: string, matches: (message: Message) => boolean): Promise<boolean> {
    const found = new Promise<boolean>((done) => {
      if (this.frames.some(matches)) done(true);
      else if (this.end !== "open") done(false);
      else this.#watchers.push({ matches, done });
    });
    return this.#scheduler.waitFor(`${this.name}: ${what}`, found);
  }

  turnEnd(turnId: string): Promise<boolean> {
    const isEnd = ({ method, params }: Message) =>
      method === "turn/completed" && (params!.turn as { id: string }).id === turnId;
    return this.until(`end of turn ${turnId}`, isEnd);
  }

  /** Starts a thread. Returns its ID. */
  async startThread(params: Record<string, unknown> = {}): Promise<string> {
    const { thread } = await this.call("thread/start", params);
    return (thread as { id: string }).id;
  }

  /** Starts a turn. Returns its ID. */
  async startTurn(threadId: string, text = "go on"): Promise<string> {
    const { turn } = await this.call("turn/start", { threadId, input: [{ type: "text", text }] });
    return (turn as { id: string }).id;
  }

  /** Answers a server request. */
  answer(id: number, answer: { readonly result: unknown } | { readonly error: object }): void {
    if (this.end === "open") this.#send({ id, ...answer });
  }

  stopReading(): void {
    this.#link.pause();
  }

  goOnReading(): void {
    this.#link.resume();
  }

  /** Breaks the connection. Everything on its way is lost. */
  cut(end: "cut" | "killed" = "cut"): void {
    if (this.end !== "open") return;
    this.end = end;
    this.#link.cut();
  }

  /** Leaves in good order. */
  leave(): void {
    if (this.end === "open") this.end = "cut";
    void this.#link.close("normal", 0);
  }

  message(text: string): void {
    const message = JSON.parse(text) as Message;
    const answer = message.error === undefined ? "result" : `error ${message.error.data?.code}`;
    this.#scheduler.note(this.name, `is told ${message.method ?? `${answer} of ${message.id}`}`);
    this.frames.push(message);
    this.rules.received(message);
    this.heard();
    for (const { matches, done } of this.#watchers) if (matches(message)) done(true);
    this.#watchers = this.#watchers.filter(({ matches }) => !matches(message));
    if (message.method !== undefined || message.id === undefined) return;
    this.#pending.get(message.id)?.({ reply: message });
    this.#pending.delete(message.id);
  }

  closed(): void {
    if (this.end === "open") this.end = "closed";
    for (const resolve of this.#pending.values()) resolve({ lost: true });
    this.#pending.clear();
    for (const { done } of this.#watchers.splice(0)) done(false);
  }

  oversized(): void {}
  undecodable(): void {}
  drained(): void {}

  /** What this client should have got and did not, if its connection was closed normally. */
  get owed(): readonly string[] {
    if (this.end === "cut" || this.end === "killed") return [];
    const replies = this.rules.unanswered.filter((id) => this.read.has(id));
    return [
      ...replies.map((id) => `${this.name}: request ${id} was read and never answered`),
      ...this.rules.endless.map((id) => `${this.name}: turn ${id} never ended`),
    ];
  }

  /** Inputs carry the ID of the request that sent them, so that the rules know where they come from. */
  #named(method: string, params: Record<string, unknown>, id: number): Record<string, unknown> {
    if (method !== "turn/start" && method !== "turn/steer") return params;
    return { clientUserMessageId: `${this.name} ${id}`, ...params };
  }

  #send(message: object): void {
    this.#link.send(Frame.of(message));
  }
}
