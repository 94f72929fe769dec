import type { ThreadItem, TurnStatus, UserInput } from "@bobbin/protocol";
import type { ThreadRecord } from "../../core/records.ts";
import { answered, callItem, shortened } from "./imported-calls.ts";
import type { SessionCall, SessionEvent } from "./session-events.ts";
import { stableId } from "./stable-id.ts";

type Of<K extends SessionEvent["kind"]> = Extract<SessionEvent, { kind: K }>;

/** The thread that the records belong to. */
export interface ImportedThread {
  readonly threadId: string;
  readonly cwd: string;
  readonly startedAt: number;
  readonly forkedFromId: string | null;
  readonly latest: number;
}

interface OpenTurn {
  readonly id: string;
  readonly startedAt: number;
  /** Whether the session marks the ends of its turns. */
  readonly explicit: boolean;
  attempt: number;
  /** Whether the model has been called since the last message or output. */
  sampling: boolean;
  answer: ThreadItem | null;
  readonly calls: Map<string, { readonly call: SessionCall; readonly item: ThreadItem }>;
}

const NO_TOKENS = {
  cacheWriteInputTokens: 0,
  cachedInputTokens: 0,
  inputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
  totalTokens: 0,
};

/**
 * Converts the events of a session to records, as if its turns had run in Bobbin. Ids are derived from the thread's
 * id.
 */
export class SessionRecords {
  readonly #threadId: string;
  readonly #cwd: string;
  readonly #latest: number;
  readonly #startedAt: number;
  /** Whether the next event may be earlier than the session's start: a fork contains older history. */
  #mayGoBack: boolean;
  #at: number;
  #turn: OpenTurn | undefined;
  /** A turn that was started, and has no message yet. */
  #due: { readonly turnId: string | undefined } | undefined;
  #records: ThreadRecord[] = [];
  #count = 0;
  /** Ids of the turns that were not dropped, oldest first. */
  readonly #turns: string[] = [];
  #messages = 0;

  /** `thread.latest` is the upper bound of the times of all records. */
  constructor(thread: ImportedThread) {
    this.#threadId = thread.threadId;
    this.#cwd = thread.cwd;
    this.#latest = thread.latest;
    this.#startedAt = Math.min(thread.startedAt, thread.latest);
    this.#at = this.#startedAt;
    this.#mayGoBack = thread.forkedFromId !== null;
  }

  /** Time of the last record. */
  get at(): number {
    return Math.max(this.#at, this.#startedAt);
  }

  /** Whether the session contains no message. */
  get isEmpty(): boolean {
    return this.#messages === 0;
  }

  /** Returns the records since the last call. */
  take(): readonly ThreadRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  add(event: SessionEvent): void {
    // The turn is ended before the time is updated, because a turn ends with its last event.
    if (event.kind === "turn" || (event.kind === "user" && this.#isAnswered)) this.end();
    // Times of records must not decrease, even if the clock was set back.
    if ("at" in event && Number.isFinite(event.at)) {
      this.#at = Math.min(this.#mayGoBack ? event.at : Math.max(this.#at, event.at), this.#latest);
      this.#mayGoBack = false;
    }
    switch (event.kind) {
      case "turn":
        this.#due = { turnId: event.turnId };
        break;
      case "user":
        this.#user(event);
        break;
      case "agent":
        this.#agent(event);
        break;
      case "reasoning":
        this.#whole({ type: "reasoning", id: this.#id("item"), summary: [...event.summary], content: [] });
        break;
      case "call":
        this.#call(event.call);
        break;
      case "search":
        this.#whole({ type: "webSearch", id: this.#id("item"), query: event.query });
        break;
      case "output":
        this.#output(event);
        break;
      case "compacted":
        this.#compacted(event.summary);
        break;
      case "usage":
        if (this.#turn !== undefined)
          this.#records.push({ type: "usageReported", turnId: this.#turn.id, usage: event.usage });
        break;
      case "end":
        this.end(event.status);
        break;
      case "dropped":
        this.#dropped(event.turns);
        break;
      case "name":
        this.#records.push({ type: "renamed", at: this.#at, name: event.name });
        break;
    }
  }

  /**
   * Ends the open turn, if any. If the session marks ends of turns and did not mark this one, the turn counts as
   * interrupted.
   */
  end(markedStatus?: Exclude<TurnStatus, "inProgress">): void {
    const turn = this.#turn;
    this.#due = undefined;
    if (turn === undefined) return;
    const status = markedStatus ?? (turn.explicit ? "interrupted" : "completed");
    for (const callId of turn.calls.keys())
      this.#output({ kind: "output", at: this.#at, callId, text: "", success: false });
    this.#records.push({
      type: "turnEnded",
      turnId: turn.id,
      startedAt: turn.startedAt,
      at: this.#at,
      status,
      error: null,
      answer: turn.answer,
    });
    this.#turns.push(turn.id);
    this.#turn = undefined;
  }

  /** Whether a user message starts a new turn: after an answer, unless the session marks its turns. */
  get #isAnswered(): boolean {
    const turn = this.#turn;
    return turn?.answer != null && !turn.explicit && turn.calls.size === 0;
  }

  #begin(input: readonly UserInput[]): OpenTurn {
    const due = this.#due;
    this.#due = undefined;
    const id = due?.turnId !== undefined && UUID.test(due.turnId) ? due.turnId : this.#id("turn");
    const at = this.#at;
    const explicit = due !== undefined;
    this.#turn = { id, startedAt: at, explicit, attempt: 0, sampling: false, answer: null, calls: new Map() };
    this.#records.push({ type: "turnStarted", turnId: id, at, input, outputSchema: null });
    return this.#turn;
  }

  #user({ content }: Of<"user">): void {
    this.#messages++;
    const turn = this.#turn ?? this.#begin(content);
    this.#put({ type: "userMessage", id: this.#id("item"), clientId: null, content: [...content] });
    turn.sampling = false;
  }

  #agent({ text, phase }: Of<"agent">): void {
    this.#messages++;
    const item: ThreadItem = {
      type: "agentMessage",
      id: this.#id("item"),
      text,
      phase: phase ?? null,
      memoryCitation: null,
      delivery: null,
      questions: null,
    };
    this.#whole(item);
    this.#turn!.answer = { ...item, startedAtMs: this.#at, completedAtMs: this.#at };
  }

  /** Adds an item of the model. */
  #whole(item: ThreadItem): void {
    this.#sample();
    this.#put(item);
  }

  #put(item: ThreadItem): void {
    const [at, turnId] = [this.#at, this.#turn!.id];
    const started = { ...item, startedAtMs: at, completedAtMs: null };
    const completed = { ...item, startedAtMs: at, completedAtMs: at };
    this.#records.push(
      { type: "itemStarted", turnId, at, item: started },
      { type: "itemCompleted", turnId, at, item: completed },
    );
  }

  /** Records that the model is called, in the open turn or in a new turn without a user message. */
  #sample(): OpenTurn {
    const turn = this.#turn ?? this.#begin([]);
    if (!turn.sampling) {
      turn.sampling = true;
      this.#records.push({ type: "sampleRequested", turnId: turn.id, attempt: ++turn.attempt });
    }
    return turn;
  }

  #call(call: SessionCall): void {
    const turn = this.#sample();
    const at = this.#at;
    const { callId, name, namespace, arguments: argumentsText, custom } = call;
    this.#records.push({
      type: "toolCalled",
      turnId: turn.id,
      at,
      call: { callId, name, namespace, arguments: argumentsText, kind: custom ? "custom" : "function" },
    });
    const item = { ...callItem(call, this.#id("item"), this.#cwd), startedAtMs: at };
    turn.calls.set(callId, { call, item });
    this.#records.push({ type: "itemStarted", turnId: turn.id, at, item: { ...item, completedAtMs: null } });
  }

  #output({ callId, text, printed = text, success, exitCode }: Of<"output">): void {
    const turn = this.#turn;
    const open = turn?.calls.get(callId);
    // The call of this output is missing, or already has an output.
    if (turn === undefined || open === undefined) return;
    turn.calls.delete(callId);
    const output = shortened(text);
    const [at, turnId] = [this.#at, turn.id];
    const item = { ...answered(open.item, shortened(printed), success, exitCode), completedAtMs: at };
    this.#records.push(
      { type: "itemCompleted", turnId, at, item },
      { type: "toolAnswered", turnId, at, callId, output, success },
    );
    turn.sampling = false;
  }

  #compacted(summary: string): void {
    const turn = this.#turn ?? this.#begin([]);
    const [at, turnId] = [this.#at, turn.id];
    const attempt = ++turn.attempt;
    const item = { type: "contextCompaction", id: this.#id("item"), startedAtMs: at } as const;
    this.#records.push(
      { type: "compactionRequested", turnId, at, attempt, covers: "all", lighter: 0, because: null },
      { type: "itemStarted", turnId, at, item: { ...item, completedAtMs: null } },
      {
        type: "compacted",
        turnId,
        at,
        attempt,
        summary,
        kept: [],
        spent: NO_TOKENS,
        usage: { last: NO_TOKENS, total: NO_TOKENS, modelContextWindow: null },
      },
      { type: "itemCompleted", turnId, at, item: { ...item, completedAtMs: at } },
    );
    turn.sampling = false;
  }

  #dropped(count: number): void {
    this.end();
    const dropped = this.#turns.splice(Math.max(0, this.#turns.length - count));
    if (dropped.length === 0) return;
    const keepThrough = this.#turns.at(-1) ?? null;
    this.#records.push({ type: "turnsDropped", at: this.#at, keepThrough, dropped, by: "rollback" });
  }

  #id(kind: "turn" | "item"): string {
    return stableId(this.#at, this.#threadId, kind, String(this.#count++));
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
