import type { BobbinClient } from "@bobbin/client";
import type { ServerLogLevel, ServerLogLine, ServerLogsReadResponse } from "@bobbin/protocol";
import { RpcError } from "@bobbin/rpc";
import { controlSockets } from "./control-sockets.ts";
import { COMMAND_CAPABILITIES } from "./host-client.ts";
import { connectToSocket } from "./running-host-connection.ts";
import { oneLine } from "./terminal-output.ts";

/** A log line, and the ID of the host process that wrote it. */
export interface SourceLine {
  readonly process: number;
  readonly line: ServerLogLine;
}

interface Source {
  readonly client: BobbinClient;
  readonly process: number;
  /** The position after the last line that was read; undefined before the first read. */
  cursor: string | undefined;
}

interface SourcesOptions {
  readonly home: string;
  readonly level: ServerLogLevel;
  /** Shows the user a line about the hosts, such as that one has started or ended. */
  say(line: string): void;
}

/** Limit on the lines that are requested at once. */
const PAGE = 1000;

/** The logs of the hosts that run on a home. */
export class LogSources {
  readonly #options: SourcesOptions;
  /** The connected hosts, by host ID. */
  readonly #sources = new Map<string, Source>();
  /** The sockets of these hosts, by path, with the host's id. A host may have several. */
  readonly #paths = new Map<string, string>();
  readonly #processes = new Set<number>();
  #hasFailed = false;
  #isClosing = false;
  /** Whether lines were read before: a host that is found later is a new one, and its lines are read from the start. */
  #isFollowing = false;

  constructor(options: SourcesOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#sources.size === 0;
  }

  /** Whether a host has refused to show its log. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Whether lines of more than one host were or are shown, so that each line has to name its process. */
  get haveBeenSeveral(): boolean {
    return this.#processes.size > 1;
  }

  /** Connects to hosts that are not known yet. */
  async find(): Promise<void> {
    for (const path of controlSockets(this.#options.home)) {
      if (this.#paths.has(path)) continue;
      const client = await connectToSocket(path, "logs", COMMAND_CAPABILITIES);
      if (client !== undefined) await this.#add(path, client);
    }
  }

  /** The last lines of all hosts, the oldest first. */
  async last(limit: number): Promise<readonly SourceLine[]> {
    this.#isFollowing = true;
    const found = await this.#readAll(async (source) => {
      // With a limit of 0, one line is read only to get the cursor.
      const { data } = await this.#page(source, Math.min(Math.max(limit, 1), PAGE));
      return data;
    });
    return limit === 0 ? [] : found.slice(-limit);
  }

  /** The lines of all hosts since the last call. */
  next(): Promise<readonly SourceLine[]> {
    return this.#readAll(async (source) => {
      const lines: ServerLogLine[] = [];
      for (;;) {
        const { data, hasMore, gap } = await this.#page(source, PAGE);
        if (gap) this.#options.say("Lines are missing here: the host no longer had them.");
        lines.push(...data);
        if (!hasMore) return lines;
      }
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#sources.values()].map(({ client }) => client.close()));
  }

  async #add(path: string, client: BobbinClient): Promise<void> {
    // The request fails if the host has just ended.
    const described = await client.request("server/diagnostics", {}).catch(() => undefined);
    if (described?.hostId == null) return client.close();
    const { hostId, process } = described;
    this.#paths.set(path, hostId);
    if (this.#sources.has(hostId)) return client.close();
    if (this.#isFollowing) this.#options.say(`A host has started, process ${process.id}.`);
    this.#processes.add(process.id);
    const cursor = this.#isFollowing ? `${hostId}:0` : undefined;
    this.#sources.set(hostId, { client, process: process.id, cursor });
    client.onClosed(() => this.#lost(hostId, process.id));
  }

  #lost(hostId: string, process: number): void {
    this.#sources.delete(hostId);
    for (const [path, id] of this.#paths) if (id === hostId) this.#paths.delete(path);
    if (!this.#isClosing) this.#options.say(`The host has ended, process ${process}.`);
  }

  async #readAll(
    read: (source: Source) => Promise<readonly ServerLogLine[]>,
  ): Promise<readonly SourceLine[]> {
    const all = await Promise.all(
      [...this.#sources.values()].map(async (source) => {
        const { process } = source;
        try {
          return (await read(source)).map((line) => ({ process, line }));
        } catch (cause) {
          // The connection ended, which `#lost` reports.
          if (!(cause instanceof RpcError)) return [];
          this.#hasFailed = true;
          this.#options.say(
            `bobbin: host process ${process} does not show its log: ${oneLine(cause.message)}`,
          );
          return [];
        }
      }),
    );
    return all.flat().sort((one, other) => one.line.time - other.line.time);
  }

  async #page(source: Source, limit: number): Promise<ServerLogsReadResponse> {
    const { cursor } = source;
    const page = await source.client.request("server/logs/read", {
      ...{ limit, level: this.#options.level },
      ...(cursor !== undefined && { cursor }),
    });
    source.cursor = page.nextCursor;
    return page;
  }
}
