import type { Frame } from "@bobbin/rpc";
import type { Command } from "../core/commands.ts";
import { type Decision, decide } from "../core/decide.ts";
import { knownWeight, sum } from "../core/memory-size.ts";
import type { Notification } from "../core/notification.ts";
import { notify } from "../core/notify.ts";
import type { Durability } from "../core/record-table.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { PendingRequest } from "../core/requests/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { RunningText } from "../core/turn/item-texts.ts";
import type { Cancel, Clock, Timers } from "../platform/platform.ts";
import type { ThreadJournal } from "../store/journal.ts";
import type { Head } from "../store/thread-head.ts";
import type { Actor, ActorPorts } from "./actor.ts";
import { CheckpointPolicy } from "./checkpoint-policy.ts";
import type { CommitTarget } from "./commit.ts";
import { FanOut, type FollowedThread } from "./fan-out.ts";
import { notificationFrame } from "./notification-frame.ts";
import type { Cursor, Subscription } from "./subscription.ts";
import { TextStreams } from "./text-streams.ts";
import { activityOf, type ThreadActivity } from "./thread-activity.ts";

/** The interval at which running text is saved to the journal. A crash loses at most the text since the last save. */
const SAVE_TEXT_MS = 1000;

const NO_TEXTS: ReadonlyMap<string, string> = new Map();

/** A loaded thread in memory: its state, running texts and subscribers. Its actor serializes the changes. */
export class LoadedThread implements CommitTarget, FollowedThread {
  readonly id: string;
  readonly actor: Actor;
  readonly journal: ThreadJournal;
  readonly subscriptions: FanOut;
  readonly #ports: ActorPorts;
  /** Undefined while the thread hibernates. */
  #state: ThreadState | undefined;
  #activity: ThreadActivity;
  #head: number;
  readonly #checkpointPolicy = new CheckpointPolicy();
  /** Set while items may be running. */
  #streams: TextStreams | undefined;
  /** Set while running text waits to be saved. */
  #saving: Cancel | undefined;

  constructor({ state, seq }: Head, journal: ThreadJournal, ports: ActorPorts, actor: Actor) {
    this.id = state.facts.id;
    this.actor = actor;
    this.journal = journal;
    this.#ports = ports;
    this.#state = state;
    this.#activity = activityOf(state);
    this.#head = seq;
    this.subscriptions = new FanOut(this);
  }

  get state(): ThreadState | undefined {
    return this.#state;
  }

  /** An estimate of the size of the state; null while the thread hibernates. Cheap: only parts that changed are measured. */
  get memoryBytes(): number | null {
    return this.#state === undefined ? null : sum(Object.values(this.#state), knownWeight);
  }

  /** The activity of the thread, available also while the thread hibernates. */
  get activity(): ThreadActivity {
    return this.#activity;
  }

  /** The last commit that clients were notified of. */
  get head(): number {
    return this.#head;
  }

  /** Ends hibernation. `state`: the state that was read from the journal. */
  woken(state: ThreadState): void {
    this.#state = state;
  }

  /** Drops the state, which can be read from the journal again. */
  hibernate(): void {
    this.#state = undefined;
    this.stopSaving();
    if (this.#streams?.empty) this.#streams = undefined;
  }

  /**
   * Called when the journal cannot be written. Ends the running turn for clients by the command `end`, without a
   * record. Returns whether a turn was ended; its status is sent with it.
   */
  broken(end: Command): boolean {
    this.stopSaving();
    const ended = this.#state === undefined ? undefined : this.decide(this.#state, end);
    const isEnded = ended?.kind === "accepted" && ended.records.some(({ type }) => type === "turnEnded");
    const after = isEnded ? activityOf(ended.state) : this.#activity;
    this.#activity = { ...after, status: { type: "systemError" } };
    if (!isEnded) return false;
    for (const record of ended.records) {
      this.#send(record, notify(this.id, record), ({ method, params }) => {
        const frame = notificationFrame(method, params, this.clock.now());
        this.subscriptions.tell(method, frame);
        return frame;
      });
      // What the turn's end leads to happens once it is recorded.
      if (record.type === "turnEnded") break;
    }
    return true;
  }

  /** Called when the journal was opened again. Clients are sent nothing of what they missed: they got errors for it. */
  reopened({ state, seq }: Head): void {
    this.#state = state;
    this.#head = seq;
    this.#activity = activityOf(state);
  }

  // Commits (CommitTarget).

  decide(state: ThreadState, command: Command | undefined): Decision {
    if (command === undefined) return { kind: "accepted", records: [], state };
    const decision = decide(state, command, this.#streams?.shown() ?? NO_TEXTS);
    if (command.kind === "itemStarted" && decision.kind === "accepted" && decision.records.length === 0) {
      this.#streams?.end(command.item.id);
    }
    return decision;
  }

  recording(record: ThreadRecord): void {
    if (endsItem(record)) this.#streams?.freeze(record.item.id);
    // Items of the model were started when their command was submitted, so that their text does not wait for the
    // commit.
    if (record.type === "itemStarted" && record.item.type === "commandExecution")
      this.beginText(record.turnId, record.item.id);
  }

  isCheckpointDue(records: readonly ThreadRecord[]): boolean {
    return this.#checkpointPolicy.isDue(records);
  }

  durability(commit: Commit, isAsked: boolean): Durability {
    return this.#ports.durability(commit, isAsked);
  }

  written(commit: Commit, state: ThreadState, bytes: number): void {
    this.#checkpointPolicy.written(commit, bytes);
    this.#head = commit.seq;
    this.#state = state;
    this.#activity = activityOf(state);
    if (state.turn === null) this.stopSaving();
  }

  tell(record: ThreadRecord, notifications: readonly Notification[], first: Cursor): void {
    this.#send(record, notifications, (notification, nth) =>
      this.subscriptions.durable({ ...first, index: first.index + nth }, notification),
    );
  }

  /** `toSubscribers` sends a notification to the subscribers, and returns the frame for other connections. */
  #send(
    record: ThreadRecord,
    notifications: readonly Notification[],
    toSubscribers: (notification: Notification, nth: number) => Frame,
  ): void {
    this.#streams?.flush();
    notifications.forEach((notification, nth) => {
      const frame = toSubscribers(notification, nth);
      if (notification.audience === "everyone") this.#ports.broadcast(this.actor, notification.method, frame);
    });
    if (record.type === "requestSent") this.subscriptions.ask(record.request);
    else if (record.type === "requestResolved") this.subscriptions.resolved(record.requestId);
    else if (record.type === "itemStarted") this.#streams?.startSent(record.item.id);
    else if (endsItem(record)) this.#streams?.end(record.item.id);
  }

  // Subscribers (FollowedThread).

  get gone(): boolean {
    return this.actor.gone;
  }

  get clock(): Clock {
    return this.#ports.platform.clock;
  }

  get timers(): Timers {
    return this.#ports.platform.timers;
  }

  /** Server requests that wait for an answer. */
  get requests(): readonly PendingRequest[] {
    return this.#activity.requests;
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

  // Running text.

  beginText(turnId: string, itemId: string): void {
    this.#streams ??= new TextStreams(this.id, this.#ports.platform, this.subscriptions);
    this.#streams.begin(turnId, itemId);
  }

  /** Sends running text to subscribers. The text becomes durable when it is saved, or when the item completes. */
  growText(text: RunningText, delta: string): void {
    this.#streams?.grow(text, delta);
    // Between turns and during hibernation, the output of background terminals is not saved: saving would keep the
    // thread in memory.
    if (this.gone || this.#activity.turnId === undefined || this.#state === undefined) return;
    this.#saveTextLater();
  }

  stopSaving(): void {
    this.#saving?.();
    this.#saving = undefined;
  }

  #saveText(): void {
    this.#saving = undefined;
    if (this.gone) return;
    for (const unsaved of this.#streams?.takeUnsaved() ?? []) {
      this.actor.offer({ kind: "saveText", ...unsaved });
    }
    if (this.#streams?.hasUnsaved) this.#saveTextLater();
  }

  #saveTextLater(): void {
    this.#saving ??= this.#ports.platform.timers.after(SAVE_TEXT_MS, () => this.#saveText());
  }
}

function endsItem(
  record: ThreadRecord,
): record is Extract<ThreadRecord, { type: "itemCompleted" | "terminalEnded" }> {
  return record.type === "itemCompleted" || record.type === "terminalEnded";
}
