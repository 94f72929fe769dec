import type { NotificationName, NotificationParams, ThreadStatus } from "@bobbin/protocol";
import type { Frame } from "@bobbin/rpc";
import type { Command } from "../core/commands.ts";
import { type Decision, decide } from "../core/decide.ts";
import type { UnloadReason } from "../core/life/records.ts";
import type { Notification } from "../core/notification.ts";
import { notify } from "../core/notify.ts";
import type { Outside } from "../core/rap/outside.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { PendingRequest } from "../core/requests/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { RunningText } from "../core/turn/texts.ts";
import { Fault, fault } from "../errors.ts";
import { append, type ThreadJournal } from "../journal/journal.ts";
import { type Head, recall } from "../journal/recall.ts";
import { saved } from "../journal/saved.ts";
import type { Cancel, Clock, Platform, Timers } from "../platform/platform.ts";
import type { Slices } from "../platform/slices.ts";
import { Checkpoints } from "./checkpoints.ts";
import { type Committed, type Letter, Mailbox } from "./mailbox.ts";
import { notificationFrame } from "./notification-frame.ts";
import { type Outline, outlineOf } from "./outline.ts";
import type { Cursor, Subscription } from "./subscription.ts";
import { type FollowedThread, Subscriptions } from "./subscriptions.ts";
import { TextStreams } from "./text-streams.ts";

/** What actors need from around them; one for all, because there may be many of them. */
export interface ActorPorts {
  readonly platform: Platform;
  /** Keeps threads with many commands from holding up others. */
  readonly commits: Slices<Actor>;
  /** Tells every connection that may see the thread, but for its subscribers, who were told. */
  broadcast(actor: Actor, method: NotificationName, frame: Frame): void;
  /** Whether a commit has to survive a power cut before it is told; `asked`: whoever sent it wants that. */
  mustSync(commit: Commit, asked: boolean): boolean;
  /** What the state asks for is started, what it no longer asks for is stopped. */
  reconcile(actor: Actor, state: ThreadState, commit?: Commit): void;
  /** After each commit. */
  committed(actor: Actor, commit: Commit, state: ThreadState): void;
  /** It slept, and is in memory again. */
  woken(actor: Actor): void;
  /** The last one that was at work with it has gone. */
  visited(actor: Actor): void;
  failed(actor: Actor, cause: unknown): void;
  /** What a question is asked with that no record holds. */
  secretOf(requestId: number): string | undefined;
  /** Takes work that nobody awaits. */
  supervise(what: string, work: Promise<unknown>): void;
}

/** Running text is written to the journal this often, so that a crash loses little of what was shown. */
const SAVE_TEXT_MS = 1000;

const NO_TEXTS: ReadonlyMap<string, string> = new Map();

/**
 * One loaded thread: a mailbox, an append, a fan-out, and nothing else. Commands are taken one after the other;
 * those that wait while a commit is being written go into the next commit together.
 */
export class Actor implements FollowedThread {
  readonly id: string;
  readonly owner: string;
  readonly ephemeral: boolean;
  readonly startKey: string | undefined;
  readonly parentId: string | null;
  readonly journal: ThreadJournal;
  readonly subscriptions: Subscriptions;
  readonly #ports: ActorPorts;
  /** Set while there may be text that runs. */
  #streams: TextStreams | undefined;
  /** Undefined while hibernated: the journal has it. */
  #state: ThreadState | undefined;
  /** What is asked of a thread at any time, also of one that sleeps. */
  #outline: Outline;
  /** The last commit that was told. */
  #head: number;
  readonly #checkpoints = new Checkpoints();
  readonly #mailbox = new Mailbox();
  #running: Promise<void> | undefined;
  #visits = 0;
  /** What the next step waits for. */
  #pause: Promise<void> | undefined;
  /** Set while text is running that is not in the journal. */
  #saving: Cancel | undefined;
  /** Why it takes no more commands. */
  #over: Fault | undefined;

  constructor({ state, seq }: Head, journal: ThreadJournal, ports: ActorPorts) {
    this.id = state.facts.id;
    this.owner = state.facts.owner;
    this.ephemeral = state.facts.ephemeral;
    this.startKey = state.facts.startKey;
    this.parentId = state.facts.parentThreadId;
    this.#state = state;
    this.#outline = outlineOf(state);
    this.#head = seq;
    this.journal = journal;
    this.#ports = ports;
    this.subscriptions = new Subscriptions(this);
  }

  // What its followers need.

  get clock(): Clock {
    return this.#ports.platform.clock;
  }

  get timers(): Timers {
    return this.#ports.platform.timers;
  }

  get gone(): boolean {
    return this.#over !== undefined;
  }

  bringUp(subscription: Subscription): void {
    if (this.#streams === undefined) subscription.caughtUp();
    else this.#streams.bringUp(subscription);
  }

  secretOf(requestId: number): string | undefined {
    return this.#ports.secretOf(requestId);
  }

  supervise(what: string, work: Promise<unknown>): void {
    this.#ports.supervise(what, work);
  }

  /** The last commit that was told. */
  get head(): number {
    return this.#head;
  }

  /** The running turn. */
  get activeTurn(): string | undefined {
    return this.#outline.turnId;
  }

  /** A turn runs, or is about to begin by itself. */
  get busy(): boolean {
    return this.#outline.busy;
  }

  get status(): ThreadStatus {
    return this.#outline.status;
  }

  /** Questions that wait for an answer of clients. */
  get requests(): readonly PendingRequest[] {
    return this.#outline.requests;
  }

  /** How many calls of tools are not settled. */
  get pendingCalls(): number {
    return this.#outline.pendingCalls + this.#outline.late;
  }

  /** Its turn waits for an answer from outside, for as long as that takes: nothing of it runs here. */
  get waits(): boolean {
    return this.#outline.waits;
  }

  /** Tool servers, or its children, may have something to say to it, at any time. */
  get live(): boolean {
    const { late, children, outside } = this.#outline;
    return late + children + outside.subscriptions.length > 0;
  }

  /** Threads that handle something for it. */
  get children(): number {
    return this.#outline.children;
  }

  /** What tool servers have of it. */
  get outside(): Outside {
    return this.#outline.outside;
  }

  /** Its journal takes nothing more; it can only be read, and unloaded. */
  get broken(): boolean {
    return this.#over !== undefined && this.#outline.status.type === "systemError";
  }

  get resident(): boolean {
    return this.#state !== undefined;
  }

  /** Nothing is under way that hibernating would lose. */
  get quiet(): boolean {
    return this.#running === undefined && (this.waits || !this.busy);
  }

  /**
   * Resolves once the command is durable and told, or throws why it was refused. `committed` runs in between:
   * that is where a reply is sent, so that it comes before the notifications.
   */
  submit(command: Command, committed?: Committed, synced = false): Promise<void> {
    if (command.kind === "itemStarted") this.#beginText(command.turnId, command.item.id);
    return this.#post(command, committed, synced);
  }

  /**
   * For what comes of the thread's own work, and nobody waits for. A refusal means that it comes too late: the
   * thread is closing or broken, and those who have to know are told so.
   */
  offer(command: Command, synced = false): void {
    this.submit(command, undefined, synced).catch(() => {});
  }

  /** Begins what is due in a thread that was just loaded, once whoever loaded it follows it. */
  goOn(): void {
    this.look((state) => this.#ports.reconcile(this, state)).catch((cause) => {
      // A refusal means that the thread has gone meanwhile.
      if (!(cause instanceof Fault)) this.fail(cause);
    });
  }

  /** Something went wrong with its work, and nobody knows how far that came: it takes nothing more. */
  fail(cause: unknown): void {
    if (this.#over !== undefined) return;
    const why = this.#break(cause);
    for (const letter of this.#mailbox.takeAll()) letter.refused(why);
  }

  /** Runs with the state, in its turn among the commands. */
  look(seen: (state: ThreadState) => void): Promise<void> {
    return this.#post(undefined, seen);
  }

  /** Like `look`, and nothing else happens in the thread until it is done. */
  async during(work: (state: ThreadState) => Promise<void>): Promise<void> {
    this.#visits++;
    try {
      await new Promise<void>((resolve, reject) => {
        const gate = this.look((state) => {
          this.#pause = work(state).then(resolve, reject);
        });
        gate.catch(reject);
      });
    } finally {
      if (--this.#visits === 0) this.#ports.visited(this);
    }
  }

  /** Someone is at work with it, and may be about to follow it. */
  get visited(): boolean {
    return this.#visits > 0;
  }

  /** The state as it is after the commands before. */
  async peek(): Promise<ThreadState> {
    if (this.#running === undefined && this.#over === undefined && this.#state !== undefined)
      return this.#state;
    let seen!: ThreadState;
    await this.look((state) => {
      seen = state;
    });
    return seen;
  }

  /** Live text of a running item: shown at once, durable only when the item completes. */
  text(text: RunningText, delta: string): void {
    this.#streams?.grow(text, delta);
    // Background terminals go on without a turn, and do not keep the thread awake.
    if (this.#over !== undefined || this.#outline.turnId === undefined) return;
    this.#saveTextLater();
  }

  /** Tells subscribers and everyone else something that is in no record. */
  announce(method: NotificationName, frame: Frame): void {
    this.subscriptions.tell(method, frame);
    this.#ports.broadcast(this, method, frame);
  }

  /** Tells subscribers alone something that is in no record. */
  tell<N extends NotificationName>(method: N, params: NotificationParams<N>): void {
    this.subscriptions.tell(method, notificationFrame(method, params, this.#ports.platform.clock.now()));
  }

  /** Drops what the journal can give again; the next command wakes it. False if something is under way. */
  hibernate(): boolean {
    if (!this.quiet || this.ephemeral || this.#state === undefined) return false;
    this.#state = undefined;
    if (this.#streams?.empty) this.#streams = undefined;
    this.#ports.supervise("hibernating", this.journal.rest());
    return true;
  }

  /** The last command: what comes after it finds the thread not loaded. */
  async close(reason: UnloadReason, committed: () => void = () => {}): Promise<Head> {
    const at = this.#ports.platform.clock.now();
    let state!: ThreadState;
    const closed = this.submit({ kind: "close", at, reason }, (after) => {
      state = after;
      committed();
    });
    this.#over ??= fault("threadNotFound", this.id);
    this.#stopSaving();
    await closed;
    return { state, seq: this.#head };
  }

  /** Leaves everything as it is for the next host: nothing is told, nothing more is taken. */
  async park(): Promise<void> {
    let stopped: Promise<void> | undefined;
    const done = this.look((state) => {
      stopped = this.#stopWork(state);
    });
    this.#over ??= fault("shuttingDown");
    this.#saving?.();
    await done;
    await stopped;
    await this.journal.sync();
  }

  #post(command: Command | undefined, committed: Committed | undefined, synced = false): Promise<void> {
    if (this.#over !== undefined) return Promise.reject(this.#over);
    const answered = this.#mailbox.post(command, committed, synced);
    this.#running ??= this.#run();
    return answered;
  }

  /** Never fails: nobody would catch it, and all threads would end with the process. */
  async #run(): Promise<void> {
    // One microtask of patience: what is posted in the same breath goes into the same commit.
    await Promise.resolve();
    for (let first = true; !this.#mailbox.empty; first = false) {
      let batch: readonly Letter[] = [];
      try {
        const later = first ? undefined : this.#ports.commits.turn(this);
        if (later !== undefined) await later;
        batch = this.#mailbox.take();
        await this.#step(batch, this.#state ?? (await this.#wake()));
        await this.#pause;
        this.#pause = undefined;
      } catch (cause) {
        const why = this.#break(cause);
        // What waits was to be decided upon what is lost.
        for (const letter of [...batch, ...this.#mailbox.takeAll()]) letter.refused(why);
      }
    }
    this.#running = undefined;
  }

  async #wake(): Promise<ThreadState> {
    const head = await saved(() => recall(this.journal));
    if (head === undefined || head.seq !== this.#head) {
      throw fault("storageFailed", `the journal ends at ${head?.seq}, not at ${this.#head}`);
    }
    this.#state = head.state;
    this.#ports.woken(this);
    return head.state;
  }

  async #step(batch: readonly Letter[], before: ThreadState): Promise<void> {
    const records: ThreadRecord[] = [];
    const tell: (() => void)[] = [];
    const seq = this.#head + 1;
    let state = before;
    let index = 0;
    for (const [at, letter] of batch.entries()) {
      const decision = this.#decide(state, letter.command);
      if (decision.kind === "refused") {
        tell.push(refusal(letter, decision.fault));
        continue;
      }
      // A turn is found by its first commit, so no two have the same.
      if (startsTurn(decision.records) && startsTurn(records)) {
        this.#mailbox.putBack(batch.slice(at));
        break;
      }
      state = decision.state;
      tell.push(consent(letter, decision.state, decision.records));
      for (const record of decision.records) {
        if (endsItem(record)) this.#streams?.freeze(record.item.id);
        // The model's own items have begun when the command was sent: its text does not wait for the commit.
        if (record.type === "itemStarted" && record.item.type === "commandExecution")
          this.#beginText(record.turnId, record.item.id);
        const notifications = notify(this.id, record);
        const first = index;
        index += notifications.length;
        records.push(record);
        const { epoch } = state;
        tell.push(() => this.#tell(record, notifications, { epoch, seq, index: first }));
      }
    }
    if (records.length > 0) {
      const commit: Commit = { seq, epoch: state.epoch, prev: this.#head, records };
      if (this.#checkpoints.isDue(records)) records.push({ type: "checkpoint", state });
      await this.#append(
        commit,
        batch.some((letter) => letter.synced),
      );
      this.#head = seq;
      this.#state = state;
      this.#outline = outlineOf(state);
      if (state.turn === null) this.#stopSaving();
      for (const one of tell) one();
      this.#ports.reconcile(this, state, commit);
      this.#ports.committed(this, commit, state);
    } else {
      for (const one of tell) one();
    }
  }

  #decide(state: ThreadState, command: Command | undefined): Decision {
    if (command === undefined) return { kind: "accepted", records: [], state };
    const decision = decide(state, command, this.#streams?.shown() ?? NO_TEXTS);
    if (command.kind === "itemStarted" && decision.kind === "accepted" && decision.records.length === 0) {
      this.#streams?.end(command.item.id);
    }
    return decision;
  }

  async #append(commit: Commit, synced: boolean): Promise<void> {
    this.#checkpoints.written(commit, await append(this.journal, commit));
    if (this.#ports.mustSync(commit, synced)) await saved(() => this.journal.sync());
  }

  #saveText(): void {
    this.#saving = undefined;
    if (this.#over !== undefined) return;
    for (const unsaved of this.#streams?.takeUnsaved() ?? []) {
      this.offer({ kind: "saveText", ...unsaved });
    }
    if (this.#streams?.hasUnsaved) this.#saveTextLater();
  }

  #saveTextLater(): void {
    this.#saving ??= this.#ports.platform.timers.after(SAVE_TEXT_MS, () => this.#saveText());
  }

  #beginText(turnId: string, itemId: string): void {
    this.#streams ??= new TextStreams(this.id, this.#ports.platform, this.subscriptions);
    this.#streams.begin(turnId, itemId);
  }

  #stopSaving(): void {
    this.#saving?.();
    this.#saving = undefined;
  }

  /** Nothing more is taken: it is not known what the journal holds, or whether all were told. Never throws. */
  #break(cause: unknown): Fault {
    const why = cause instanceof Fault ? cause : fault("threadBroken", this.id);
    this.#over = why;
    this.#outline = { ...this.#outline, status: { type: "systemError" } };
    this.#stopSaving();
    this.supervise("reporting a thread that failed", this.#reportFailure(cause));
    this.supervise("stopping a thread that failed", this.#stopWork());
    return why;
  }

  /** Whoever hears of it may fail over the same thing that the thread did. */
  async #reportFailure(cause: unknown): Promise<void> {
    this.#ports.failed(this, cause);
  }

  /** Nothing of it is under way here any longer, nor armed. */
  async #stopWork(state = this.#state): Promise<void> {
    if (state !== undefined) this.#ports.reconcile(this, { ...state, status: { type: "notLoaded" } });
  }

  #tell(record: ThreadRecord, notifications: readonly Notification[], first: Cursor): void {
    this.#streams?.flush();
    notifications.forEach((notification, nth) => {
      const frame = this.subscriptions.durable({ ...first, index: first.index + nth }, notification);
      if (notification.audience === "everyone") this.#ports.broadcast(this, notification.method, frame);
    });
    if (record.type === "requestSent") this.subscriptions.ask(record.request);
    else if (record.type === "requestResolved") this.subscriptions.resolved(record.requestId);
    else if (record.type === "itemStarted") this.#streams?.told(record.item.id);
    else if (endsItem(record)) this.#streams?.end(record.item.id);
  }
}

/** A state that nobody asked for is not held: a batch has hundreds of them, and each may be large. */
function consent(
  { committed, done }: Letter,
  state: ThreadState,
  records: readonly ThreadRecord[],
): () => void {
  return committed === undefined ? done : () => committed(state, records);
}

function refusal({ refused }: Letter, why: Fault): () => void {
  return () => refused(why);
}

function endsItem(
  record: ThreadRecord,
): record is Extract<ThreadRecord, { type: "itemCompleted" | "terminalEnded" }> {
  return record.type === "itemCompleted" || record.type === "terminalEnded";
}

function startsTurn(records: readonly ThreadRecord[]): boolean {
  return records.some(({ type }) => type === "turnStarted");
}
