/** A frame as it is on the wire. */
export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: { code?: string } };
}

interface Request {
  readonly method: string;
  readonly threadId: unknown;
  /** The index of the reply among the frames. */
  reply: number | undefined;
}

interface Item {
  readonly type: string;
  text: string;
  open: boolean;
  /** Whether input came during this message, which may have cut it off. */
  brokenOff?: boolean;
}

interface Turn {
  /** The frame that reported the start, and the status before it. */
  readonly startedAt: number;
  readonly statusAt: number | undefined;
  /** Whether this client connected while the turn was running, and did not see all of it. */
  readonly partial: boolean;
  readonly items: Map<string, Item>;
  /** The client IDs of the turn's inputs. */
  readonly inputs: string[];
  open: boolean;
}

interface Thread {
  following: boolean;
  joined: boolean;
  readonly turns: Map<string, Turn>;
  status: string | undefined;
  statusAt: number | undefined;
  /** The last notification about the thread, except errors of turns. */
  last: string | undefined;
}

/** Notifications that every initialized client gets, even without following the thread. */
const FOR_EVERYONE: ReadonlySet<string> = new Set([
  "thread/started",
  "thread/status/changed",
  "thread/closed",
  "thread/archived",
  "thread/unarchived",
  "thread/deleted",
  "thread/name/updated",
  "thread/settings/updated",
]);

/** Methods whose reply is about a thread that the client follows from then on. */
const FOLLOWS: ReadonlySet<string> = new Set(["thread/start", "thread/resume", "thread/fork"]);

/**
 * What one client may rely on, in whatever order things happen. Frames are checked as they arrive, so that a
 * violation is reported at the step where it occurs.
 */
export class FrameRules {
  readonly #broken: (rule: string) => void;
  readonly #requests = new Map<number, Request>();
  readonly #threads = new Map<string, Thread>();
  /** Turns that the host has accepted from this client, in threads that it follows. */
  readonly #accepted = new Set<string>();
  #frames = 0;
  /** Distinguishes this client's inputs from others'. */
  readonly #prefix: string;
  readonly #answered: ReadonlySet<string>;
  /** Whether the client reads slowly. Then text may come with the end of its item instead of in deltas. */
  mayLag = false;
  /** For clients that come and go, only replies are checked here. The reference checks the rest. */
  onlyReplies = false;

  /** `answered`: the inputs that the model has answered, as the model knows them. */
  constructor(name: string, answered: ReadonlySet<string>, broken: (rule: string) => void) {
    this.#prefix = `${name} `;
    this.#answered = answered;
    this.#broken = (rule) => broken(`${name}: ${rule}`);
  }

  sent(id: number, method: string, params: Record<string, unknown>): void {
    this.#requests.set(id, { method, threadId: params.threadId, reply: undefined });
  }

  received(message: Message): void {
    this.#frames++;
    if (message.method === undefined) this.#replied(message);
    else if (!this.onlyReplies) this.#notified(message.method, message.params ?? {});
  }

  /** Requests without a reply. */
  get unanswered(): readonly number[] {
    return [...this.#requests].filter(([, { reply }]) => reply === undefined).map(([id]) => id);
  }

  /** Turns of followed threads that were accepted or started, and whose end was not reported. */
  get endless(): readonly string[] {
    const turns = [...this.#threads.values()].flatMap((thread) => [...thread.turns]);
    const ended = new Set(turns.filter(([, { open }]) => !open).map(([id]) => id));
    const begun = [...this.#accepted, ...turns.map(([id]) => id)];
    return [...new Set(begun)].filter((id) => !ended.has(id));
  }

  #replied({ id, result, error }: Message): void {
    const request = id === undefined ? undefined : this.#requests.get(id);
    if (request === undefined) return this.#broken(`a reply to no request: ${id}`);
    if (request.reply !== undefined) return this.#broken(`a second reply to ${request.method} ${id}`);
    if ((result === undefined) === (error === undefined)) this.#broken(`reply ${id}: neither or both`);
    request.reply = this.#frames;
    if (error !== undefined || this.onlyReplies) return;
    if (request.method === "turn/start") {
      const thread = this.#threads.get(String(request.threadId));
      if (thread?.following) this.#accepted.add((result!.turn as { id: string }).id);
    }
    if (!FOLLOWS.has(request.method)) return;
    const { id: threadId } = result!.thread as { id: string };
    if (request.method !== "thread/resume" && this.#threads.has(threadId)) {
      this.#broken(`thread ${threadId} was told before the reply to ${request.method}`);
    }
    const thread = this.#know(threadId);
    thread.following = true;
    thread.joined = request.method === "thread/resume";
  }

  #notified(method: string, params: Record<string, unknown>): void {
    const told = params.thread as { id: string } | undefined;
    const threadId = (params.threadId as string | undefined) ?? told?.id;
    if (threadId === undefined) return;
    const thread = FOR_EVERYONE.has(method) ? this.#know(threadId) : this.#threads.get(threadId);
    if (thread === undefined) return this.#broken(`${method} about ${threadId}, which it never heard of`);
    if (!thread.following && !FOR_EVERYONE.has(method)) {
      return this.#broken(`${method} about ${threadId}, which it does not follow`);
    }
    this.#about(thread, method, params);
    if (method !== "error") thread.last = method;
  }

  #about(thread: Thread, method: string, params: Record<string, unknown>): void {
    switch (method) {
      case "thread/status/changed":
        return this.#status(thread, (params.status as { type: string }).type);
      case "turn/started":
        return this.#turnStarted(thread, (params.turn as { id: string }).id);
      case "turn/completed":
        return this.#turnCompleted(thread, params.turn as { id: string; status: string });
      case "item/started":
        return this.#itemStarted(thread, params);
      case "item/agentMessage/delta":
        return this.#delta(thread, params);
      case "item/completed":
        return this.#itemCompleted(thread, params);
    }
  }

  #status(thread: Thread, status: string): void {
    // Followers get each change. Others may get only the last of several.
    if (thread.following && thread.status === status) this.#broken(`status ${status} told twice in a row`);
    thread.status = status;
    thread.statusAt = this.#frames;
  }

  #turnStarted(thread: Thread, id: string): void {
    if (thread.turns.has(id)) return this.#broken(`turn ${id} started twice`);
    for (const [other, { open }] of thread.turns) {
      if (open) this.#broken(`turn ${id} started while ${other} runs`);
    }
    thread.turns.set(id, {
      startedAt: this.#frames,
      statusAt: thread.statusAt,
      partial: false,
      items: new Map(),
      inputs: [],
      open: true,
    });
  }

  #turnCompleted(thread: Thread, { id, status }: { id: string; status: string }): void {
    const turn = this.#turn(thread, id, "turn/completed");
    if (turn === undefined) return;
    if (status === "inProgress") this.#broken(`turn ${id} completed in progress`);
    for (const [itemId, { type, open, brokenOff }] of turn.items) {
      // A failed compaction is never reported as completed. A command may continue in the background.
      if (!open || type === "contextCompaction" || type === "commandExecution") continue;
      // An answer that was interrupted, or cut off by more input, is not reported as completed.
      if (OF_THE_MODEL.has(type) && (status === "interrupted" || brokenOff)) continue;
      this.#broken(`turn ${id} completed with item ${itemId} open`);
    }
    if (thread.last !== "thread/status/changed" || thread.status === "active") {
      this.#broken(`turn ${id} completed right after ${thread.last} (${thread.status}), not after idle`);
    }
    const unheard = status === "completed" ? turn.inputs.filter((input) => !this.#answered.has(input)) : [];
    if (unheard.length > 0)
      this.#broken(`turn ${id} completed, but the model never answered ${unheard.join()}`);
    turn.open = false;
  }

  #itemStarted(thread: Thread, params: Record<string, unknown>): void {
    // It comes before its turn.
    if (isReviewEntry(params)) return;
    const turnId = params.turnId as string;
    const turn = this.#turn(thread, turnId, "item/started");
    const item = params.item as { id: string; type: string; clientId?: string | null };
    if (turn === undefined) return;
    if (turn.items.has(item.id)) return this.#broken(`item ${item.id} started twice`);
    if (item.type === "userMessage") for (const one of turn.items.values()) one.brokenOff ||= one.open;
    turn.items.set(item.id, { type: item.type, text: "", open: true });
    if (item.type === "userMessage") this.#input(turn, turnId, item.clientId ?? undefined);
  }

  /** The effects of a request are reported after its reply. Clients name their inputs after their requests. */
  #input(turn: Turn, turnId: string, clientId: string | undefined): void {
    if (clientId === undefined) return;
    const opens = turn.inputs.length === 0 && !turn.partial;
    turn.inputs.push(clientId);
    if (!clientId.startsWith(this.#prefix)) return;
    const request = this.#requests.get(Number(clientId.slice(this.#prefix.length)))!;
    if (request.reply === undefined) return this.#broken(`input ${clientId} told before its reply`);
    if (!opens) return;
    if (request.reply > turn.startedAt) this.#broken(`turn ${turnId} told before the reply that starts it`);
    if (request.reply > (turn.statusAt ?? turn.startedAt)) {
      this.#broken(`the status of turn ${turnId} told before the reply that starts it`);
    }
  }

  #delta(thread: Thread, params: Record<string, unknown>): void {
    const turn = this.#turn(thread, params.turnId as string, "delta");
    const itemId = params.itemId as string;
    const item = turn?.items.get(itemId);
    if (item === undefined) {
      if (turn !== undefined && !turn.partial) this.#broken(`delta of item ${itemId} before its start`);
    } else if (!item.open) this.#broken(`delta of item ${itemId} after its end`);
    else item.text += params.delta as string;
  }

  #itemCompleted(thread: Thread, params: Record<string, unknown>): void {
    if (isReviewEntry(params)) return;
    const { id, type, text } = params.item as { id: string; type: string; text?: string };
    const turn =
      type === "commandExecution"
        ? thread.turns.get(params.turnId as string)
        : this.#turn(thread, params.turnId as string, "item/completed");
    const item = turn?.items.get(id);
    if (item === undefined) {
      if (turn !== undefined && !turn.partial) this.#broken(`item ${id} completed before its start`);
      return;
    }
    if (!item.open) return this.#broken(`item ${id} completed twice`);
    item.open = false;
    const told = this.mayLag ? text?.slice(0, item.text.length) : text;
    if (type === "agentMessage" && told !== item.text) {
      this.#broken(`item ${id}: deltas say ${shown(item.text)}, its end says ${shown(text ?? "")}`);
    }
  }

  #turn(thread: Thread, id: string, what: string): Turn | undefined {
    const turn = thread.turns.get(id);
    if (turn?.open) return turn;
    if (turn === undefined && thread.joined) {
      const partial: Turn = {
        startedAt: this.#frames,
        statusAt: undefined,
        partial: true,
        items: new Map(),
        inputs: [],
        open: true,
      };
      thread.turns.set(id, partial);
      return partial;
    }
    this.#broken(`${what} of turn ${id}, which ${turn === undefined ? "has not started" : "has ended"}`);
    return undefined;
  }

  #know(threadId: string): Thread {
    let thread = this.#threads.get(threadId);
    if (thread === undefined) {
      thread = {
        following: false,
        joined: false,
        turns: new Map(),
        status: undefined,
        statusAt: undefined,
        last: undefined,
      };
      this.#threads.set(threadId, thread);
    }
    return thread;
  }
}

/** Items whose text the model writes. */
const OF_THE_MODEL: ReadonlySet<string> = new Set(["agentMessage", "plan", "reasoning"]);

function isReviewEntry({ item }: Record<string, unknown>): boolean {
  return (item as { type: string }).type === "enteredReviewMode";
}

function shown(text: string): string {
  return text.length > 60 ? `${JSON.stringify(text.slice(0, 60))}… (${text.length})` : JSON.stringify(text);
}
