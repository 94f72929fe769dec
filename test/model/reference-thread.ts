/** What the input of a turn makes the scripted model do; see `scripts.ts`. */
export type Mood = "quick" | "slow" | "hang" | "fail" | "ask";

/** Virtual milliseconds after which a slow turn continues. */
export const SLOW_MS = 60_000;
/** Running text that is older than this is in the journal. */
const SAVED_MS = 1000;
const TOKENS = 3;
/** The status of a thread that waits for the user. */
const ASKING = "active:waitingOnUserInput";
/** Limit on the hosts that may die in a row during a turn. After that, the turn is not continued. */
const MAX_LOST_HOSTS = 3;

/** An expected frame, in words. `feedAt` is set if the frame carries a cursor: its index in the feed. */
export interface Told {
  readonly what: string;
  readonly feedAt?: number;
}

export interface ModelClient {
  readonly name: string;
  readonly delayMs: number;
  readonly experimental: boolean;
  readonly cursors: boolean;
}

export interface ModelTurn {
  readonly id: string;
  status: "inProgress" | "completed" | "interrupted" | "failed";
  readonly items: string[];
  /** The token usage that was reported at the turn's end. */
  usage: number | undefined;
}

interface Running {
  readonly turn: ModelTurn;
  /** The text of an incomplete item, and when it was first shown. */
  open: { readonly text: string; readonly since: number } | undefined;
  /** When the turn continues by itself, and with which text. */
  goesOn: { readonly at: number; readonly text: string } | undefined;
  /** What the user said last. */
  input: string;
  /** Whether the user is asked, because of this input. */
  asking: boolean;
  /** The last input for which the model has asked the user. */
  askedFor: string | undefined;
  /** The number of hosts that died since the model's last answer. */
  lostHosts: number;
}

/** A thread between its load and its unload. */
export interface Load {
  status: "idle" | "active" | typeof ASKING | "systemError";
  readonly instructions: string;
  readonly subscribers: Set<ModelClient>;
  running: Running | undefined;
  leaving: { readonly delayMs: number; dueAt: number | undefined } | undefined;
}

/** The environment of a thread: the time, and the clients that can be notified. */
export interface Surroundings {
  now: number;
  readonly clients: Map<string, ModelClient>;
  tell(client: ModelClient, thread: string, told: Told): void;
}

/** One thread as clients see it: without journal and mailbox, only with what is promised. */
export class ModelThread {
  readonly id: string;
  readonly #around: Surroundings;
  load: Load | undefined;
  archived = false;
  deleted = false;
  name: string | null = null;
  turns: ModelTurn[] = [];
  usage: number | null = null;
  last: { readonly id: string; readonly status: ModelTurn["status"] } | null = null;
  instructions: string | undefined;
  pending: string | undefined;
  /** The first unread turn, and how often that has changed. */
  unread: string | null = null;
  readChanges = 0;
  /** Every durable notification since the thread was created, which a replay can send. */
  readonly feed: string[] = [];

  constructor(id: string, around: Surroundings) {
    this.id = id;
    this.#around = around;
  }

  get status(): string {
    return this.load?.status ?? "notLoaded";
  }

  /** Sends a durable notification. `experimental`: only to clients with that capability. */
  tell(
    what: string,
    audience: "everyone" | "subscribers",
    { except, experimental = false }: { readonly except?: ModelClient; readonly experimental?: boolean } = {},
  ): void {
    const feedAt = this.feed.push(what) - 1;
    for (const client of this.#around.clients.values()) {
      if (client === except || (experimental && !client.experimental)) continue;
      if (this.load?.subscribers.has(client)) {
        this.#around.tell(client, this.id, client.cursors ? { what, feedAt } : { what });
      } else if (audience === "everyone") this.#around.tell(client, this.id, { what });
    }
  }

  /** Sends a notification that no replay repeats, to all connected clients. */
  announce(what: string): void {
    for (const client of this.#around.clients.values()) this.#around.tell(client, this.id, { what });
  }

  /** To one client alone. */
  aside(client: ModelClient, what: string): void {
    this.#around.tell(client, this.id, { what });
  }

  /** Sends one client again what comes after a position in the feed. */
  replay(client: ModelClient, after: number): void {
    for (let feedAt = after + 1; feedAt < this.feed.length; feedAt++) {
      const what = this.feed[feedAt]!;
      this.#around.tell(client, this.id, client.cursors ? { what, feedAt } : { what });
    }
  }

  /** Sends something live to the followers only. */
  #show(what: string): void {
    for (const client of this.load!.subscribers) this.#around.tell(client, this.id, { what });
  }

  #setUnread(turnId: string | null): void {
    this.unread = turnId;
    this.readChanges++;
    this.tell(`read state ${this.readState}`, "subscribers", { experimental: true });
  }

  get readState(): string {
    return `${this.unread} #${this.readChanges}`;
  }

  #setStatus(status: Load["status"]): void {
    if (this.load!.status === status) return;
    this.load!.status = status;
    this.tell(`status ${status}`, "everyone");
  }

  /** `replayed`: the client that gets the notification by a replay, and not separately. */
  open(replayed: ModelClient | undefined): void {
    this.instructions = this.pending ?? this.instructions;
    this.pending = undefined;
    this.tell("status idle", "everyone", { ...(replayed && { except: replayed }) });
    this.enter();
  }

  enter(): void {
    this.load = {
      status: "idle",
      instructions: this.instructions ?? "nothing",
      subscribers: new Set(),
      running: undefined,
      leaving: undefined,
    };
  }

  /** `closed`: false for archive and delete, which have their own notifications. */
  unload({ closed = true, reply = () => {} } = {}): void {
    this.load!.leaving = undefined;
    this.endTurn("interrupted");
    reply();
    this.tell("status notLoaded", "everyone");
    if (closed) this.tell("closed", "everyone");
    this.load = undefined;
  }

  follow(client: ModelClient): void {
    this.load!.subscribers.add(client);
    this.load!.leaving = undefined;
  }

  leave(client: ModelClient, delayMs: number): void {
    if (!this.load?.subscribers.delete(client) || this.load.subscribers.size > 0) return;
    this.load.leaving = { delayMs, dueAt: undefined };
    this.changed();
  }

  /**
   * A thread without followers stays loaded for its delay, counted from the end of its last turn. Other changes do
   * not matter.
   */
  changed(): void {
    const leaving = this.load?.leaving;
    if (leaving === undefined) return;
    if (this.load!.running !== undefined) leaving.dueAt = undefined;
    else if (leaving.delayMs === 0) this.unload();
    else leaving.dueAt ??= this.#around.now + leaving.delayMs;
  }

  startTurn(id: string, input: string): void {
    const turn: ModelTurn = { id, status: "inProgress", items: [], usage: undefined };
    this.turns.push(turn);
    this.load!.running = {
      turn,
      open: undefined,
      goesOn: undefined,
      input,
      asking: false,
      askedFor: undefined,
      lostHosts: 0,
    };
    this.changed();
    this.#setStatus("active");
    this.tell(`turn started ${id}`, "subscribers");
    this.#input(input);
  }

  steer(input: string): void {
    this.#closeItem(true);
    this.load!.running!.goesOn = undefined;
    this.#input(input);
  }

  #input(input: string): void {
    const running = this.load!.running!;
    running.input = input;
    this.#item(`user ${input}`);
    // The model gets this input after the user's answer.
    if (!running.asking) this.#respond(input);
  }

  /** What the model does when it is called. */
  #respond(input: string): void {
    const running = this.load!.running!;
    const answer = `${input} under ${this.load!.instructions}`;
    switch (input.split(" ")[0] as Mood) {
      case "quick":
        return this.#answer(answer);
      case "slow":
        running.goesOn = { at: this.#around.now + SLOW_MS, text: answer };
        return;
      case "hang":
      case "fail":
        this.tell("item started agent", "subscribers");
        running.open = { text: answer, since: this.#around.now };
        this.#show(`text ${answer}`);
        if (input.startsWith("fail")) this.endTurn("failed");
        return;
      case "ask":
        if (running.askedFor === input) return this.#answer(answer);
        running.askedFor = input;
        this.#used();
        this.#setStatus(ASKING);
        running.asking = true;
        this.#show("question");
    }
  }

  /** A client answers. Only followers can answer, and the first answer counts. */
  answer(client: ModelClient): void {
    const running = this.load?.running;
    if (!running?.asking || !this.load!.subscribers.has(client)) return;
    this.#resolve(running);
    this.#respond(running.input);
  }

  #resolve(running: Running): void {
    running.asking = false;
    this.tell("serverRequest/resolved", "subscribers");
    this.#setStatus("active");
  }

  /** Adds the token usage of one model call. */
  #used(): void {
    this.usage = (this.usage ?? 0) + TOKENS;
    this.load!.running!.turn.usage = this.usage;
    this.tell(`usage ${this.usage}`, "subscribers");
  }

  /** The model gives its whole answer. */
  #answer(text: string): void {
    const { turn } = this.load!.running!;
    this.tell("item started agent", "subscribers");
    this.#show(`text ${text}`);
    turn.items.push(`agent ${text}`);
    this.tell(`item completed agent ${text}`, "subscribers");
    this.#used();
    this.endTurn("completed");
  }

  goOn(): void {
    const { running } = this.load!;
    const { text } = running!.goesOn!;
    running!.goesOn = undefined;
    this.#answer(text);
  }

  #item(what: string): void {
    this.load!.running!.turn.items.push(what);
    this.tell(`item started ${what}`, "subscribers");
    this.tell(`item completed ${what}`, "subscribers");
  }

  #closeItem(brokenOff = false): void {
    const running = this.load!.running!;
    if (running.open === undefined) return;
    running.turn.items.push(`agent ${running.open.text}`);
    // An answer that the user cut off is not reported as completed.
    if (!brokenOff) this.tell(`item completed agent ${running.open.text}`, "subscribers");
    running.open = undefined;
  }

  endTurn(status: "completed" | "interrupted" | "failed"): void {
    const running = this.load?.running;
    if (running === undefined) return;
    if (running.asking) this.#resolve(running);
    this.#closeItem(status === "interrupted");
    this.load!.running = undefined;
    running.turn.status = status;
    this.last = { id: running.turn.id, status };
    if (status !== "interrupted") this.#setUnread(this.unread ?? running.turn.id);
    this.#setStatus(status === "failed" ? "systemError" : "idle");
    if (status === "failed") this.tell("error", "subscribers");
    this.tell(`turn ${status} ${running.turn.id}`, "subscribers");
    this.changed();
  }

  /** The host is killed: what the next host finds and reports. Unsaved text is lost. */
  lose(): void {
    if (this.load === undefined) return;
    const { running } = this.load;
    if (running?.asking) return this.leftToNextHost();
    if (running?.goesOn !== undefined && running.lostHosts < MAX_LOST_HOSTS) return this.#adopted(running);
    if (running?.open !== undefined && this.#around.now < running.open.since + SAVED_MS) {
      running.open = { ...running.open, text: "" };
    }
    this.unload();
  }

  /** The model had said nothing yet, so the next host calls it again. The thread has no followers. */
  #adopted(running: Running): void {
    running.lostHosts++;
    running.goesOn = { ...running.goesOn!, at: this.#around.now + SLOW_MS };
    this.leftToNextHost();
  }

  /** The host has ended, and the next one continues the turn. The thread has no followers. */
  leftToNextHost(): void {
    const load = this.load!;
    load.subscribers.clear();
    load.leaving = { delayMs: 0, dueAt: undefined };
    this.tell(`status ${load.status}`, "everyone");
  }

  /** Drops this many turns at the end. */
  drop(count: number): void {
    this.turns = this.turns.slice(0, Math.max(0, this.turns.length - count));
    if (this.unread !== null && !this.turns.some(({ id }) => id === this.unread)) this.#setUnread(null);
    const kept = this.turns.at(-1);
    this.last = kept === undefined ? null : { id: kept.id, status: "completed" };
    this.#setStatus("idle");
  }

  /** The next thing that happens by itself, and when. */
  get due(): { readonly at: number; readonly happen: () => void } | undefined {
    const goesOn = this.load?.running?.goesOn;
    if (goesOn !== undefined) return { at: goesOn.at, happen: () => this.goOn() };
    const dueAt = this.load?.leaving?.dueAt;
    return dueAt === undefined ? undefined : { at: dueAt, happen: () => this.unload() };
  }

  /** The turns as `thread/read` shows them, without running text. */
  shown(): string {
    const running = this.load?.running;
    return this.turns
      .map((turn) => {
        const open = running?.turn === turn && running.open !== undefined ? ["agent "] : [];
        return `${turn.id} ${turn.status} (${[...turn.items, ...open].join(", ")})`;
      })
      .join("; ");
  }

  /** The running text, for a client that joins in the middle of it. */
  get runningText(): string | undefined {
    return this.load?.running?.open?.text;
  }
}
