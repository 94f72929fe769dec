import type { NotificationName, NotificationParams, ThreadStatus } from "@bobbin/protocol";
import type { Frame } from "@bobbin/rpc";
import { rootOf } from "../core/children/helper-identity.ts";
import type { Command } from "../core/commands.ts";
import type { UnloadReason } from "../core/life/records.ts";
import type { OpenAtToolServers } from "../core/rap/open-calls-and-subscriptions.ts";
import type { Durability } from "../core/record-table.ts";
import type { Commit } from "../core/records.ts";
import type { PendingRequest } from "../core/requests/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { RunningText } from "../core/turn/item-texts.ts";
import { Fault, fault } from "../errors.ts";
import type { Slices } from "../platform/event-loop-slices.ts";
import type { Platform } from "../platform/platform.ts";
import type { ThreadJournal } from "../store/journal.ts";
import { guardStorage } from "../store/storage-fault.ts";
import { type Head, readHead } from "../store/thread-head.ts";
import { commit, decideLetters } from "./commit.ts";
import { FailedWrite } from "./failed-write.ts";
import type { FanOut } from "./fan-out.ts";
import { LoadedThread } from "./loaded-thread.ts";
import { type CommitCallback, type Letter, Mailbox } from "./mailbox.ts";
import { notificationFrame } from "./notification-frame.ts";
import type { ThreadObserver } from "./observers.ts";

/** Dependencies of actors. There may be many actors, so all of them share one object. */
export interface ActorPorts {
  readonly platform: Platform;
  /** Schedules commits, so that a thread with many commands does not delay others. */
  readonly commits: Slices<Actor>;
  /** Notifies every connection that may see the thread, except its subscribers, who are notified separately. */
  broadcast(actor: Actor, method: NotificationName, frame: Frame): void;
  /** The durability class that a commit needs before clients are notified of it. `wantsSync`: the caller wants an fsync. */
  durability(commit: Commit, wantsSync: boolean): Durability;
  readonly observers: Pick<Required<ThreadObserver>, "committed" | "failed">;
  /** Adds the commits to the index that a failed write has added to a thread's journal. */
  recovering(threadId: string): Promise<void>;
  readonly driver: Driver;
  /** Called when a hibernated thread is in memory again. */
  woken(actor: Actor): void;
  /** Called when the last running call of `during` has ended. */
  visited(actor: Actor): void;
  /** Returns the secret of a server request, for example a URL. The journal contains no secrets. */
  secretOf(requestId: number): string | undefined;
  /** Supervises background work. */
  supervise(what: string, work: Promise<unknown>): void;
}

/** Performs the effects of threads. After each commit it is called as an observer. */
export interface Driver {
  /** Starts the effects that the state requires, and aborts those that it no longer requires. */
  goOn(actor: Actor, state: ThreadState): void;
  /** Aborts all effects of a thread. */
  stop(actor: Actor): void;
}

/**
 * One loaded thread: its mailbox, its journal and its subscribers. Commands are processed one after the other. All
 * commands that arrive while a commit is written go into the next commit.
 */
export class Actor {
  readonly id: string;
  readonly owner: string;
  readonly ephemeral: boolean;
  readonly startKey: string | undefined;
  readonly parentId: string | null;
  /** The ID of the root thread: the ancestor that a client started, or this thread itself. */
  readonly rootId: string;
  readonly journal: ThreadJournal;
  readonly subscriptions: FanOut;
  readonly #ports: ActorPorts;
  readonly #thread: LoadedThread;
  readonly #mailbox = new Mailbox();
  #running: Promise<void> | undefined;
  #visits = 0;
  /** Running work of `during`. The next step waits for it. */
  #pause: Promise<void> | undefined;
  /** The error for further commands; undefined while commands are accepted. */
  #over: Fault | undefined;
  /** Set if the last write failed. Then the next command opens the journal again. */
  #failedWrite: FailedWrite | undefined;
  #isMoved = false;

  constructor(head: Head, journal: ThreadJournal, ports: ActorPorts) {
    const { facts } = head.state;
    this.id = facts.id;
    this.owner = facts.owner;
    this.ephemeral = facts.ephemeral;
    this.startKey = facts.startKey;
    this.parentId = facts.parentThreadId;
    this.rootId = rootOf(facts);
    this.journal = journal;
    this.#ports = ports;
    this.#thread = new LoadedThread(head, journal, ports, this);
    this.subscriptions = this.#thread.subscriptions;
  }

  /** Whether the thread accepts no more commands. */
  get gone(): boolean {
    return this.#over !== undefined;
  }

  /** Whether another host has taken over the thread. */
  get isMoved(): boolean {
    return this.#isMoved;
  }

  /** The last commit that clients were notified of. */
  get head(): number {
    return this.#thread.head;
  }

  /** The time of the last turn's start or end, or of the thread's creation, in milliseconds. */
  get updatedAt(): number {
    return this.#thread.activity.updatedAt;
  }

  /** Id of the running turn. */
  get activeTurn(): string | undefined {
    return this.#thread.activity.turnId;
  }

  /** Whether a turn runs, or is about to start by itself. */
  get busy(): boolean {
    return this.#thread.activity.busy;
  }

  get status(): ThreadStatus {
    return this.#thread.activity.status;
  }

  /** Server requests that wait for an answer of a client. */
  get requests(): readonly PendingRequest[] {
    return this.#thread.activity.requests;
  }

  /** Number of tool calls that are not settled. */
  get pendingCalls(): number {
    return this.#thread.activity.pendingCalls + this.#thread.activity.late;
  }

  /** Whether the turn only waits for answers of clients or tools. No work of the turn runs in this host meanwhile. */
  get waits(): boolean {
    return this.#thread.activity.waits;
  }

  /** Whether tool servers or child threads may send something to the thread at any time. */
  get live(): boolean {
    const { late, children, outside } = this.#thread.activity;
    return late + children + outside.subscriptions.length > 0;
  }

  /** Number of child threads that are working for this thread. */
  get children(): number {
    return this.#thread.activity.children;
  }

  /** The thread IDs of the open helpers, working or not. */
  get helpers(): readonly string[] {
    return this.#thread.activity.helpers;
  }

  /** The thread's open calls and subscriptions at tool servers. */
  get outside(): OpenAtToolServers {
    return this.#thread.activity.outside;
  }

  /**
   * Whether the last write failed, so that the state is unknown until the next command opens the journal again, or
   * whether the thread failed for another reason, so that it can only be read and unloaded.
   */
  get broken(): boolean {
    return (
      this.#failedWrite !== undefined || (this.#over !== undefined && this.status.type === "systemError")
    );
  }

  get resident(): boolean {
    return this.#thread.state !== undefined;
  }

  /** An estimate of the memory that hibernation would free; null while the thread hibernates. */
  get memoryBytes(): number | null {
    return this.#thread.memoryBytes;
  }

  /** Whether the thread can hibernate without losing running work. */
  get quiet(): boolean {
    return this.#running === undefined && (this.waits || !this.busy);
  }

  /**
   * Runs a command. Resolves once the commit is durable and clients were notified; rejects if the command is refused.
   * `committed` is called in between: a handler sends its reply there, so that the reply comes before the
   * notifications.
   */
  submit(command: Command, committed?: CommitCallback, synced = false): Promise<void> {
    if (command.kind === "itemStarted") this.#thread.beginText(command.turnId, command.item.id);
    return this.#post(command, committed, synced);
  }

  /**
   * Submits an outcome of the thread's own work, without waiting. A refusal is ignored: it means that the thread is
   * closing or broken, and clients learn that in another way. For a broken thread, the work was ended.
   */
  offer(command: Command, synced = false): void {
    if (this.#failedWrite !== undefined) return;
    this.submit(command, undefined, synced).catch(() => {});
  }

  /** Starts the due effects of a thread that was loaded without a follower. A refusal means that the thread was unloaded. */
  goOn(): void {
    this.look((state) => this.#begin(state)).catch(() => {});
  }

  /**
   * Breaks the thread after an unexpected error, because its state is uncertain. A broken thread accepts no more
   * commands.
   */
  fail(cause: unknown): void {
    if (this.#over !== undefined) return;
    const why = this.#break(cause);
    for (const letter of this.#mailbox.takeAll()) letter.refused(why);
  }

  /** Calls `seen` with the state after all earlier commands. */
  look(seen: (state: ThreadState) => void): Promise<void> {
    return this.#post(undefined, seen);
  }

  /** Like `look`, but the thread processes no other command until `work` is done. */
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

  /**
   * For the client that loads the thread: sends the reply, subscribes the client, and starts the due effects, in one
   * step of the mailbox. A running turn continues even if subscribing fails.
   */
  join(follow: (state: ThreadState) => Promise<void>): Promise<void> {
    return this.during(async (state) => {
      let follows = false;
      try {
        await follow(state);
        follows = true;
      } finally {
        if (follows || state.turn !== null) this.#begin(state);
      }
    });
  }

  /** Whether a call of `during` is running. Its client may be about to subscribe. */
  get visited(): boolean {
    return this.#visits > 0;
  }

  /** Returns the state after all commands so far. */
  async peek(): Promise<ThreadState> {
    const { state } = this.#thread;
    const isKnown = this.#failedWrite === undefined && this.#over === undefined;
    if (this.#running === undefined && isKnown && state !== undefined) return state;
    let seen!: ThreadState;
    await this.look((state) => {
      seen = state;
    });
    return seen;
  }

  /** Adds live text to a running item. Clients get the text at once; it becomes durable when the item completes. */
  text(text: RunningText, delta: string): void {
    this.#thread.growText(text, delta);
  }

  /** Sends a notification that is not in the journal to subscribers and to all other clients. */
  announce(method: NotificationName, frame: Frame): void {
    this.subscriptions.tell(method, frame);
    this.#ports.broadcast(this, method, frame);
  }

  /** Sends a notification that is not in the journal to subscribers only. */
  tell<N extends NotificationName>(method: N, params: NotificationParams<N>): void {
    this.subscriptions.tell(method, notificationFrame(method, params, this.#ports.platform.clock.now()));
  }

  /**
   * Drops the state from memory; the journal contains it. The next command reads it again. Returns false, and drops
   * nothing, if work is running.
   */
  hibernate(): boolean {
    if (!this.quiet || this.ephemeral || !this.resident) return false;
    this.#thread.hibernate();
    this.#ports.supervise("hibernating", this.journal.rest());
    return true;
  }

  /** Submits the thread's last command. Later commands fail, because the thread is not loaded. */
  async close(reason: UnloadReason, committed: () => void = () => {}): Promise<Head> {
    const at = this.#ports.platform.clock.now();
    let state!: ThreadState;
    const closed = this.submit({ kind: "close", at, reason }, (after) => {
      state = after;
      committed();
    });
    this.#over ??= fault("threadNotFound", this.id);
    this.#thread.stopSaving();
    await closed;
    return { state, seq: this.head };
  }

  /** Leaves the thread unchanged for the next host. Sends no notification, and accepts no more commands. */
  async park(): Promise<void> {
    const done = this.look(() => this.#ports.driver.stop(this));
    this.#over ??= fault("shuttingDown");
    this.#thread.stopSaving();
    await done;
    await this.journal.flush();
  }

  /**
   * Another host has taken over the thread: drops all pending work, and accepts and writes nothing more. Resolves
   * when the running commit was written or refused.
   */
  async moved(): Promise<void> {
    this.#isMoved = true;
    this.#over ??= fault("threadNotFound", this.id);
    this.#thread.stopSaving();
    this.#ports.driver.stop(this);
    for (const letter of this.#mailbox.takeAll()) letter.refused(this.#over);
    await this.#running;
  }

  #begin(state: ThreadState): void {
    try {
      this.#ports.driver.goOn(this, state);
    } catch (cause) {
      this.fail(cause);
    }
  }

  #post(command: Command | undefined, committed: CommitCallback | undefined, synced = false): Promise<void> {
    if (this.#over !== undefined) return Promise.reject(this.#over);
    const answered = this.#mailbox.post(command, committed, synced);
    this.#running ??= this.#run();
    return answered;
  }

  /** Never rejects: an unhandled rejection would end the process with all threads. */
  async #run(): Promise<void> {
    // Waits for one microtask, so that commands that are submitted together go into the same commit.
    await Promise.resolve();
    for (let first = true; !this.#mailbox.empty; first = false) {
      let batch: readonly Letter[] = [];
      try {
        const later = first ? undefined : this.#ports.commits.turn(this);
        if (later !== undefined) await later;
        batch = this.#mailbox.take();
        if (this.#failedWrite !== undefined) await this.#recover(this.#failedWrite);
        await this.#step(batch, this.#thread.state ?? (await this.#wake()));
        await this.#pause;
        this.#pause = undefined;
      } catch (cause) {
        const why = this.#break(cause);
        // The commands that still wait were meant for a state that is no longer known.
        for (const letter of [...batch, ...this.#mailbox.takeAll()]) letter.refused(why);
      }
    }
    this.#running = undefined;
  }

  async #wake(): Promise<ThreadState> {
    const head = await guardStorage(() => readHead(this.journal));
    if (head === undefined || head.seq !== this.head) {
      throw fault("storageFailed", `the journal ends at ${head?.seq}, not at ${this.head}`);
    }
    this.#thread.woken(head.state);
    this.#ports.woken(this);
    return head.state;
  }

  #step(batch: readonly Letter[], state: ThreadState): Promise<void> {
    const decided = decideLetters(this.#thread, batch, state, this.head);
    if (decided.taken < batch.length) this.#mailbox.putBack(batch.slice(decided.taken));
    return commit(this.#thread, decided, this.#ports);
  }

  /**
   * Breaks the thread: the end of its journal is uncertain, or not all clients were notified. The running turn ends for
   * clients. After a failed write, the next command opens the journal again; after any other error, the thread accepts
   * nothing more. Never throws.
   */
  #break(cause: unknown): Fault {
    if (this.#isMoved) return this.#over!;
    const why = cause instanceof Fault ? cause : fault("threadBroken", this.id);
    const isStorage = why.code === "storageFailed";
    const before = this.#failedWrite;
    const failure = before ?? new FailedWrite(this.#thread, this.#ports);
    this.#failedWrite = isStorage ? failure : undefined;
    if (!isStorage) this.#over = why;
    if (before === undefined) {
      if (!failure.endTurn(why.message, this.activeTurn)) this.#announceStatus();
    } else if (isStorage) return why;
    this.#ports.observers.failed(this, cause);
    return why;
  }

  /** Opens the journal again after a failed write. Clients were sent `systemError` when it failed. */
  async #recover(failure: FailedWrite): Promise<void> {
    const state = await failure.recover();
    this.#failedWrite = undefined;
    this.#ports.woken(this);
    if (this.status.type !== "systemError") this.#announceStatus();
    this.#begin(state);
  }

  #announceStatus(): void {
    const params = { threadId: this.id, status: this.status };
    const frame = notificationFrame("thread/status/changed", params, this.#ports.platform.clock.now());
    this.announce("thread/status/changed", frame);
  }
}
