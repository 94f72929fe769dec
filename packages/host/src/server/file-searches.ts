import type { FuzzyFileSearchResult } from "@bobbin/protocol";
import { fault } from "../errors.ts";
import type { Log } from "../observe/log.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Platform } from "../platform/platform.ts";
import type { SearchRoots } from "../search/file-search.ts";
import type { SearchNews } from "../search/file-search-scheduler.ts";
import type { Connection } from "./connection.ts";
import { FileSearchEngine } from "./file-search-worker-owner.ts";

/** Limit on the search sessions per connection, and on its single searches in progress. */
const MAX_PER_CONNECTION = 16;

/** Receives the results of a search. */
interface Listener {
  found(news: SearchNews): void;
  /** Called when the search has ended early. No more results follow. */
  gone(): void;
}

interface OfConnection {
  readonly sessions: Map<string, SearchSession>;
  /** Running searches that are not sessions: each has a single reply. */
  readonly single: Set<SingleSearch>;
  readonly byToken: Map<string, SingleSearch>;
}

export interface FileSearchPorts {
  readonly platform: Platform;
  readonly supervisor: Supervisor;
  readonly log: Log;
}

/** File searches of clients. They end with their connection. */
export class FileSearches {
  readonly #ports: FileSearchPorts;
  readonly #engine: FileSearchEngine;
  readonly #listeners = new Map<number, Listener>();
  readonly #byConnection = new Map<Connection, OfConnection>();
  #lastId = 0;

  constructor(ports: FileSearchPorts) {
    this.#ports = ports;
    this.#engine = new FileSearchEngine(ports.platform, ports.supervisor, {
      found: (news) => this.#listeners.get(news.id)?.found(news),
      gone: (why) => {
        ports.log.warn("the search for files has ended", { cause: why });
        for (const listener of [...this.#listeners.values()]) listener.gone();
      },
    });
  }

  /** Resolves with the results when the search is complete, or when another search with the same token replaces it. */
  async search(
    connection: Connection,
    { query, token }: { readonly query: string; readonly token: string | undefined },
    roots: Promise<SearchRoots>,
  ): Promise<readonly FuzzyFileSearchResult[]> {
    const { single, byToken } = this.#of(connection);
    const search = new SingleSearch();
    if (token !== undefined) {
      byToken.get(token)?.end();
      byToken.set(token, search);
    }
    try {
      if (single.size >= MAX_PER_CONNECTION) throw fault("tooManySearches", MAX_PER_CONNECTION);
      single.add(search);
      const within = await roots;
      if (query === "" || within.roots.length === 0 || search.hasEnded) return search.files;
      return await this.#run(search, (id) => this.#engine.send({ kind: "search", id, roots: within, query }));
    } finally {
      single.delete(search);
      if (token !== undefined && byToken.get(token) === search) byToken.delete(token);
      this.#forgetIfIdle(connection);
    }
  }

  async #run(search: SingleSearch, begin: (id: number) => void): Promise<readonly FuzzyFileSearchResult[]> {
    const id = ++this.#lastId;
    this.#listeners.set(id, search);
    try {
      begin(id);
      return await search.result;
    } finally {
      this.#listeners.delete(id);
      this.#engine.send({ kind: "end", id });
    }
  }

  /**
   * Starts a session, replacing one with the same ID. The session exists at once, so that queries may follow
   * immediately.
   */
  async start(connection: Connection, sessionId: string, roots: Promise<SearchRoots>): Promise<void> {
    // If the client has already disconnected, the session would never end.
    if (connection.state === "closed") throw fault("shuttingDown");
    this.stop(connection, sessionId);
    const { sessions } = this.#of(connection);
    if (sessions.size >= MAX_PER_CONNECTION) throw fault("tooManySearches", MAX_PER_CONNECTION);
    const id = ++this.#lastId;
    const session = new SearchSession(connection, sessionId, this.#ports.supervisor, {
      ask: async (query) => {
        const within = await roots;
        if (this.#listeners.has(id)) this.#engine.send({ kind: "search", id, roots: within, query });
      },
      end: () => {
        this.#listeners.delete(id);
        this.#engine.send({ kind: "end", id });
      },
    });
    sessions.set(sessionId, session);
    this.#listeners.set(id, session);
    try {
      // An empty query starts the listing of the folders, so that the first real query finds results at once.
      await session.ask("");
    } catch (cause) {
      if (this.#byConnection.get(connection)?.sessions.get(sessionId) === session)
        this.stop(connection, sessionId);
      throw cause;
    }
  }

  async update(connection: Connection, sessionId: string, query: string): Promise<void> {
    const session = this.#byConnection.get(connection)?.sessions.get(sessionId);
    if (session === undefined) throw fault("searchSessionNotFound", sessionId);
    await session.ask(query);
  }

  stop(connection: Connection, sessionId: string): void {
    const sessions = this.#byConnection.get(connection)?.sessions;
    sessions?.get(sessionId)?.end();
    sessions?.delete(sessionId);
    this.#forgetIfIdle(connection);
  }

  left(connection: Connection): void {
    const own = this.#byConnection.get(connection);
    for (const search of own?.single ?? []) search.end();
    for (const session of own?.sessions.values() ?? []) session.end();
    this.#byConnection.delete(connection);
  }

  async close(): Promise<void> {
    for (const connection of [...this.#byConnection.keys()]) this.left(connection);
    await this.#engine.close();
  }

  #of(connection: Connection): OfConnection {
    const known = this.#byConnection.get(connection);
    if (known !== undefined) return known;
    const own: OfConnection = { sessions: new Map(), single: new Set(), byToken: new Map() };
    this.#byConnection.set(connection, own);
    return own;
  }

  #forgetIfIdle(connection: Connection): void {
    const own = this.#byConnection.get(connection);
    if (own?.sessions.size === 0 && own.single.size === 0) this.#byConnection.delete(connection);
  }
}

/** A search with a single reply. */
class SingleSearch implements Listener {
  files: readonly FuzzyFileSearchResult[] = [];
  hasEnded = false;
  #resolve!: (files: readonly FuzzyFileSearchResult[]) => void;
  #reject!: (why: Error) => void;
  readonly result = new Promise<readonly FuzzyFileSearchResult[]>((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });

  constructor() {
    // The search may end before a caller awaits its result.
    this.result.catch(() => {});
  }

  found({ files, isComplete }: SearchNews): void {
    this.files = files;
    if (isComplete) this.end();
  }

  gone(): void {
    this.#reject(fault("searchFailed"));
  }

  /** Resolves with the results so far. */
  end(): void {
    this.hasEnded = true;
    this.#resolve(this.files);
  }
}

/** A session: one search whose query changes. */
class SearchSession implements Listener {
  readonly #connection: Connection;
  readonly #sessionId: string;
  readonly #supervisor: Supervisor;
  readonly #search: { ask(query: string): Promise<void>; end(): void };
  #query = "";
  /** The next results to send. They replace results that were not sent yet. */
  #news: SearchNews | undefined;
  /** The latest results for the query. */
  #found: SearchNews | undefined;
  #isSending = false;
  #ended = false;

  constructor(
    connection: Connection,
    sessionId: string,
    supervisor: Supervisor,
    search: { ask(query: string): Promise<void>; end(): void },
  ) {
    this.#connection = connection;
    this.#sessionId = sessionId;
    this.#supervisor = supervisor;
    this.#search = search;
  }

  async ask(query: string): Promise<void> {
    this.#query = query;
    this.#news = undefined;
    this.#found = undefined;
    await this.#search.ask(query);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#search.end();
  }

  found(news: SearchNews): void {
    if (this.#ended || news.query !== this.#query) return;
    this.#news = news;
    this.#found = news;
    if (this.#isSending) return;
    this.#isSending = true;
    this.#supervisor.take("reporting found files", this.#send());
  }

  /** The worker has ended: the results so far are final, and the next query starts a new search. */
  gone(): void {
    if (this.#found?.isComplete) return;
    this.found({ id: 0, query: this.#query, files: this.#found?.files ?? [], isComplete: true });
  }

  async #send(): Promise<void> {
    for (;;) {
      for (let full = this.#connection.room(); full !== undefined; full = this.#connection.room()) await full;
      const news = this.#news;
      this.#news = undefined;
      if (news === undefined || this.#ended) break;
      const sessionId = this.#sessionId;
      this.#connection.notify("fuzzyFileSearch/sessionUpdated", {
        sessionId,
        query: news.query,
        files: [...news.files],
      });
      if (news.isComplete) this.#connection.notify("fuzzyFileSearch/sessionCompleted", { sessionId });
    }
    this.#isSending = false;
  }
}
