import { dirname, join } from "node:path";
import { fault } from "../errors.ts";
import type { Cancel, Clock, Files, Liveness, Platform, Timers } from "../platform/platform.ts";
import { Holders } from "./holders.ts";
import { PowerMark } from "./power-mark.ts";
import { SharedLock } from "./shared-lock.ts";
import { markMade, STARTS, Starts, unmade } from "./starts.ts";

const TAKEOVER = "takeover";
const TAKEN = `${TAKEOVER}.lock`;
const BOOT = "boot.mark";
const LEAVING = ".leaving";

/** How long a thread is waited for whose host says that it is about to end: longer than an end may take. */
const LEAVING_MS = 10_000;
/** A process that was killed holds its lock until the operating system has cleared it away. */
const DYING_MS = 500;
const ASK_AGAIN_MS = 20;
/** How long after a failure claims are given back again. */
const GIVE_BACK_AGAIN_MS = 5000;

/** Makes the journal of a thread of its first line, unless there is one. */
export type MakeStarted = (threadId: string, line: Uint8Array) => Promise<void>;

/**
 * Which host has which thread. `live/` holds a claim per thread, with the id of the host that has it, and a lock per
 * host, which ends with the host however that ends: no process ids, no heartbeats.
 */
export class Leases {
  readonly #folder: string;
  readonly #files: Files;
  readonly #liveness: Liveness;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #ids: Pick<Platform["ids"], "uuid">;
  #name: string | undefined;
  /** What this host has acknowledged of new threads before it made them. */
  readonly starts: Starts;
  readonly power: PowerMark;
  /** Who else has a thread. */
  readonly holders: Holders;
  readonly #beforeGivingBack: () => Promise<void>;
  readonly #takeover: SharedLock;
  /** Holders that were found dead. No host has the name of another. */
  readonly #gone = new Set<string>();
  /** What this host has, or is about to take. */
  readonly #held = new Set<string>();
  /** Claims of this host that are on disk: those of what it has, and of what it is about to give back. */
  readonly #claimed = new Set<string>();
  /** Of these something was left undone, by a host that is gone or by this one: such a claim is not given back. */
  readonly #undone = new Set<string>();
  readonly #givingBack = new Map<string, Promise<void>>();
  readonly #removing = new Map<string, Promise<void>>();
  /** Claims that could not be given back, and are tried again. */
  readonly #overdue = new Set<string>();
  #tryAgain: Cancel | undefined;
  #announced: Promise<() => Promise<void>> | undefined;
  #closing = false;

  /** `beforeGivingBack`: what has to be on disk first, because a claim is what a start looks at after a crash. */
  constructor(
    home: string,
    { files, liveness, ids, boot, clock, timers }: Platform,
    beforeGivingBack: () => Promise<void>,
  ) {
    this.#beforeGivingBack = beforeGivingBack;
    this.#folder = join(home, "live");
    this.#files = files;
    this.#liveness = liveness;
    this.#clock = clock;
    this.#timers = timers;
    this.#ids = ids;
    this.#takeover = new SharedLock((work) => liveness.exclusively(this.#lock(TAKEOVER), work));
    this.holders = new Holders({
      folder: this.#folder,
      files,
      clock,
      isOwn: (threadId) => this.#held.has(threadId) || this.#claimed.has(threadId),
      lives: (host) => this.#holderLives(host),
    });
    this.starts = new Starts(() => join(this.#folder, `${this.hostId}${STARTS}`), files);
    this.power = new PowerMark({
      path: join(this.#folder, BOOT),
      files,
      boot,
      exclusively: (work) => this.exclusively(work),
    });
  }

  /** Named when it first has to be found: a start that has nothing to hold needs no random bytes. */
  get hostId(): string {
    this.#name ??= this.#ids.uuid();
    return this.#name;
  }

  /** Takes a thread, or throws who has it. A claim of a host that is gone is taken over. */
  async take(threadId: string): Promise<void> {
    // First of all: who gives it back finds that it is held again, and the claim never leaves.
    this.#held.add(threadId);
    try {
      await this.announce();
      await this.power.make();
      // A claim that is going already has to be gone before it is made anew.
      await this.#removing.get(threadId);
      if (this.#claimed.has(threadId)) return;
      await this.#orGone(threadId, () => this.#take(threadId));
      this.#claimed.add(threadId);
    } catch (cause) {
      this.#held.delete(threadId);
      throw cause;
    }
  }

  /** Takes the claim, or says who has it. */
  async #take(threadId: string): Promise<string | undefined> {
    const claim = this.#claim(threadId);
    if (await this.#files.claim(claim, this.hostId)) return undefined;
    let living: string | undefined;
    // Two hosts may find the same claim abandoned: one at a time takes over.
    await this.exclusively(async () => {
      let holder = await this.#files.claimed(claim);
      // Given back meanwhile: whoever is first has it, and only what the dead have left may be replaced.
      while (holder === undefined) {
        if (await this.#files.claim(claim, this.hostId)) return;
        holder = await this.#files.claimed(claim);
      }
      if (holder === this.hostId) return;
      if (await this.#holderLives(holder)) {
        living = holder;
        return;
      }
      // In one step: between the end of the old claim and a new one a crash would leave none, and no start would
      // look for the thread again.
      const taken = `${claim}.taken`;
      await this.#files.remove(taken);
      await this.#files.claim(taken, this.hostId);
      // Not synced: after a power cut every thread is looked at, whoever has claimed it.
      await this.#files.rename(taken, claim, { unsynced: true });
      this.#undone.add(threadId);
    });
    return living;
  }

  undone(threadId: string): boolean {
    return this.#undone.has(threadId);
  }

  leaveUndone(threadId: string): void {
    this.#undone.add(threadId);
  }

  madeGood(threadId: string): void {
    this.#undone.delete(threadId);
  }

  /** Runs while no host takes over what another one left. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#takeover.run(work);
  }

  /** Throws if a host that has a thread, or is about to make it, lives and does not end. */
  async mustBeGone(threadId: string, holder: string): Promise<void> {
    await this.#orGone(threadId, async () => {
      return (await this.#holderLives(holder)) ? holder : undefined;
    });
  }

  /** Tries until no living host is in the way, as long as the one that is may be about to go. */
  async #orGone(threadId: string, attempt: () => Promise<string | undefined>): Promise<void> {
    const begun = this.#clock.monotonic();
    for (;;) {
      const holder = await attempt();
      if (holder === undefined) return;
      const leaves = await this.#files.exists(join(this.#folder, `${holder}${LEAVING}`));
      if (this.#clock.monotonic() - begun > (leaves ? LEAVING_MS : DYING_MS)) {
        throw fault("heldElsewhere", threadId, holder);
      }
      await new Promise<void>((go) => void this.#timers.after(ASK_AGAIN_MS, go));
    }
  }

  /** This host is about to end: whoever wants something that it has need only wait. */
  async leave(): Promise<void> {
    if (this.#announced === undefined) return;
    // Nobody has to know: then they are told who has it.
    await this.#files.claim(join(this.#folder, `${this.hostId}${LEAVING}`), this.hostId).catch(() => false);
  }

  /** Returns at once: nobody waits for the claim to go. */
  giveBack(threadId: string): void {
    this.#held.delete(threadId);
    this.#startGivingBack(threadId);
  }

  #startGivingBack(threadId: string): void {
    // Each time anew: what has to be on disk first may have become more.
    const before = this.#givingBack.get(threadId) ?? Promise.resolve();
    const done = before
      .then(() => this.#giveBack(threadId))
      .finally(() => {
        if (this.#givingBack.get(threadId) === done) this.#givingBack.delete(threadId);
      });
    this.#givingBack.set(threadId, done);
  }

  async #giveBack(threadId: string): Promise<void> {
    try {
      await this.#beforeGivingBack();
      if (this.#held.has(threadId) || this.#undone.has(threadId)) return;
      this.#claimed.delete(threadId);
      const removing = this.#files
        .remove(this.#claim(threadId))
        .finally(() => this.#removing.delete(threadId));
      this.#removing.set(
        threadId,
        removing.catch(() => {}),
      );
      await removing;
    } catch {
      // The claim stays: if this host does not get to give it back, the next start looks at the thread again.
      this.#overdue.add(threadId);
      if (this.#closing) return;
      this.#tryAgain ??= this.#timers.after(GIVE_BACK_AGAIN_MS, () => this.#giveBackOverdue());
    }
  }

  #giveBackOverdue(): void {
    this.#tryAgain?.();
    this.#tryAgain = undefined;
    for (const threadId of this.#overdue) this.#startGivingBack(threadId);
    this.#overdue.clear();
  }

  /**
   * New threads that a host which is gone had acknowledged and not made: `make` makes each, and its claim is left
   * as if that host had.
   */
  async takeUp(make: MakeStarted): Promise<void> {
    for (const { name } of await this.#files.list(this.#folder)) {
      if (name.endsWith(STARTS)) await this.#takeUp(name, make);
    }
  }

  async #takeUp(name: string, make: MakeStarted): Promise<void> {
    const host = name.slice(0, -STARTS.length);
    if (await this.#lives(host)) return;
    await this.power.make();
    await this.exclusively(async () => {
      if (await this.#liveness.alive(this.#lock(host))) return;
      const path = join(this.#folder, name);
      const { lines, newer } = await unmade(this.#files, path);
      for (const [threadId, line] of lines) {
        await this.#files.claim(this.#claim(threadId), host);
        await make(threadId, line);
      }
      // For good: what is in it must not make again what someone deletes later.
      if (!newer) await this.#files.remove(path, { synced: true });
      else if (lines.size > 0) await markMade(this.#files, path, lines.keys());
    });
  }

  /**
   * A thread is about to be deleted: nothing that a host, living or dead, keeps of its start makes it again, not even
   * what a power cut brings back. A host that was killed after it made the thread may not have marked it as made.
   */
  async settleStarts(threadId: string, make: MakeStarted): Promise<void> {
    await this.starts.erase(threadId);
    for (const { name } of await this.#files.list(this.#folder)) {
      if (!name.endsWith(STARTS)) continue;
      await this.#takeUp(name, make);
      await this.#files.sync(join(this.#folder, name));
    }
    await this.#files.sync(this.#folder);
  }

  /** Threads whose host is gone. Locks of hosts that are gone are cleared away once nothing names them. */
  async abandoned(): Promise<readonly string[]> {
    const alive = new Map<string, boolean>();
    const found: string[] = [];
    const locks: string[] = [];
    for (const { name } of await this.#files.list(this.#folder)) {
      if (name.endsWith(".lock")) locks.push(name.slice(0, -".lock".length));
      if (name.endsWith(LEAVING) && !(await this.#lives(name.slice(0, -LEAVING.length)))) {
        await this.#files.remove(join(this.#folder, name));
      }
      if (name.includes(".")) continue;
      const holder = await this.#files.claimed(join(this.#folder, name));
      if (holder === undefined) continue;
      if (!alive.has(holder)) alive.set(holder, await this.#holderLives(holder));
      if (!alive.get(holder)) found.push(name);
    }
    for (const host of locks) {
      if (host === TAKEOVER || alive.has(host) || (await this.#lives(host))) continue;
      await this.#files.remove(this.#lock(host));
    }
    return found;
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(this.#givingBack.values());
    this.#giveBackOverdue();
    await Promise.all(this.#givingBack.values());
    await this.starts.close();
    const release = await this.#announced;
    if (release === undefined) return;
    // One at a time, so that of several that end at once one is the last.
    await this.exclusively(async () => {
      const names = await this.#files.list(this.#folder);
      // No claim is left, and no other host, living or dead.
      const last = names.every(({ name }) => name.startsWith(this.hostId) || name === BOOT || name === TAKEN);
      // What can not be removed is cleared away by a later start.
      if (last) await this.power.remove().catch(() => {});
      await this.#files.remove(join(this.#folder, `${this.hostId}${LEAVING}`)).catch(() => {});
      await release();
    });
  }

  /** Once, with the first thread: a host that has none need not be found. */
  async announce(): Promise<void> {
    this.#announced ??= this.#liveness.announce(this.#lock(this.hostId));
    try {
      await this.#announced;
    } catch (cause) {
      // Whatever it was may have been mended by the next try.
      this.#announced = undefined;
      if ((cause as { code?: string }).code === "ENETFS") throw fault("networkHome", dirname(this.#folder));
      throw cause;
    }
  }

  async #lives(host: string): Promise<boolean> {
    return host === this.#name || this.#liveness.alive(this.#lock(host));
  }

  /**
   * A host that has a claim has its lock first. So one that has a claim and no lock is gone for good, and is not asked
   * for again with each of its threads.
   */
  async #holderLives(host: string): Promise<boolean> {
    if (this.#gone.has(host)) return false;
    const lives = await this.#lives(host);
    if (!lives) this.#gone.add(host);
    return lives;
  }

  #claim(threadId: string): string {
    return join(this.#folder, threadId);
  }

  #lock(hostId: string): string {
    return join(this.#folder, `${hostId}.lock`);
  }
}
