import { join } from "node:path";
import type {
  ExternalAgentConfigDetectParams as DetectParams,
  ExternalAgentConfigDetectResponse as DetectResponse,
  ExternalAgentConfigImportHistory as History,
  ExternalAgentConfigImportHistoryRecordParams as HistoryParams,
  ExternalAgentConfigImportParams as ImportParams,
  ExternalAgentConfigMigrationItem as Item,
  ExternalAgentConfigImportTypeResult as TypeResult,
} from "@bobbin/protocol";
import { messageOf } from "../errors.ts";
import type { Log } from "../observe/log.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Journal } from "../store/journal.ts";
import { claudePlanners } from "./claude/claude-planners.ts";
import { claudeSessions } from "./claude/claude-session-files.ts";
import { codexPlanners } from "./codex/codex-planners.ts";
import { codexSessions } from "./codex/codex-session-files.ts";
import { cwdOf, HOME, type Scope, scopeOf } from "./import-scope.ts";
import { byType, ItemResult } from "./item-result.ts";
import type { ImportHistories } from "./past-imports.ts";
import { details, type PendingImport, type Planner } from "./pending-import.ts";
import type { SessionReader } from "./session/session-files.ts";
import { checkedSessions, importSessions, newSessions, USUAL_LIMITS } from "./session/session-imports.ts";
import type { SessionThreadPorts } from "./session/thread-from-session.ts";
import { type SourceName, type SourcePorts, sourceNamed } from "./source-agents.ts";
import { claudePaths, codexHome } from "./source-and-target-paths.ts";

export interface ImportPorts extends SourcePorts {
  readonly log: Pick<Log, "warn">;
  readonly histories: ImportHistories;
  /** Runs `work` under a lock that excludes all other imports into this home, in this and other processes. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  readonly journal: Pick<Journal, "bring" | "has">;
  readonly supervisor: Pick<Supervisor, "take">;
}

/** The client that requested an import, and gets its notifications. */
export interface ImportCaller extends Pick<SessionThreadPorts, "owner" | "settings"> {
  /** Replies to the request. All later progress is sent as notifications. */
  started(importId: string): void;
  progress(importId: string, results: TypeResult[]): void;
  completed(importId: string, results: TypeResult[]): void;
}

/** Limit on the working directories of one request. */
const MAX_CWDS = 200;

/** Detects and imports settings and sessions of other agents, and stores the results. */
export class Imports {
  readonly #ports: ImportPorts;
  readonly #planners: Readonly<Record<SourceName, readonly Planner[]>>;
  readonly #ending = new AbortController();
  /** Resolves when all session imports so far are done. They run after the reply, one request after the other. */
  #behind: Promise<void> = Promise.resolve();

  constructor(ports: ImportPorts) {
    this.#ports = ports;
    this.#planners = { claude: claudePlanners(ports), codex: codexPlanners(ports) };
  }

  /** A new object for each request, because the object caches file lists. */
  #sessions(source: SourceName): { readonly files: SessionReader; readonly folder: string } {
    const { platform } = this.#ports;
    const folder = source === "codex" ? codexHome(platform) : claudePaths(platform).home;
    const files = source === "codex" ? codexSessions(platform, folder) : claudeSessions(platform, folder);
    return { files, folder };
  }

  /** Stops session imports after the session that is being written. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#behind;
  }

  /** Lists what can be imported. Unreadable files are listed, too; importing one reports the error. */
  async detect(params: DetectParams): Promise<DetectResponse> {
    const source = sourceNamed(params.migrationSource);
    const items: Item[] = [];
    for (const scope of await this.#scopes(params))
      for (const planner of this.#planners[source]) {
        const move = await this.#plan(planner, scope);
        if (move === undefined) continue;
        const { itemType, description, details } = move;
        items.push({ itemType, description, cwd: cwdOf(scope), details });
      }
    const sessions = params.includeHome ? await this.#detectSessions(source, params) : undefined;
    return { items: sessions === undefined ? items : [...items, sessions], connectors: [] };
  }

  async #detectSessions(source: SourceName, params: DetectParams): Promise<Item | undefined> {
    const { home, journal, platform } = this.#ports;
    const { files, folder } = this.#sessions(source);
    if (folder === home) return undefined;
    const sessions = await newSessions(files, journal, platform.clock.now(), {
      maxAgeDays: params.maxSessionAgeDays ?? USUAL_LIMITS.maxAgeDays,
      maxSessions: params.maxSessions ?? USUAL_LIMITS.maxSessions,
    });
    if (sessions.length === 0) return undefined;
    const description = `Migrate sessions from ${join(folder, source === "codex" ? "sessions" : "projects")}`;
    return { itemType: "SESSIONS", description, cwd: null, details: details({ sessions }) };
  }

  async #scopes({ includeHome, cwds }: DetectParams): Promise<readonly Scope[]> {
    const scopes = new Map<string, Scope>();
    if (includeHome) scopes.set("", HOME);
    for (const cwd of (cwds ?? []).slice(0, MAX_CWDS)) {
      const scope = await scopeOf(this.#ports.platform.files, cwd);
      if (scope?.kind === "repository") scopes.set(scope.root, scope);
    }
    return [...scopes.values()];
  }

  async #plan({ itemType, plan }: Planner, scope: Scope): Promise<PendingImport | undefined> {
    try {
      return await plan(scope);
    } catch (cause) {
      const why = messageOf(cause);
      return {
        itemType,
        description: `Cannot be imported: ${why}`,
        details: null,
        run: () => Promise.reject(cause),
      };
    }
  }

  /** Imports the items, each independently. Resolves when all but the sessions are done. */
  async import(params: ImportParams, caller: ImportCaller): Promise<void> {
    const { platform, supervisor } = this.#ports;
    const importId = platform.ids.uuid();
    const source = sourceNamed(params.migrationSource);
    const { migrationItems: items } = params;
    const { files } = this.#sessions(source);
    const requestedSessions = items.flatMap((item) =>
      item.itemType === "SESSIONS" ? (item.details?.sessions ?? []) : [],
    );
    const { paths, result } = await checkedSessions(files, requestedSessions);
    const results: TypeResult[] = requestedSessions.length === 0 ? [] : [result.view];
    const others = items.filter(({ itemType }) => itemType !== "SESSIONS");
    // The lock prevents two imports from both finding a skill missing and writing it to the same folder.
    if (others.length > 0)
      await this.#ports.exclusively(async () => {
        for (const item of others) results.push((await this.#import(source, item)).view);
      });
    caller.started(importId);
    if (items.length === 0) return;
    for (const one of results) caller.progress(importId, [one]);
    const finish = async (): Promise<void> => {
      const all = byType(results);
      await this.#remember(importId, params.providerId ?? null, all);
      caller.completed(importId, all);
    };
    if (paths.length === 0) return finish();
    const before = this.#behind;
    this.#behind = (async () => {
      await before;
      await importSessions(files, paths, this.#threadPorts(caller), this.#ending.signal, ({ view }) => {
        results.push(view);
        caller.progress(importId, [view]);
      });
      await finish();
    })();
    const done = this.#behind;
    this.#behind = done.catch(() => {});
    supervisor.take("importing sessions", done);
  }

  #threadPorts({ owner, settings }: ImportCaller): SessionThreadPorts {
    const { journal, platform } = this.#ports;
    return { journal, owner, settings, now: () => platform.clock.now() };
  }

  async #import(source: SourceName, item: Item): Promise<ItemResult> {
    const result = new ItemResult(item.itemType, item.cwd ?? null);
    try {
      const planner = this.#planners[source].find(({ itemType }) => itemType === item.itemType);
      if (planner === undefined) throw new Error(`${item.itemType} cannot be imported from ${source}`);
      const scope = await scopeOf(this.#ports.platform.files, item.cwd);
      // `move` is undefined if the directory no longer exists, or if the item was imported in between.
      const move = scope && (await planner.plan(scope));
      await move?.run(result);
    } catch (cause) {
      result.failed(messageOf(cause));
    }
    return result;
  }

  async #remember(
    importId: string,
    providerId: string | null,
    results: readonly TypeResult[],
  ): Promise<void> {
    try {
      await this.#ports.histories.add(this.#history(importId, providerId, results));
    } catch (cause) {
      this.#ports.log.warn("the results of an import could not be stored", { importId, cause });
    }
  }

  /** Stores the results of an import that a client made itself. */
  async record({ providerId, itemTypeResults }: HistoryParams): Promise<string> {
    const importId = this.#ports.platform.ids.uuid();
    const results = itemTypeResults.map(({ itemType, successes, failures }) => ({
      itemType,
      failures,
      successes: successes.map(({ itemType, cwd = null, source = null, target = null, title = null }) => ({
        itemType,
        cwd,
        source,
        target,
        title,
      })),
    }));
    await this.#ports.histories.add(this.#history(importId, providerId, results));
    return importId;
  }

  histories(): Promise<History[]> {
    return this.#ports.histories.all();
  }

  #history(importId: string, providerId: string | null, results: readonly TypeResult[]): History {
    return {
      importId,
      providerId,
      completedAtMs: this.#ports.platform.clock.now(),
      successes: results.flatMap(({ successes }) => successes),
      failures: results.flatMap(({ failures }) => failures),
    };
  }
}
