import type { JournalLocation } from "../../core/life/thread-view.ts";
import type { Durability } from "../../core/record-table.ts";
import type { Commit } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import { fault } from "../../errors.ts";
import type { StoredBlob } from "../blobs.ts";
import type { Claims } from "../claims.ts";
import type { Document } from "../documents.ts";
import { catchUpIndex } from "../index-rebuild.ts";
import { PassingCommits, recordCommits, rowOf } from "../index-updates.ts";
import {
  type AppendOutcome,
  FOREIGN_WRITE,
  type Journal,
  type JournalReader,
  listOf,
  type Placed,
  type Position,
  type Taken,
  type ThreadJournal,
} from "../journal.ts";
import type { Store } from "../store.ts";
import type { Head } from "../thread-head.ts";
import type { ThreadIndex } from "../thread-index.ts";
import { MemoryJournal } from "./in-memory-journal.ts";
import { InMemoryLocks } from "./in-memory-locks.ts";

interface StoredThread {
  readonly journal: MemoryJournal;
  archived: boolean;
}

interface Claim {
  readonly host: string;
  needsRecovery: boolean;
}

/**
 * The data of a store that several hosts in one process share, like a database. It has no paths and no files. Tests
 * decide when a host dies, or loses a thread to another host.
 */
export class SharedMemory {
  readonly threads = new Map<string, StoredThread>();
  readonly claims = new Map<string, Claim>();
  readonly keys = new Map<string, { readonly threadId: string; readonly host: string }>();
  readonly documents = new Map<string, Document>();
  readonly secrets = new Map<string, string>();
  readonly credentials = new Map<string, string>();
  readonly credentialLocks = new InMemoryLocks();
  /** Hosts that have announced that they are shutting down. */
  readonly leaving = new Set<string>();
  readonly #living = new Set<string>();
  /** Callers that wait for a claim of a host that is shutting down. */
  #waiting: (() => void)[] = [];
  #versions = 0;

  /** Opens the store for one host. */
  open(hostId: string, index: ThreadIndex): InMemoryStore {
    this.#living.add(hostId);
    return new InMemoryStore(this, hostId, index);
  }

  /** Simulates the death of a host. Its claims stay. */
  died(hostId: string): void {
    this.#living.delete(hostId);
    this.credentialLocks.release(hostId);
    this.#wake();
  }

  /** Removes the claim on a thread. */
  release(threadId: string): void {
    this.claims.delete(threadId);
    this.#wake();
  }

  /** Resolves when a claim was removed or a host died. */
  claimsChanged(): Promise<void> {
    return new Promise((go) => this.#waiting.push(go));
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  lives(hostId: string): boolean {
    return this.#living.has(hostId);
  }

  nextVersion(): string {
    return String(++this.#versions);
  }
}

/** The store of one host in a `SharedMemory`. */
export class InMemoryStore implements Store, Claims, Journal {
  readonly hostId: string;
  readonly index: ThreadIndex;
  readonly #shared: SharedMemory;
  readonly #listeners: ((threadId: string) => void)[] = [];

  constructor(shared: SharedMemory, hostId: string, index: ThreadIndex) {
    this.#shared = shared;
    this.hostId = hostId;
    this.index = index;
  }

  get journal(): Journal {
    return this;
  }

  get claims(): Claims {
    return this;
  }

  async create(threadId: string): Promise<ThreadJournal> {
    return new SharedThreadJournal(this.#shared, this, threadId, new MemoryJournal());
  }

  async bring(
    threadId: string,
    commits: AsyncIterable<Commit>,
    { archived, state: stateOf }: Parameters<Journal["bring"]>[2],
  ): Promise<JournalLocation | undefined> {
    const journal = new MemoryJournal();
    const passing = new PassingCommits();
    for await (const commit of passing.of(commits)) await journal.append(commit);
    const state = stateOf();
    if (this.#shared.threads.has(threadId) || state === undefined) return undefined;
    this.#shared.threads.set(threadId, { journal, archived });
    const place: JournalLocation = { path: null, archived };
    passing.record(this.index, state, place);
    return place;
  }

  async has(threadId: string): Promise<boolean> {
    return this.#shared.threads.has(threadId);
  }

  async open(threadId: string): Promise<Taken | undefined> {
    const thread = this.#shared.threads.get(threadId);
    if (thread === undefined) return undefined;
    for (let by = this.take(threadId); by !== undefined; by = this.take(threadId)) {
      if (!this.#shared.leaving.has(by)) return { kind: "held", by };
      await this.#shared.claimsChanged();
    }
    return { kind: "mine", journal: new SharedThreadJournal(this.#shared, this, threadId, thread.journal) };
  }

  /** Takes the claim. If another host holds it, returns that host. */
  take(threadId: string): string | undefined {
    const claim = this.#shared.claims.get(threadId);
    if (claim?.host === this.hostId) return undefined;
    if (claim !== undefined && this.#shared.lives(claim.host)) return claim.host;
    this.#shared.claims.set(threadId, { host: this.hostId, needsRecovery: claim !== undefined });
    return undefined;
  }

  lost(threadId: string): void {
    for (const listener of this.#listeners) listener(threadId);
  }

  async read(threadId: string): Promise<JournalReader | undefined> {
    const thread = this.#shared.threads.get(threadId);
    return thread && new SharedThreadJournal(this.#shared, this, threadId, thread.journal);
  }

  async flush(): Promise<void> {}

  async *threads(): AsyncIterable<{ readonly id: string; readonly archived: boolean }> {
    for (const [id, { archived }] of this.#shared.threads) yield { id, archived };
  }

  resolvePath(path: string): { readonly path: string; readonly threadId: undefined } {
    return { path, threadId: undefined };
  }

  /** A start is stored at once. */
  async starting(): Promise<undefined> {}

  async holder(threadId: string): Promise<string | undefined> {
    const host = this.#shared.claims.get(threadId)?.host;
    return host !== undefined && host !== this.hostId && this.#shared.lives(host) ? host : undefined;
  }

  async holders(threadIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (const id of threadIds) {
      const holder = await this.holder(id);
      if (holder !== undefined) found.set(id, holder);
    }
    return found;
  }

  async held(): Promise<readonly string[]> {
    return [...this.#shared.claims.keys()];
  }

  async abandoned(): Promise<readonly string[]> {
    return [...this.#shared.claims].filter(([, { host }]) => !this.#shared.lives(host)).map(([id]) => id);
  }

  async disown(threadId: string): Promise<void> {
    const by = this.take(threadId);
    if (by !== undefined) throw fault("heldElsewhere", threadId, by);
    this.#shared.release(threadId);
  }

  onLost(listener: (threadId: string) => void): void {
    this.#listeners.push(listener);
  }

  async needsFullRecovery(): Promise<boolean> {
    return false;
  }

  async markFullyRecovered(): Promise<void> {}

  async leave(): Promise<void> {
    this.#shared.leaving.add(this.hostId);
  }

  catchUp(threadId: string): Promise<void> {
    return catchUpIndex(this.index, this, threadId);
  }

  async close(): Promise<void> {
    await this.index.close();
    this.#shared.died(this.hostId);
  }

  readonly startKeys: Store["startKeys"] = {
    reserve: async (key, threadId) => {
      const known = this.#shared.keys.get(key);
      if (known !== undefined) {
        const isThere = this.#shared.threads.has(known.threadId);
        if (isThere || known.host === this.hostId) return known.threadId;
        if (this.#shared.lives(known.host)) throw fault("heldElsewhere", known.threadId, known.host);
      }
      this.#shared.keys.set(key, { threadId, host: this.hostId });
      return threadId;
    },
    release: async (key) => void this.#shared.keys.delete(key),
  };

  readonly documents: Store["documents"] = {
    read: async (name) => this.#shared.documents.get(name),
    replace: async (name, text, version) => {
      const { documents } = this.#shared;
      if (documents.get(name)?.version !== version) return false;
      documents.set(name, { text, version: this.#shared.nextVersion() });
      return true;
    },
    list: async (folder) =>
      [...this.#shared.documents.keys()].filter((name) => name.startsWith(`${folder}/`)),
    path: () => null,
    setAside: async (name) => void this.#shared.documents.delete(name),
  };

  readonly credentials: Store["credentials"] = {
    read: async (key) => this.#shared.credentials.get(key),
    write: async (key, text) => void this.#shared.credentials.set(key, text),
    delete: async (key) => void this.#shared.credentials.delete(key),
    exclusively: (key, work) => this.#shared.credentialLocks.exclusively(key, this.hostId, work),
    path: () => null,
  };

  readonly outputs: Store["outputs"] = { folder: () => null, create: async () => undefined };

  readonly secrets: Store["secrets"] = {
    save: async (threadId, requestId, text) =>
      void this.#shared.secrets.set(`${threadId}.${requestId}`, text),
    read: async (threadId, requestId) => this.#shared.secrets.get(`${threadId}.${requestId}`),
    remove: async (threadId, requestId) => void this.#shared.secrets.delete(`${threadId}.${requestId}`),
    list: async () =>
      [...this.#shared.secrets.keys()].map((name) => {
        const [threadId, requestId] = name.split(".");
        return { threadId: threadId!, requestId: Number(requestId) };
      }),
  };
}

/** The journal of one thread in a `SharedMemory`, opened by one host. */
class SharedThreadJournal implements ThreadJournal {
  readonly folder = null;
  readonly #shared: SharedMemory;
  readonly #host: InMemoryStore;
  readonly #threadId: string;
  readonly #journal: MemoryJournal;
  #isLost = false;

  constructor(shared: SharedMemory, host: InMemoryStore, threadId: string, journal: MemoryJournal) {
    this.#shared = shared;
    this.#host = host;
    this.#threadId = threadId;
    this.#journal = journal;
  }

  get place(): JournalLocation {
    return { path: null, archived: this.#shared.threads.get(this.#threadId)?.archived ?? false };
  }

  get needsRecovery(): boolean {
    return this.#claim?.needsRecovery ?? false;
  }

  markNeedsRecovery(): void {
    if (this.#claim !== undefined) this.#claim.needsRecovery = true;
  }

  markRecovered(): void {
    if (this.#claim !== undefined) this.#claim.needsRecovery = false;
  }

  async append(
    batch: Commit | readonly Commit[],
    _durability?: Durability,
    state?: ThreadState,
  ): Promise<AppendOutcome> {
    if (!this.#shared.threads.has(this.#threadId)) {
      this.#shared.threads.set(this.#threadId, { journal: this.#journal, archived: false });
      this.#host.take(this.#threadId);
    }
    if (!(await this.isHeld())) return { kind: "conflict" };
    const outcome = await this.#journal.append(batch);
    const commits = listOf(batch);
    if (outcome.kind === "committed" && state !== undefined && commits.length > 0)
      recordCommits(this.#host.index, commits, state, this.place);
    return outcome;
  }

  async isHeld(): Promise<boolean> {
    if (this.#claim !== undefined) return true;
    if (!this.#isLost) this.#host.lost(this.#threadId);
    this.#isLost = true;
    return false;
  }

  async reopen(): Promise<void> {
    if (!(await this.isHeld())) throw fault("storageFailed", FOREIGN_WRITE);
  }

  async settle(commits: readonly Commit[]): Promise<number> {
    if (!(await this.isHeld())) throw fault("storageFailed", FOREIGN_WRITE);
    return this.#journal.settle(commits);
  }

  backwards(through?: Position): AsyncIterable<Placed> {
    return this.#journal.backwards(through);
  }

  forwards(from?: Position): AsyncIterable<Placed> {
    return this.#journal.forwards(from);
  }

  naming(text: string, from?: Position): AsyncIterable<Placed> {
    return this.#journal.naming(text, from);
  }

  isEmpty(): Promise<boolean> {
    return this.#journal.isEmpty();
  }

  blob(name: string): Promise<Uint8Array | undefined> {
    return this.#journal.blob(name);
  }

  keep(name: string, bytes: Uint8Array): Promise<void> {
    return this.#journal.keep(name, bytes);
  }

  blobs(prefix: string): Promise<readonly StoredBlob[]> {
    return this.#journal.blobs(prefix);
  }

  removeBlob(name: string): Promise<void> {
    return this.#journal.removeBlob(name);
  }

  async flush(): Promise<void> {}
  async rest(): Promise<void> {}

  async archive(archived: boolean, { state, seq }: Head): Promise<void> {
    await this.#mustHave();
    const thread = this.#shared.threads.get(this.#threadId);
    if (thread !== undefined) thread.archived = archived;
    this.#host.index.record(rowOf(state, seq, this.place), []);
  }

  async destroy(): Promise<void> {
    await this.#mustHave();
    await this.#host.index.forget(this.#threadId);
    this.#shared.threads.delete(this.#threadId);
    if (this.#claim !== undefined) this.#shared.release(this.#threadId);
  }

  async close(): Promise<void> {
    if (this.#claim !== undefined && !this.needsRecovery) this.#shared.release(this.#threadId);
  }

  async #mustHave(): Promise<void> {
    const isFree = !this.#isLost && !this.#shared.claims.has(this.#threadId);
    if (!isFree && !(await this.isHeld())) throw fault("storageFailed", "another host has the thread");
  }

  /** The claim; undefined if this host does not hold it. */
  get #claim(): Claim | undefined {
    const claim = this.#shared.claims.get(this.#threadId);
    return claim?.host === this.#host.hostId ? claim : undefined;
  }
}
