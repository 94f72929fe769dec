import { randomUUID } from "node:crypto";
import {
  type Bobbin,
  type ConnectionStatus,
  type FollowedThread,
  type Notification,
  promptCommandInput,
  runningTurn,
  type TurnState,
} from "@bobbin/client";
import type { Params, Turn, UserInput } from "@bobbin/protocol";
import { RpcError } from "@bobbin/rpc";
import { messageOf } from "../errors.ts";
import { promptLines } from "./chat-saved-prompts.ts";
import type { TurnSettings } from "./resumed-thread-settings.ts";

/** Receives what happens in the thread. */
export interface ChatReport {
  notification(notification: Notification): void;
  /** Called when a turn runs that another client requested, before its notifications. */
  otherTurn(): void;
  /** Called with each message of another client. */
  otherMessage(content: readonly UserInput[]): void;
  /** The connection to the host was lost, and is being made again. */
  lost(): void;
  /** The connection was made again. The missed notifications follow. */
  back(): void;
  /** Some of the missed notifications cannot be shown. */
  gap(): void;
  /** The chat has ended and cannot continue; see `ChatSession.endReason`. */
  ended(): void;
}

export interface ChatSessionOptions {
  /** Further params of the first turn. */
  readonly settings: TurnSettings;
  /** How long the chat tries to reconnect after a lost connection; 0 if the chat ends with its connection. */
  readonly reconnectMs: number;
  readonly report: ChatReport;
}

/**
 * The thread that a chat follows. The thread's state shows which turn runs, how it ended and who started it; the client
 * keeps this state correct when the connection is lost and made again.
 */
export class ChatSession {
  readonly #bobbin: Bobbin;
  readonly #thread: FollowedThread;
  readonly #report: ChatReport;
  readonly #reconnectMs: number;
  #settings: TurnSettings;
  /** IDs of the messages that this chat has sent. */
  readonly #sent = new Set<string>();
  /** Set while a turn is being started. `interrupted`: the turn is interrupted as soon as its ID is known. */
  #sending: { interrupted: boolean } | undefined;
  /** ID of the last turn that this chat started, or that was reported as a turn of another client. */
  #introduced: string | undefined;
  #gaps = 0;
  /** Whether the thread was unloaded when the connection was lost, as by a host that shuts down. */
  #wasUnloaded = false;
  #reloading: Promise<void> | undefined;
  #endReason: string | undefined;
  /** The timer that ends the chat. It runs while there is no connection. */
  #givingUp: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<() => void>();
  readonly #stop: (() => void)[];

  constructor(bobbin: Bobbin, thread: FollowedThread, { settings, reconnectMs, report }: ChatSessionOptions) {
    this.#bobbin = bobbin;
    this.#thread = thread;
    this.#settings = settings;
    this.#reconnectMs = reconnectMs;
    this.#report = report;
    this.#introduced = runningTurn(thread.state)?.id;
    this.#stop = [
      thread.subscribe(() => this.#look()),
      thread.onNotification((notification) => this.#take(notification)),
      bobbin.onConnection((status) => this.#connection(status)),
      bobbin.onGap(({ threadId }) => {
        if (threadId !== this.threadId) return;
        this.#gaps++;
        this.#back();
        this.#report.gap();
      }),
    ];
    if (bobbin.connection.state === "connecting") this.#connection(bobbin.connection);
  }

  get threadId(): string {
    return this.#thread.id;
  }

  /** Why the chat cannot continue; undefined if it can. */
  get endReason(): string | undefined {
    return this.#endReason;
  }

  get isRunning(): boolean {
    return runningTurn(this.#thread.state) !== undefined;
  }

  /**
   * Starts a turn and resolves with its status when the turn has ended; undefined if the chat ends before the turn.
   * Without a connection the message waits for the next connection. It is never sent twice.
   */
  async send(message: string | UserInput[]): Promise<Turn["status"] | undefined> {
    const clientUserMessageId = randomUUID();
    this.#sent.add(clientUserMessageId);
    const sending = { interrupted: false };
    this.#sending = sending;
    const gaps = this.#gaps;
    let turnId: string;
    try {
      turnId = await this.#start({
        ...this.#settings,
        threadId: this.threadId,
        clientUserMessageId,
        input: typeof message === "string" ? [{ type: "text", text: message }] : message,
      });
      // The settings apply from this turn on, so they are sent only once.
      this.#settings = {};
    } finally {
      this.#sending = undefined;
    }
    this.#introduced = turnId;
    if (sending.interrupted) this.#interrupt(turnId);
    await this.#until(() => {
      const turn = this.#turn(turnId);
      if (turn !== undefined) return turn.status !== "inProgress";
      // After a gap the host may have lost the records of the turn. Then the turn has no end to wait for.
      return this.#gaps !== gaps && !this.#thread.state.stale.turns;
    });
    return this.#turn(turnId)?.status;
  }

  /** Starts a turn with the prompt that `/prompts:NAME arguments` stands for, as `send` does. */
  async sendPrompt(command: string): Promise<Turn["status"] | undefined> {
    return this.send((await promptCommandInput(this.#bobbin, command, this.#place)) ?? command);
  }

  /** Lists the prompts that can be sent. */
  prompts(): Promise<readonly string[]> {
    return promptLines(this.#bobbin, this.#place);
  }

  get #place() {
    const cwd = this.#settings.cwd ?? this.#thread.state.thread?.cwd;
    return { cwd, threadId: this.threadId };
  }

  /** Resolves when no turn is running. */
  turnEnd(): Promise<void> {
    return this.#until(() => !this.isRunning);
  }

  /** Interrupts the running turn, or the one that is being started. */
  interrupt(): void {
    const turn = runningTurn(this.#thread.state);
    if (turn !== undefined) this.#interrupt(turn.id);
    else if (this.#sending !== undefined) this.#sending.interrupted = true;
  }

  /** Sets the thread's name. */
  rename(name: string): Promise<void> {
    return this.#thread.rename(name);
  }

  close(): void {
    clearTimeout(this.#givingUp);
    for (const stop of this.#stop) stop();
    this.#leave("the chat has ended");
  }

  /** Returns the ID of the turn. */
  async #start(params: Params<"turn/start">): Promise<string> {
    try {
      return (await this.#bobbin.request("turn/start", params)).turn.id;
    } catch (cause) {
      if (!(cause instanceof RpcError) || !this.#thread.isUnloaded) throw cause;
      await this.#reload();
      return (await this.#bobbin.request("turn/start", params)).turn.id;
    }
  }

  /** Loads the thread again. Calls share one request: the host sends the missed notifications for each request. */
  #reload(): Promise<void> {
    this.#reloading ??= this.#bobbin.reload(this.#thread).finally(() => {
      this.#reloading = undefined;
    });
    return this.#reloading;
  }

  #interrupt(turnId: string): void {
    // The request fails if the turn has just ended, which does no harm.
    this.#bobbin.request("turn/interrupt", { threadId: this.threadId, turnId }).catch(() => {});
  }

  #turn(turnId: string): TurnState | undefined {
    return this.#thread.state.turns.findLast(({ id }) => id === turnId);
  }

  /** Called after each change of the thread's state. Reports turns of other clients, and the end of the thread. */
  #look(): void {
    const { state, ended } = this.#thread;
    const turn = runningTurn(state);
    if (turn !== undefined && turn.id !== this.#introduced) this.#introduce(turn);
    if (ended !== undefined) this.#leave(`the thread cannot be followed any more: ${messageOf(ended.error)}`);
    if (state.archived) this.#leave("the thread was archived");
    if (state.deleted) this.#leave("the thread was deleted");
    this.#wake();
  }

  #introduce(turn: TurnState): void {
    const [first] = turn.items;
    // The first item is the message, which shows who started the turn. It has not arrived yet.
    if (first === undefined && this.#sending !== undefined) return;
    this.#introduced = turn.id;
    if (first?.type === "userMessage" && this.#isOwn(first.clientId)) return;
    this.#back();
    this.#report.otherTurn();
  }

  #isOwn(messageId: string | null): boolean {
    return messageId !== null && this.#sent.has(messageId);
  }

  #take(notification: Notification): void {
    this.#back();
    const { method, params } = notification;
    if (method === "item/started" && params.item.type === "userMessage" && !this.#isOwn(params.item.clientId))
      this.#report.otherMessage(params.item.content);
    this.#report.notification(notification);
  }

  #connection(status: ConnectionStatus): void {
    if (status.state === "connected") {
      this.#back();
      // After a reconnect the client follows only loaded threads again, so an unloaded thread is loaded here.
      if (this.#wasUnloaded) this.#reload().catch((cause) => this.#leave(messageOf(cause)));
    }
    if (status.state !== "connecting") return;
    this.#wasUnloaded = this.#thread.isUnloaded;
    if (this.#givingUp !== undefined) return;
    if (this.#reconnectMs === 0)
      return this.#leave(`the connection to the host has ended: ${status.error?.message}`);
    this.#report.lost();
    this.#givingUp = setTimeout(() => {
      const time = `${this.#reconnectMs / 1_000} s`;
      this.#leave(`the connection to the host was lost, and no host answered within ${time}`);
    }, this.#reconnectMs);
  }

  /** Reports the new connection once: when it is made, or at its first notification if that arrives earlier. */
  #back(): void {
    if (this.#givingUp === undefined) return;
    clearTimeout(this.#givingUp);
    this.#givingUp = undefined;
    this.#report.back();
  }

  #leave(why: string): void {
    if (this.#endReason === undefined) {
      this.#endReason = why;
      // Rejects the requests that wait for a connection.
      void this.#bobbin.close();
      this.#report.ended();
    }
    this.#wake();
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds() && this.#endReason === undefined)
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}
