import { join } from "node:path";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Clock, Files } from "../../platform/platform.ts";
import { instructionsOf, isJson, type ServerOffer, toolsIn } from "./server-offer.ts";

/** Facts about a server that survive restarts of the host. */
export interface CachedServer {
  /** The server's last offer; undefined if it was never connected. */
  readonly offered: ServerOffer | undefined;
  /**
   * Whether each thread gets its own server, because the server once asked a question while calls of two threads were
   * running.
   */
  readonly isIsolated: boolean;
  /** Until when the server is taken for one that supports only older protocol versions. */
  readonly legacyUntil: number;
}

const NOTHING: CachedServer = { offered: undefined, isIsolated: false, legacyUntil: 0 };

/** How long a server is taken for one that supports only older protocol versions. It may be updated meanwhile. */
const LEGACY_MS = 7 * 24 * 3600 * 1000;
const VERSION = 1;
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Limit on the number of files. Beyond it, half of them are deleted; their facts are collected again. */
const MAX_FILES = 1000;
const MAX_IN_MEMORY = 500;

export interface ServerFactsCachePorts {
  readonly files: Pick<Files, "readText" | "replaceText" | "list" | "remove">;
  readonly clock: Clock;
  readonly supervisor: Supervisor;
  readonly folder: string;
}

/**
 * Remembers the offers of MCP servers across restarts, so that threads need not wait until servers have started.
 * There is one file per server configuration.
 */
export class ServerFactsCache {
  readonly #ports: ServerFactsCachePorts;
  readonly #facts = new Map<string, CachedServer>();
  readonly #reading = new Map<string, Promise<void>>();
  #writing: Promise<void> = Promise.resolve();
  #hasCleanedUp = false;

  constructor(ports: ServerFactsCachePorts) {
    this.#ports = ports;
  }

  /** The facts that were loaded from disk or collected since. */
  of(key: string): CachedServer {
    return this.#facts.get(key) ?? NOTHING;
  }

  /** Loads the facts about a server from disk; undefined if they are loaded already. */
  load(key: string): Promise<void> | undefined {
    if (this.#facts.has(key)) return undefined;
    let reading = this.#reading.get(key);
    if (reading === undefined) {
      reading = this.#read(key).finally(() => this.#reading.delete(key));
      this.#reading.set(key, reading);
    }
    return reading;
  }

  offered(key: string, offered: ServerOffer, isLegacy: boolean): void {
    const known = this.of(key);
    const now = this.#ports.clock.now();
    // Writes nothing if the entry is still valid; otherwise every connection would write a file.
    const isFresh = isLegacy ? known.legacyUntil > now : known.legacyUntil === 0;
    const isSame = isFresh && JSON.stringify(known.offered) === JSON.stringify(offered);
    if (isSame) return;
    this.#set(key, { ...known, offered, legacyUntil: isLegacy ? now + LEGACY_MS : 0 });
  }

  isolate(key: string): void {
    const known = this.of(key);
    if (!known.isIsolated) this.#set(key, { ...known, isIsolated: true });
  }

  /** Resolves when all facts are written to disk. */
  written(): Promise<void> {
    return this.#writing;
  }

  #set(key: string, known: CachedServer): void {
    this.#remember(key, known);
    this.#writing = this.#writing.then(() => this.#write(key));
  }

  #remember(key: string, known: CachedServer): void {
    this.#facts.delete(key);
    this.#facts.set(key, known);
    const [oldest] = this.#facts.keys();
    if (this.#facts.size > MAX_IN_MEMORY && oldest !== undefined) this.#facts.delete(oldest);
  }

  async #read(key: string): Promise<void> {
    let known = NOTHING;
    try {
      const text = await this.#ports.files.readText(this.#path(key));
      if (text !== undefined && text.length <= MAX_CHARACTERS) known = parseFacts(JSON.parse(text));
    } catch (cause) {
      // A damaged file is ignored, and the server is asked again.
      if (!(cause instanceof SyntaxError))
        this.#ports.supervisor.report("reading the cache of MCP servers", cause);
    }
    // New facts may have been collected during the read.
    if (!this.#facts.has(key)) this.#remember(key, known);
  }

  async #write(key: string): Promise<void> {
    const known = this.#facts.get(key);
    if (known === undefined) return;
    const text = JSON.stringify({ version: VERSION, ...known });
    try {
      if (!this.#hasCleanedUp) await this.#cleanUp();
      if (text.length <= MAX_CHARACTERS) await this.#ports.files.replaceText(this.#path(key), text);
    } catch (cause) {
      this.#ports.supervisor.report("writing the cache of MCP servers", cause);
    }
  }

  async #cleanUp(): Promise<void> {
    this.#hasCleanedUp = true;
    const { files, folder } = this.#ports;
    const names = (await files.list(folder)).map(({ name }) => name);
    if (names.length <= MAX_FILES) return;
    for (const name of names.sort().slice(MAX_FILES / 2)) await files.remove(join(folder, name));
  }

  #path(key: string): string {
    return join(this.#ports.folder, `${key}.json`);
  }
}

/** Parses a file's content. The file may be of another version, or edited by hand. */
function parseFacts(value: unknown): CachedServer {
  if (!isJson(value) || value.version !== VERSION) return NOTHING;
  const { offered, isIsolated, legacyUntil } = value;
  return {
    offered: isJson(offered)
      ? {
          tools: toolsIn(offered.tools),
          instructions: instructionsOf(offered.instructions),
          serverInfo: isJson(offered.serverInfo) ? offered.serverInfo : null,
          capabilities: isJson(offered.capabilities) ? offered.capabilities : {},
          toolListMeta: offered.toolListMeta ?? null,
        }
      : undefined,
    isIsolated: isIsolated === true,
    legacyUntil: typeof legacyUntil === "number" ? legacyUntil : 0,
  };
}
