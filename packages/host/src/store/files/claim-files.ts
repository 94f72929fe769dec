import { dirname, join } from "node:path";
import { fault } from "../../errors.ts";
import type { Cancel, Clock, Files, Liveness, Platform, Timers } from "../../platform/platform.ts";
import type { StartingThread } from "../claims.ts";
import { BootMark } from "./boot-mark.ts";
import { ClaimHolders } from "./claim-holders.ts";
import { LockJobQueue } from "./lock-job-queue.ts";
import { isSharedLock, TAKEOVER_LOCK } from "./shared-locks.ts";
import { markMade, STARTS, StartLog, startedOwner, unmade } from "./thread-start-log.ts";

const BOOT = "boot.mark";
const LEAVING = ".leaving";

/** How long to wait for a thread of a host that has announced its shutdown. Longer than a shutdown may take. */
const LEAVING_MS = 10_000;
/** How long to wait for a killed process. Its lock exists until the operating system has cleaned up. */
const DYING_MS = 500;
const ASK_AGAIN_MS = 20;
/** Delay before the next attempt to release claims, after a failure. */
const GIVE_BACK_AGAIN_MS = 5000;

/** Creates the journal of a thread from its first line, unless it exists. */
export type MakeStarted = (threadId: string, line: Uint8Array) => Promise<void>;

/**
 * Claims of hosts on threads, as files. The folder `live/` contains one file per claimed thread, with the ID of its
 * host, and one lock per host. The operating system releases a host's lock when the host ends in any way, so neither
 * process IDs nor heartbeats are needed.
 */
export class ClaimFiles {
  readonly #folder: string;
  readonly #files: Files;
  readonly #liveness: Liveness;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #ids: Pick<Platform["ids"], "uuid">;
  #name: string | undefined;
  /** The first commits of new threads that this host acknowledged before it created their journals. */
  readonly starts: StartLog;
  readonly power: BootMark;
  /** Looks up which other host has a thread. */
  readonly holders: ClaimHolders;
  readonly #beforeGivingBack: () => Promise<void>;
  readonly #takeover: LockJobQueue;
  /** IDs of hosts that were found dead. An ID is never used again. */
  readonly #gone = new Set<string>();
  /** Threads that this host holds, or is about to take. */
  readonly #held = new Set<string>();
  /** Threads with a claim file of this host: those that it holds, and those whose claims it is about to release. */
  readonly #claimed = new Set<string>();
  /** Threads that need recovery after a failure of this or another host. Their claims are not released. */
  readonly #needsRecovery = new Set<string>();
  readonly #givingBack = new Map<string, Promise<void>>();
  readonly #removing = new Map<string, Promise<void>>();
  /** Threads whose claims could not be released yet. */
  readonly #overdue = new Set<string>();
  #tryAgain: Cancel | undefined;
  #announced: Promise<() => Promise<void>> | undefined;
  /** Set by the first `close`. */
  #closed: Promise<void> | undefined;

  /**
   * `beforeGivingBack` writes the data that must be on disk before a claim is removed: after a crash, the next host
   * checks only claimed threads.
   */
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
    this.#takeover = new LockJobQueue((work) =>
      liveness.exclusively(join(this.#folder, TAKEOVER_LOCK), work),
    );
    this.holders = new ClaimHolders({
      folder: this.#folder,
      files,
      clock,
      isOwn: (threadId) => this.#held.has(threadId) || this.#claimed.has(threadId),
      self: () => this.#name,
      lives: (host) => this.#holderLives(host),
    });
    this.starts = new StartLog(() => join(this.#folder, `${this.hostId}${STARTS}`), files);
    this.power = new BootMark({
      path: join(this.#folder, BOOT),
      files,
      boot,
      exclusively: (work) => this.exclusively(work),
    });
  }

  /** Created on demand, because a host without threads needs no ID and no random bytes for it. */
  get hostId(): string {
    this.#name ??= this.#ids.uuid();
    return this.#name;
  }

  /** Takes a thread, or returns the host that holds it. A dead host's claim is taken over. */
  async take(threadId: string): Promise<string | undefined> {
    // Added before any await, so that a concurrent `giveBack` sees that the thread is held again and keeps the claim.
    this.#held.add(threadId);
    try {
      await this.announce();
      await this.power.make();
      // If this host is just removing its old claim file, the removal has to end before a new file is created.
      await this.#removing.get(threadId);
      if (this.#claimed.has(threadId)) return undefined;
      const holder = await this.#untilGone(() => this.#take(threadId));
      if (holder === undefined) this.#claimed.add(threadId);
      else this.#held.delete(threadId);
      return holder;
    } catch (cause) {
      this.#held.delete(threadId);
      throw cause;
    }
  }

  /** Takes a thread, or throws `heldElsewhere`. */
  async mustTake(threadId: string): Promise<void> {
    const holder = await this.take(threadId);
    if (holder !== undefined) throw fault("heldElsewhere", threadId, holder);
  }

  /** Whether another host has taken over this host's claim on a thread. */
  async isLost(threadId: string): Promise<boolean> {
    if (!this.#claimed.has(threadId)) return false;
    const holder = await this.#files.claimed(this.#claim(threadId));
    if (holder === undefined || holder === this.hostId) return false;
    this.#held.delete(threadId);
    this.#claimed.delete(threadId);
    this.#needsRecovery.delete(threadId);
    return true;
  }

  /** Creates the claim file, or returns the living host that owns it. */
  async #take(threadId: string): Promise<string | undefined> {
    const claim = this.#claim(threadId);
    if (await this.#files.claim(claim, this.hostId)) return undefined;
    let living: string | undefined;
    // Two hosts may find the same abandoned claim, so only one host at a time may take claims over.
    await this.exclusively(async () => {
      let holder = await this.#files.claimed(claim);
      // If the claim was released in between, the first host to create it wins. Only claims of dead hosts may be
      // replaced.
      while (holder === undefined) {
        if (await this.#files.claim(claim, this.hostId)) return;
        holder = await this.#files.claimed(claim);
      }
      if (holder === this.hostId) return;
      if (await this.#holderLives(holder)) {
        living = holder;
        return;
      }
      // Replaced atomically. A crash between the removal of the old claim and the creation of the new one would leave
      // none, and no later start would find the thread.
      const taken = `${claim}.taken`;
      await this.#files.remove(taken);
      await this.#files.claim(taken, this.hostId);
      // Not fsynced, because after a power cut every thread is checked, claimed or not.
      await this.#files.rename(taken, claim, { unsynced: true });
      this.#needsRecovery.add(threadId);
    });
    return living;
  }

  needsRecovery(threadId: string): boolean {
    return this.#needsRecovery.has(threadId);
  }

  markNeedsRecovery(threadId: string): void {
    this.#needsRecovery.add(threadId);
  }

  markRecovered(threadId: string): void {
    this.#needsRecovery.delete(threadId);
  }

  /** Runs `work` while no host takes over claims. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#takeover.run(work);
  }

  /** Throws if the host that holds a thread, or is about to create it, is alive and does not end soon. */
  async mustBeGone(threadId: string, holder: string): Promise<void> {
    const living = await this.#untilGone(async () =>
      (await this.#holderLives(holder)) ? holder : undefined,
    );
    if (living !== undefined) throw fault("heldElsewhere", threadId, living);
  }

  /**
   * Repeats `attempt` while the host that it returns may be about to end. Returns a host that stays alive; undefined
   * if no host holds the thread.
   */
  async #untilGone(attempt: () => Promise<string | undefined>): Promise<string | undefined> {
    const begun = this.#clock.monotonic();
    for (;;) {
      const holder = await attempt();
      if (holder === undefined) return undefined;
      const leaves = await this.#files.exists(join(this.#folder, `${holder}${LEAVING}`));
      if (this.#clock.monotonic() - begun > (leaves ? LEAVING_MS : DYING_MS)) return holder;
      await new Promise<void>((go) => void this.#timers.after(ASK_AGAIN_MS, go));
    }
  }

  /** Announces that this host is about to end. A host that wants one of its threads then waits. */
  async leave(): Promise<void> {
    if (this.#announced === undefined) return;
    // Best effort: without the mark, other hosts do not wait, and report that this host holds the thread.
    await this.#files.claim(join(this.#folder, `${this.hostId}${LEAVING}`), this.hostId).catch(() => {});
  }

  /** Releases a claim. Returns at once; the claim file is removed in the background. */
  giveBack(threadId: string): void {
    this.#held.delete(threadId);
    this.#startGivingBack(threadId);
  }

  #startGivingBack(threadId: string): void {
    // Chained to the previous release, because each call may have more data to write before the claim is removed.
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
      if (this.#held.has(threadId) || this.#needsRecovery.has(threadId)) return;
      this.#claimed.delete(threadId);
      const removing = this.#removeOwn(threadId).finally(() => this.#removing.delete(threadId));
      this.#removing.set(
        threadId,
        removing.catch(() => {}),
      );
      await removing;
    } catch {
      // The claim stays, so that the next start checks the thread if this host cannot release the claim.
      this.#overdue.add(threadId);
      if (this.#closed !== undefined) return;
      this.#tryAgain ??= this.#timers.after(GIVE_BACK_AGAIN_MS, () => this.#giveBackOverdue());
    }
  }

  /**
   * Removes this host's claim file. A host that took this one for dead may have replaced the file, and then it stays.
   * Checked just before the removal, without the lock: a host that releases a thread is alive, so its claim is rarely
   * taken over, and the lock would slow down every unload.
   */
  async #removeOwn(threadId: string): Promise<void> {
    const claim = this.#claim(threadId);
    if ((await this.#files.claimed(claim)) === this.hostId) await this.#files.remove(claim);
  }

  #giveBackOverdue(): void {
    this.#tryAgain?.();
    this.#tryAgain = undefined;
    for (const threadId of this.#overdue) this.#startGivingBack(threadId);
    this.#overdue.clear();
  }

  /**
   * Creates the journals of threads that a dead host acknowledged but did not create. Each claim is left as if the
   * dead host had created the journal.
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
      // Removed durably: the log must not recreate a thread that is deleted later.
      if (!newer) await this.#files.remove(path, { synced: true });
      else if (lines.size > 0) await markMade(this.#files, path, lines.keys());
    });
  }

  /** The other living host that has acknowledged a thread and not created its journal yet. */
  async starting(threadId: string): Promise<StartingThread | undefined> {
    for (const { name } of await this.#files.list(this.#folder)) {
      const hostId = name.slice(0, -STARTS.length);
      if (!name.endsWith(STARTS) || hostId === this.#name) continue;
      const line = (await unmade(this.#files, join(this.#folder, name))).lines.get(threadId);
      if (line !== undefined && (await this.#lives(hostId))) return { hostId, owner: startedOwner(line) };
    }
    return undefined;
  }

  /**
   * Ensures that no start log, of a living or a dead host, can recreate a thread that is about to be deleted, not
   * even after a power cut. Needed because a host that was killed right after it created a thread may not have marked
   * the thread as created.
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

  /** Threads that any living or dead host has claimed. */
  async all(): Promise<readonly string[]> {
    const names = (await this.#files.list(this.#folder)).map(({ name }) => name);
    // Locks and marks have a dot in their names.
    return names.filter((name) => !name.includes("."));
  }

  /** Returns the threads of dead hosts. Removes the locks of dead hosts that have no claims. */
  async abandoned(): Promise<readonly string[]> {
    const alive = new Map<string, boolean>();
    const found: string[] = [];
    const locks: string[] = [];
    for (const { name } of await this.#files.list(this.#folder)) {
      if (/\.lock(\.new)?$/.test(name) && !isSharedLock(name)) locks.push(name);
      if (name.endsWith(LEAVING) && !(await this.#lives(name.slice(0, -LEAVING.length)))) {
        await this.#files.remove(join(this.#folder, name));
      }
      if (name.includes(".")) continue;
      const holder = await this.#files.claimed(join(this.#folder, name));
      if (holder === undefined) continue;
      if (!alive.has(holder)) alive.set(holder, await this.#holderLives(holder));
      if (!alive.get(holder)) found.push(name);
    }
    for (const name of locks) {
      const [host] = name.split(".");
      if (host === this.#name || alive.has(host!)) continue;
      const lock = join(this.#folder, name);
      if (!(await this.#liveness.alive(lock))) await this.#files.remove(lock);
    }
    return found;
  }

  close(): Promise<void> {
    this.#closed ??= this.#leaveHome();
    return this.#closed;
  }

  async #leaveHome(): Promise<void> {
    await Promise.all(this.#givingBack.values());
    this.#giveBackOverdue();
    await Promise.all(this.#givingBack.values());
    await this.starts.close();
    const release = await this.#announced;
    if (release === undefined) return;
    // Serialized, so that exactly one of several hosts that end at the same time is the last.
    await this.exclusively(async () => {
      const names = await this.#files.list(this.#folder);
      // True if no claims and no other hosts are left, living or dead.
      const last = names.every(
        ({ name }) => name.startsWith(this.hostId) || name === BOOT || isSharedLock(name),
      );
      // If the boot mark cannot be removed, a later start removes it.
      if (last) await this.power.remove().catch(() => {});
      await this.#files.remove(join(this.#folder, `${this.hostId}${LEAVING}`)).catch(() => {});
      await release();
    });
  }

  /** Creates the lock of this host, at its first thread. */
  async announce(): Promise<void> {
    this.#announced ??= this.#liveness.announce(this.#lock(this.hostId));
    try {
      await this.#announced;
    } catch (cause) {
      // The next call tries again.
      this.#announced = undefined;
      if ((cause as { code?: string }).code === "ENETFS") throw fault("networkHome", dirname(this.#folder));
      throw cause;
    }
  }

  async #lives(host: string): Promise<boolean> {
    return host === this.#name || this.#liveness.alive(this.#lock(host));
  }

  /**
   * Whether a host is alive. A host creates its lock before its first claim, so a host without a lock is dead for
   * good. Dead hosts are remembered.
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
