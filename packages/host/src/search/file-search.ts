import { basename } from "node:path";
import type { FuzzyFileSearchResult } from "@bobbin/protocol";
import type { AllowedFolders } from "../platform/allowed-folders.ts";
import type { FewAtOnce } from "../platform/concurrency-limit.ts";
import type { FileSearchAccess } from "../platform/file-search-access.ts";
import { BestMatches } from "./best-matches.ts";
import { FolderWalk } from "./folder-walk.ts";
import { PathMatcher, type PreparedPath, preparePath } from "./path-matcher.ts";

/** Limit on results, as in the Codex CLI. */
export const MAX_RESULTS = 50;
/** Limit on the entries of one search, over all roots. Entries beyond it are not found. */
export const MAX_ENTRIES = 250_000;
/** Amount of work per slice, before other searches continue. A slice takes a few milliseconds. */
const WALK_SLICE = 1000;
const SCORE_SLICE = 4000;
/** Minimum time between two reports of partial results. */
const REPORT_MS = 50;

export interface SearchPorts {
  readonly files: FileSearchAccess;
  /** Limits the searches that run at a time, because each uses memory. */
  readonly runningLimit: FewAtOnce;
  /** A monotonic clock in milliseconds. */
  now(): number;
  /** Lets other work of the thread run. */
  pause(): Promise<void>;
  /** Reports results. `isComplete`: everything was searched; no further report follows for this query. */
  report(query: string, files: readonly FuzzyFileSearchResult[], isComplete: boolean): void;
}

/** The folders that a search covers. */
export interface SearchRoots {
  /** Each folder by the client's name for it, and its absolute path. */
  readonly roots: readonly { readonly name: string; readonly path: string }[];
  readonly places: AllowedFolders | null;
}

/**
 * One search: it walks its roots once, and scores the entries against the query while the walk continues. A new query
 * restarts the scoring, not the walk.
 */
export class FileSearch {
  readonly #ports: SearchPorts;
  readonly #roots: SearchRoots;
  readonly #paths: PreparedPath[] = [];
  readonly #rootOf: number[] = [];
  readonly #folders = new Set<number>();
  #walks: { readonly walk: FolderWalk; readonly root: number }[] | undefined;
  #query: Query;
  #isRunning = false;
  #ended = false;

  constructor(roots: SearchRoots, query: string, ports: SearchPorts) {
    this.#ports = ports;
    this.#roots = roots;
    this.#query = this.#newQuery(query);
  }

  get entries(): number {
    return this.#paths.length;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  ask(query: string): void {
    this.#query = this.#newQuery(query);
  }

  end(): void {
    this.#ended = true;
  }

  /** Runs until everything is walked and scored; must be called again after a new query. */
  async run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      await this.#ports.runningLimit.run(() => this.#work());
    } finally {
      this.#isRunning = false;
    }
  }

  async #work(): Promise<void> {
    this.#walks ??= await this.#startWalks();
    while (!this.#ended && !this.#query.isComplete) {
      await this.#walkSlice();
      this.#scoreSlice();
      this.#reportIfDue();
      await this.#ports.pause();
    }
  }

  #newQuery(text: string): Query {
    const best = new BestMatches(MAX_RESULTS, (entry) => this.#paths[entry]!.path);
    return {
      text,
      matcher: new PathMatcher(text),
      best,
      scored: 0,
      reported: undefined,
      reportedAt: 0,
      isComplete: false,
    };
  }

  async #startWalks(): Promise<{ readonly walk: FolderWalk; readonly root: number }[]> {
    const { roots, places } = this.#roots;
    const all = new Set(roots.map(({ path }) => path));
    const walks: { readonly walk: FolderWalk; readonly root: number }[] = [];
    for (const path of all) {
      const root = roots.findIndex((one) => one.path === path);
      const walk = new FolderWalk(this.#ports.files, places, all);
      await walk.start(path);
      if (!walk.isDone) this.#add(root, "", true);
      walks.push({ walk, root });
    }
    return walks;
  }

  async #walkSlice(): Promise<void> {
    const walks = this.#walks!;
    for (
      let found = 0, steps = 0;
      walks.length > 0 && found < WALK_SLICE && steps < WALK_SLICE / 10;
      steps++
    ) {
      const { walk, root } = walks[0]!;
      const entries = await walk.step();
      for (const { path, isFolder } of entries) this.#add(root, path, isFolder);
      found += entries.length;
      if (walk.isDone) walks.shift();
      if (this.#paths.length >= MAX_ENTRIES) walks.length = 0;
    }
  }

  #add(root: number, path: string, isFolder: boolean): void {
    if (this.#paths.length >= MAX_ENTRIES) return;
    if (isFolder) this.#folders.add(this.#paths.length);
    this.#paths.push(preparePath(path));
    this.#rootOf.push(root);
  }

  #scoreSlice(): void {
    const query = this.#query;
    const end = Math.min(this.#paths.length, query.scored + SCORE_SLICE);
    // An empty query finds nothing.
    if (query.text !== "")
      for (let entry = query.scored; entry < end; entry++) {
        const score = query.matcher.score(this.#paths[entry]!);
        if (score !== undefined) query.best.add(entry, score);
      }
    query.scored = end;
    query.isComplete = this.#walks!.length === 0 && end === this.#paths.length;
  }

  #reportIfDue(): void {
    const query = this.#query;
    if (this.#ended) return;
    const { version } = query.best;
    const now = this.#ports.now();
    if (!query.isComplete) {
      if (version === 0 || version === query.reported) return;
      if (query.reported !== undefined && now - query.reportedAt < REPORT_MS) return;
    }
    query.reported = version;
    query.reportedAt = now;
    this.#ports.report(query.text, this.#results(query), query.isComplete);
  }

  #results({ best, matcher }: Query): FuzzyFileSearchResult[] {
    return best.sorted().map(({ entry, score }) => {
      const prepared = this.#paths[entry]!;
      const { path } = prepared;
      return {
        root: this.#roots.roots[this.#rootOf[entry]!]!.name,
        path,
        match_type: this.#folders.has(entry) ? "directory" : "file",
        file_name: basename(path),
        score,
        indices: matcher.indices(prepared),
      };
    });
  }
}

interface Query {
  readonly text: string;
  readonly matcher: PathMatcher;
  readonly best: BestMatches;
  /** Number of entries that were scored. */
  scored: number;
  /** The version of the best matches at the last report. */
  reported: number | undefined;
  reportedAt: number;
  isComplete: boolean;
}
