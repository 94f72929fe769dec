import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import type { Accounts, CurrentAccount } from "../account/current-account.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Watch, WatchedChange } from "../platform/machine-file-access.ts";
import type { Cancel, Timers } from "../platform/platform.ts";

/** Delay before the watch starts, so that it does not slow down the first client's connection. */
const BEGIN_MS = 500;
/** Changes of the file within this time after a first change cause one check. */
const GATHER_MS = 100;

export interface AccountUpdatesPorts {
  readonly accounts: Pick<Accounts, "current">;
  /** The file that changes with the account; null if there is none. The file and its folder may not exist yet. */
  readonly path: string | null;
  /** Whether the file is watched for changes by other processes. False if no model call uses the account. */
  readonly isWatched: boolean;
  readonly watch: Watch;
  readonly timers: Timers;
  readonly supervisor: Supervisor;
  /** Sends `account/updated` to the host's own user. */
  notify(account: CurrentAccount | undefined): void;
}

/**
 * Sends `account/updated` once for each change of the account by any process: this host, another one with the same
 * home, or `bobbin login`.
 */
export class AccountUpdates {
  readonly #ports: AccountUpdatesPorts;
  #isClosed = false;
  /** Signature of the account that clients were last sent; undefined if they were sent none. */
  #known: string | undefined;
  /** Number of requests in progress that change the account. */
  #own = 0;
  /** Whether a login was stored of which clients have not been notified yet. */
  #isEndingLogin = false;
  /** Number of changes by this host that clients were notified of. */
  #changes = 0;
  #hasBegun = false;
  #hasStarted = false;
  /** Paths in `#watches` whose watch is started again at the next check. */
  readonly #stale = new Set<string>();
  /** Watches of the parent folders, by the path that is watched for. */
  readonly #watches = new Map<string, { close(): void }>();
  #cancelBegin: Cancel | undefined;
  #cancelLook: Cancel | undefined;

  constructor(ports: AccountUpdatesPorts) {
    this.#ports = ports;
  }

  /** Starts to watch for changes by other processes, after a delay. */
  begin(): void {
    const { path, isWatched, timers, supervisor } = this.#ports;
    if (path === null || !isWatched || this.#hasBegun || this.#isClosed) return;
    this.#hasBegun = true;
    this.#cancelBegin = timers.after(BEGIN_MS, () =>
      supervisor.take("watching the account", this.#start(path)),
    );
  }

  /** Remembers the account that a client was sent, unless an account is remembered already. */
  shown(account: CurrentAccount | undefined): void {
    this.#known ??= signatureOf(account);
  }

  /** Notifies of a change that this host has made. */
  changed(account: CurrentAccount | undefined): void {
    this.#changes++;
    this.#known = signatureOf(account);
    this.#ports.notify(account);
  }

  /**
   * Runs a request that may change the account. The request itself calls `changed`. Until the request has ended, no
   * change is taken for one of another process.
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#own++;
    try {
      return await work();
    } finally {
      this.#own--;
      this.#lookSoon();
    }
  }

  /** Called when a login by a user is about to be stored; `loginEnded` follows. */
  storingLogin(): void {
    this.#isEndingLogin = true;
  }

  /** Called when clients were notified of the end of a login. */
  loginEnded(): void {
    this.#isEndingLogin = false;
    this.#lookSoon();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelBegin?.();
    this.#cancelLook?.();
    for (const watch of this.#watches.values()) watch.close();
    this.#watches.clear();
  }

  /**
   * Watches the file through its folder, and the folder through the home. A `PathWatch` would notice more, but every
   * host would have to load its code.
   */
  async #start(path: string): Promise<void> {
    this.#hasStarted = true;
    this.#watch(dirname(path));
    this.#watch(path);
    await this.#look();
  }

  #watch(path: string): void {
    this.#watches.get(path)?.close();
    this.#watches.delete(path);
    try {
      const watch = this.#ports.watch(dirname(path), (change) => {
        if (this.#watches.get(path) === watch) this.#seen(path, change);
      });
      this.#watches.set(path, watch);
    } catch {
      // The folder does not exist yet, and the watch of its parent will notice it; or the system has no watches left.
    }
  }

  #seen(path: string, change: WatchedChange): void {
    if (change.kind === "entry" && change.name !== basename(path)) return;
    // The watch may have ended, or the folder may have been replaced.
    if (change.kind === "unsure") this.#stale.add(path);
    if (path !== this.#ports.path) this.#stale.add(this.#ports.path!);
    this.#lookSoon();
  }

  #lookSoon(): void {
    const { timers, supervisor } = this.#ports;
    if (!this.#hasStarted || this.#isClosed || this.#cancelLook !== undefined) return;
    this.#cancelLook = timers.after(GATHER_MS, () => {
      this.#cancelLook = undefined;
      // Restarted before the check, so that changes after the check are noticed.
      for (const path of this.#stale) this.#watch(path);
      this.#stale.clear();
      supervisor.take("looking at the account", this.#look());
    });
  }

  async #look(): Promise<void> {
    const changes = this.#changes;
    const account = await this.#ports.accounts.current();
    // Changes by this host are checked after clients were notified of them.
    if (this.#own > 0 || this.#isEndingLogin || this.#isClosed) return;
    if (changes !== this.#changes) return this.#lookSoon();
    const now = signatureOf(account);
    const before = this.#known;
    this.#known = now;
    if (before !== undefined && before !== now) this.#ports.notify(account);
  }
}

/** A signature of the account. It stays the same when the account's tokens are refreshed. */
function signatureOf(account: CurrentAccount | undefined): string {
  if (account === undefined) return "none";
  const { authMode, planType, account: shown, accountId, token } = account;
  const key = authMode === "apikey" ? createHash("sha256").update(token).digest("hex") : null;
  return JSON.stringify([authMode, planType, shown, accountId, key]);
}
