import type { NotificationName } from "@bobbin/protocol";
import type { Frame } from "@bobbin/rpc";
import type { Command } from "../core/commands.ts";
import { type Decision, decide } from "../core/decide.ts";
import { type Notification, notify } from "../core/notify.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { fault } from "../errors.ts";
import type { ThreadJournal } from "../journal/journal.ts";
import type { Platform } from "../platform/platform.ts";
import { notificationFrame } from "./notification-frame.ts";
import { type Recipient, Subscription } from "./subscription.ts";
import { TextStreams } from "./text-streams.ts";

/** What an actor needs from around it. */
export interface ActorPorts {
  readonly journal: ThreadJournal;
  readonly platform: Platform;
  /** Tells every connection that may see the thread, but for its subscribers, who were told. */
  broadcast(actor: Actor, method: NotificationName, frame: Frame): void;
  /** After each change: start and stop the work that the state asks for. */
  changed(actor: Actor): void;
  failed(actor: Actor, cause: unknown): void;
  /** Takes work that nobody awaits. */
  supervise(what: string, work: Promise<unknown>): void;
}

interface Letter {
  readonly command: Command;
  /** Called after the commit is durable and before anything that it caused is told. */
  readonly committed: (state: ThreadState) => void;
  readonly refused: (why: Error) => void;
}

/**
 * One thread: a mailbox, an append, a fan-out, and nothing else. Commands are taken one after the other; those
 * that wait while a commit is being written go into the next commit together.
 */
export class Actor {
  readonly id: string;
  readonly #ports: ActorPorts;
  readonly #subscriptions = new Map<Recipient, Subscription>();
  readonly #texts: TextStreams;
  #state: ThreadState;
  /** The last commit that was told. */
  #head: number;
  #mailbox: Letter[] = [];
  #running: Promise<void> | undefined;
  #broken = false;

  constructor(state: ThreadState, head: number, ports: ActorPorts) {
    this.id = state.facts.id;
    this.#state = state;
    this.#head = head;
    this.#ports = ports;
    this.#texts = new TextStreams(this.id, ports.platform, () => this.#subscriptions.values());
  }

  get state(): ThreadState {
    return this.#state;
  }

  get journal(): ThreadJournal {
    return this.#ports.journal;
  }

  /**
   * Resolves once the command is durable and told, or throws why it was refused. `committed` runs in between:
   * that is where a reply is sent, so that it comes before the notifications.
   */
  submit(command: Command, committed: (state: ThreadState) => void = () => {}): Promise<void> {
    if (command.kind === "itemStarted") this.#texts.begin(command.item.id);
    return new Promise((resolve, refused) => {
      const letter: Letter = {
        command,
        committed: (state) => {
          committed(state);
          resolve();
        },
        refused,
      };
      this.#mailbox.push(letter);
      this.#running ??= this.#run();
    });
  }

  /** Live text of a running item: shown at once, durable only when the item completes. */
  text(
    method: NotificationName,
    params: { readonly turnId: string; readonly itemId: string },
    delta: string,
  ): void {
    this.#texts.grow(method, params, delta);
  }

  /** Tells subscribers and everyone else something that is in no record. */
  announce(method: NotificationName, frame: Frame): void {
    for (const subscription of this.#subscriptions.values()) subscription.live(method, frame);
    this.#ports.broadcast(this, method, frame);
  }

  subscribe(recipient: Recipient): void {
    if (this.#subscriptions.has(recipient)) return;
    const next = { seq: this.#head + 1, index: 0 };
    const catchUp = (one: Subscription) => this.#ports.supervise("catch up", this.#catchUp(one));
    this.#subscriptions.set(recipient, new Subscription(recipient, next, catchUp));
  }

  unsubscribe(recipient: Recipient): boolean {
    return this.#subscriptions.delete(recipient);
  }

  isSubscribed(recipient: Recipient): boolean {
    return this.#subscriptions.has(recipient);
  }

  /** Resolves when the mailbox is empty. */
  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    // One microtask of patience: what is posted in the same breath goes into the same commit.
    await Promise.resolve();
    while (this.#mailbox.length > 0) {
      const batch = this.#mailbox;
      this.#mailbox = [];
      await this.#step(batch);
    }
    this.#running = undefined;
  }

  async #step(batch: readonly Letter[]): Promise<void> {
    const records: ThreadRecord[] = [];
    const tell: (() => void)[] = [];
    const seq = this.#head + 1;
    let state = this.#state;
    let index = 0;
    for (const { command, committed, refused } of batch) {
      const decision: Decision = this.#broken ? brokenDecision : decide(state, command, this.#texts.shown());
      if (decision.kind === "refused") {
        tell.push(() => refused(decision.fault));
        continue;
      }
      const after = decision.state;
      state = after;
      tell.push(() => committed(after));
      if (command.kind === "itemStarted" && decision.records.length === 0) this.#texts.end(command.item.id);
      for (const record of decision.records) {
        if (record.type === "itemCompleted") this.#texts.freeze(record.item.id);
        const notifications = notify(this.id, record);
        const first = index;
        index += notifications.length;
        records.push(record);
        tell.push(() => this.#tell(record, notifications, seq, first));
      }
    }
    if (records.length > 0 && !(await this.#append({ seq, epoch: 1, prev: this.#head, records }))) {
      for (const letter of batch) letter.refused(brokenDecision.fault);
      return;
    }
    this.#state = state;
    if (records.length > 0) this.#head = seq;
    for (const one of tell) one();
    if (records.length > 0) this.#ports.changed(this);
  }

  async #append(commit: Commit): Promise<boolean> {
    try {
      const outcome = await this.#ports.journal.append(commit);
      if (outcome.kind !== "committed") throw new Error(`the journal answered ${outcome.kind}`);
      if (commit.records.some((record) => record.type === "turnEnded")) await this.#ports.journal.sync();
      return true;
    } catch (cause) {
      this.#broken = true;
      this.#ports.failed(this, cause);
      return false;
    }
  }

  #tell(record: ThreadRecord, notifications: readonly Notification[], seq: number, first: number): void {
    this.#texts.flush();
    notifications.forEach(({ method, params, audience }, index) => {
      const frame = notificationFrame(method, params, this.#ports.platform.clock.now());
      for (const subscription of this.#subscriptions.values()) {
        if (!subscription.lagging) subscription.durable({ seq, index: first + index }, method, frame);
      }
      if (audience === "everyone") this.#ports.broadcast(this, method, frame);
    });
    if (record.type === "itemStarted") this.#texts.told(record.item.id);
    else if (record.type === "itemCompleted") this.#texts.end(record.item.id);
  }

  /** Makes again, from the journal, what a slow subscriber's outbox had to drop. */
  async #catchUp(subscription: Subscription): Promise<void> {
    const { recipient } = subscription;
    while (this.#subscriptions.get(recipient) === subscription) {
      const head = this.#head;
      for await (const commit of this.#ports.journal.read(subscription.next.seq - 1)) {
        if (commit.seq > head) break;
        let index = 0;
        for (const record of commit.records) {
          for (const { method, params } of notify(this.id, record)) {
            if (recipient.congested) return recipient.waitForRoom(subscription);
            const frame = notificationFrame(method, params, this.#ports.platform.clock.now());
            subscription.durable({ seq: commit.seq, index: index++ }, method, frame);
          }
        }
      }
      if (head !== this.#head) continue;
      this.#texts.flush();
      subscription.caughtUp();
      this.#texts.bringUp(subscription);
      return;
    }
  }
}

const brokenDecision = {
  kind: "refused",
  fault: fault("storageFailed", "writing this thread's journal failed"),
} as const;
