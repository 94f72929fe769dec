import { type ModelClient, ModelThread, type Surroundings, type Told } from "./reference-thread.ts";

type Params = Readonly<Record<string, unknown>>;

/**
 * What clients may rely on, as a small program: it gets the same requests as the host, one at a time, and computes
 * every frame that every client must get. IDs are letters and numbers, in the order of their appearance.
 */
export class Reference implements Surroundings {
  now = 0;
  readonly clients = new Map<string, ModelClient>();
  readonly threads = new Map<string, ModelThread>();
  /** By client, then by thread, because frames of different threads have no fixed order. */
  readonly #told = new Map<string, Map<string, Told[]>>();
  #turns = 0;

  tell({ name }: ModelClient, thread: string, told: Told): void {
    const threads = this.#told.get(name) ?? new Map<string, Told[]>();
    this.#told.set(name, threads);
    threads.set(thread, [...(threads.get(thread) ?? []), told]);
  }

  /** The expected frames since the last call. */
  take(): ReadonlyMap<string, ReadonlyMap<string, readonly Told[]>> {
    const told = new Map(this.#told);
    this.#told.clear();
    return told;
  }

  connect(client: ModelClient): void {
    this.clients.set(client.name, client);
  }

  disconnect(name: string): void {
    const client = this.clients.get(name)!;
    this.clients.delete(name);
    for (const thread of this.threads.values()) thread.leave(client, client.delayMs);
  }

  /** Moves the clock. Everything that is due on the way happens in order. */
  jump(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const due = [...this.threads.values()].flatMap((thread) => thread.due ?? []);
      const next = due.sort((one, other) => one.at - other.at)[0];
      if (next === undefined || next.at > end) break;
      this.now = next.at;
      next.happen();
    }
    this.now = end;
  }

  /** The host shuts down normally. */
  close(): void {
    const loaded = [...this.threads.values()].filter(({ load }) => load !== undefined);
    // A thread that waits for an answer is left to the next host unchanged.
    const waiting = loaded.filter(({ load }) => load!.running?.asking);
    for (const thread of loaded) if (!waiting.includes(thread)) thread.unload();
    this.clients.clear();
    for (const thread of waiting) thread.leftToNextHost();
  }

  /** The host is killed, and the next one recovers its threads. */
  kill(): void {
    this.clients.clear();
    for (const thread of this.threads.values()) thread.lose();
  }

  answer(clientName: string, threadId: string): void {
    this.threads.get(threadId)!.answer(this.clients.get(clientName)!);
  }

  request(clientName: string, method: string, params: Params): void {
    const client = this.clients.get(clientName)!;
    const threadId = (params.threadId as string | undefined) ?? "";
    const reply = (what: string, thread = threadId) => this.tell(client, thread, { what: `reply ${what}` });
    const thread = this.threads.get(threadId);
    if (method === "thread/start") return this.#start(client, reply);
    if (method === "thread/loaded/list") return reply(this.loaded.join(" "));
    this.#ask(client, method, params, thread!, reply);
  }

  get loaded(): readonly string[] {
    return [...this.threads.values()].filter(({ load }) => load !== undefined).map(({ id }) => id);
  }

  #ask(client: ModelClient, method: string, params: Params, thread: ModelThread, reply: Reply): void {
    switch (method) {
      case "thread/read":
        if (thread.deleted) return reply("error threadNotLoaded");
        return reply(
          `${thread.status} name=${thread.name} pending=${thread.pending} read state ${thread.readState} turns: ${thread.shown()}`,
        );
      case "thread/fork":
        return this.#fork(client, thread, params, reply);
      case "thread/resume":
        return resume(client, thread, params, reply);
      case "thread/unsubscribe":
        if (thread.load === undefined) return reply("notLoaded");
        if (!thread.load.subscribers.has(client)) return reply("notSubscribed");
        reply("unsubscribed");
        return thread.leave(client, client.delayMs);
      case "thread/unload":
        return unload(client, thread, params.interrupt === true, reply);
      case "thread/archive":
      case "thread/unarchive":
      case "thread/delete":
        return put(thread, method, reply);
      case "thread/name/set":
        if (thread.deleted) return reply("error noRollout");
        thread.name = params.name as string;
        reply("ok");
        thread.tell(`name ${thread.name}`, "everyone");
        return thread.changed();
      case "thread/loadSettings/update":
        if (thread.deleted) return reply("error noRollout");
        thread.pending = params.developerInstructions as string;
        reply(`pending ${thread.pending}`);
        return thread.changed();
    }
    if (thread.load === undefined) return reply("error threadNotFound");
    switch (method) {
      case "turn/start":
        return this.#startTurn(thread, textOf(params), reply);
      case "turn/steer":
        return steer(thread, params, reply);
      case "turn/interrupt":
        return interrupt(thread, params.turnId as string, reply);
      case "thread/rollback":
        return rollback(thread, params.numTurns as number, reply);
      case "thread/revert":
        return revert(thread, params.beforeTurnId as string, reply);
      default:
        throw new Error(`the reference does not know ${method}`);
    }
  }

  #start(client: ModelClient, reply: Reply): void {
    const thread = this.#newThread();
    thread.enter();
    thread.follow(client);
    reply("idle turns: ", thread.id);
    thread.announce("started");
  }

  #fork(client: ModelClient, from: ModelThread, params: Params, reply: Reply): void {
    if (from.deleted) return reply("error noRollout");
    if (from.archived) return reply("error archived");
    const ended = from.turns.filter(({ status }) => status !== "inProgress");
    const wanted = (params.lastTurnId ?? params.beforeTurnId) as string | undefined;
    const at = ended.findIndex(({ id }) => id === wanted);
    if (wanted !== undefined && at < 0) return reply("error turnNotFound");
    const count = wanted === undefined ? ended.length : params.lastTurnId === undefined ? at : at + 1;
    const thread = this.#newThread();
    thread.turns = ended.slice(0, count).map((turn) => ({ ...turn, items: [...turn.items] }));
    thread.name = from.name;
    thread.instructions = from.instructions;
    thread.usage = thread.turns.findLast(({ usage }) => usage !== undefined)?.usage ?? null;
    const last = thread.turns.at(-1);
    // A failure belongs to the load in which it happened. An interrupt that is repeated is still the same one.
    const status = last?.status === "failed" ? "completed" : last?.status;
    thread.last = last === undefined ? null : { id: last.id, status: status! };
    thread.enter();
    thread.follow(client);
    reply(`idle turns: ${params.excludeTurns ? "" : thread.shown()}`, thread.id);
    if (!params.excludeTurns) tellUsage(client, thread);
    thread.announce("started");
  }

  #newThread(): ModelThread {
    const thread = new ModelThread(`T${this.threads.size + 1}`, this);
    this.threads.set(thread.id, thread);
    return thread;
  }

  #startTurn(thread: ModelThread, input: string, reply: Reply): void {
    const running = thread.load!.running;
    const id = running?.turn.id ?? `turn${++this.#turns}`;
    reply(`turn ${id}`);
    if (running === undefined) thread.startTurn(id, input);
    else thread.steer(input);
  }
}

type Reply = (what: string, thread?: string) => void;

function textOf(params: Params): string {
  return (params.input as readonly { readonly text: string }[])[0]!.text;
}

function tellUsage(client: ModelClient, thread: ModelThread): void {
  if (thread.usage === null || (thread.load!.running === undefined && thread.last === null)) return;
  thread.aside(client, `usage ${thread.usage}`);
}

function resume(client: ModelClient, thread: ModelThread, params: Params, reply: Reply): void {
  if (thread.deleted) return reply("error noRollout");
  if (thread.archived) return reply("error archived");
  const cold = thread.load === undefined;
  const after = params.afterCursor as number | undefined;
  if (cold) thread.open(after === undefined ? undefined : client);
  const load = thread.load!;
  const gap = after === undefined ? "" : " gap=false";
  reply(`${load.status}${gap} turns: ${params.excludeTurns ? "" : thread.shown()}`);
  if (cold || !params.excludeTurns) tellUsage(client, thread);
  thread.aside(client, "goal/cleared");
  const isNew = !load.subscribers.has(client);
  thread.follow(client);
  if (after !== undefined) thread.replay(client, after);
  if ((isNew || after !== undefined) && thread.runningText !== undefined) {
    thread.aside(client, `text ${thread.runningText}`);
  }
  if (load.running?.asking) thread.aside(client, "question");
}

function unload(client: ModelClient, thread: ModelThread, interrupt: boolean, reply: Reply): void {
  const { load } = thread;
  if (load === undefined) return reply("notLoaded");
  const leaving = load.leaving;
  // The requesting client ends the load, so its reply comes before the notification of the close.
  load.leaving = undefined;
  const others = [...load.subscribers].filter((other) => other !== client).length;
  if (interrupt && others === 0) thread.endTurn("interrupted");
  load.leaving = leaving;
  const turnId = load.running?.turn.id ?? null;
  const blocked = client.experimental ? ` by ${turnId} and ${others}` : "";
  if (turnId !== null && !(interrupt && others > 0)) return reply(`active${blocked}`);
  if (others > 0) return reply(`otherSubscribers${blocked}`);
  thread.unload({ reply: () => reply("unloaded") });
}

function put(thread: ModelThread, method: string, reply: Reply): void {
  if (method === "thread/unarchive" && (thread.deleted || !thread.archived))
    return reply("error notArchived");
  if (thread.deleted || (method === "thread/archive" && thread.archived)) return reply("error noRollout");
  if (thread.load !== undefined) thread.unload({ closed: false });
  thread.deleted = method === "thread/delete";
  thread.archived = method === "thread/archive";
  reply(method === "thread/unarchive" ? "notLoaded" : "ok");
  thread.announce(`${method.slice("thread/".length)}d`);
}

function steer(thread: ModelThread, params: Params, reply: Reply): void {
  const { running } = thread.load!;
  if (running === undefined) return reply("error noActiveTurnToSteer");
  if (running.turn.id !== params.expectedTurnId) return reply("error steerMismatch");
  reply(`turn ${running.turn.id}`);
  thread.steer(textOf(params));
}

function interrupt(thread: ModelThread, turnId: string, reply: Reply): void {
  const { running } = thread.load!;
  const { last } = thread;
  if (running === undefined) {
    const again = last?.id === turnId && last.status === "interrupted";
    return reply(again ? "ok" : "error noActiveTurnToInterrupt");
  }
  if (running.turn.id !== turnId) return reply("error turnIdMismatch");
  reply("ok");
  thread.endTurn("interrupted");
}

function rollback(thread: ModelThread, count: number, reply: Reply): void {
  if (thread.load!.running !== undefined) return reply("error turnInProgress");
  thread.drop(count);
  thread.changed();
  reply(`${thread.status} turns: ${thread.shown()}`);
}

function revert(thread: ModelThread, turnId: string, reply: Reply): void {
  const at = thread.turns.findIndex(({ id }) => id === turnId);
  if (at < 0) return reply("error turnNotFound");
  const load = thread.load!;
  const { leaving } = load;
  // The client that ends the turn keeps the thread loaded until it is reverted.
  load.leaving = undefined;
  thread.endTurn("interrupted");
  load.leaving = leaving;
  reply("ok");
  thread.drop(thread.turns.length - at);
  thread.tell("reverted", "everyone");
  thread.changed();
}
