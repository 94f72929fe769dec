import type { RapCommand } from "../../core/rap/commands.ts";
import { openAtToolServers } from "../../core/rap/open-calls-and-subscriptions.ts";
import type { DueChoice } from "../../core/rap/records.ts";
import type { Commit } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Platform } from "../../platform/platform.ts";
import { retryDelay } from "../retry-delay.ts";
import type { SourceEffects, Tool, ToolSource } from "../tool.ts";
import { cancelSubscription } from "./cancel-subscription.ts";
import type { Rap } from "./rap.ts";
import type { RapSettings, ThreadToolServers } from "./rap-settings.ts";
import type { ServerView } from "./server-view.ts";

/** The parts of the host that the tool source needs. */
export interface LazyRapPorts {
  readonly settings: RapSettings;
  readonly platform: Pick<Platform, "clock" | "ids">;
  readonly supervisor: Supervisor;
  /** The tool servers of a thread. Null stands for a thread that brings none along. */
  serversOf(thread: Pick<ThreadState, "load" | "facts"> | null): ThreadToolServers;
  make(): Promise<Rap>;
  /** Whether an earlier host of this home issued callback URLs. Its calls may still be in progress. */
  hasListened(): Promise<boolean>;
  /** Deletes stored secrets of server requests that are no longer open. */
  sweep(): Promise<void>;
}

/**
 * The tool source for tool servers. The RAP code is loaded, and a port opened, only when a thread uses a tool server
 * or waits for one.
 */
export class LazyRap implements ToolSource {
  readonly effects: SourceEffects = {
    postChoice: ({ choice }, thread, signal) => this.#postChoice(thread, choice, signal),
  };
  readonly #ports: LazyRapPorts;
  #making: Promise<Rap> | undefined;
  #made: Rap | undefined;

  constructor(ports: LazyRapPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#ports.supervisor.take("listening for tool servers", this.#begin());
  }

  load(thread: ThreadState): void {
    if (this.#isFor(thread)) this.#soon("loading tools", async (rap) => rap.load(thread));
  }

  unload(threadId: string): void {
    if (this.#making !== undefined) this.#soon("unloading tools", async (rap) => rap.unload(threadId));
  }

  /** Resolves when the thread's tools are known; undefined if the thread has no tool server to wait for. */
  ready(thread: ThreadState): Promise<void> | undefined {
    return this.#isFor(thread) ? this.#rap().then((rap) => rap.ready(thread.facts.id)) : undefined;
  }

  tools(thread: ThreadState): readonly Tool[] {
    if (!this.#isFor(thread)) return [];
    return [cancelSubscription, ...(this.#made?.tools(thread.facts.id) ?? [])];
  }

  /** The tool servers of a thread. Null stands for a thread that brings none along. */
  async servers(thread: ThreadState | null): Promise<readonly ServerView[]> {
    const { used } = this.#ports.serversOf(thread);
    return used.length === 0 ? [] : (await this.#rap()).servers(thread, used);
  }

  /**
   * Passes notices to the send queue once their records are committed. Each notice is sent once, and no caller waits
   * for it.
   */
  committed({ records }: Commit, thread: ThreadState): void {
    const callIds = records.flatMap((record) => (record.type === "cancelNotified" ? [record.callId] : []));
    const closed = records.some(({ type }) => type === "notified");
    if ((callIds.length === 0 && !closed) || !this.mustNotify(thread)) return;
    this.#soon("notifying tool servers", async (rap) => {
      rap.cancelled(thread, callIds);
      if (closed) rap.closed(thread);
    });
  }

  mustNotify(thread: ThreadState): boolean {
    return this.notifiedServers(thread).length > 0;
  }

  /** The names of the tool servers that are sent notices about a thread. */
  notifiedServers(thread: ThreadState): readonly string[] {
    return this.#ports.serversOf(thread).notified.map(({ name }) => name);
  }

  /** Waits a short time for notices in progress. */
  async close(): Promise<void> {
    const rap = await this.#making;
    await rap?.close();
  }

  async stop(): Promise<void> {
    const rap = await this.#making;
    await rap?.stopListening();
  }

  /** Posts the user's choice to the tool server that asked for it. A failed attempt is repeated later. */
  async #postChoice(thread: ThreadState, choice: DueChoice, signal: AbortSignal): Promise<RapCommand> {
    const { platform, supervisor } = this.#ports;
    const { requestId, delays = 0 } = choice;
    let posted = false;
    try {
      posted = await (await this.#rap()).postChoice(thread, choice, signal);
    } catch (cause) {
      if (!signal.aborted) supervisor.report("posting a choice", cause);
    }
    const at = platform.clock.now();
    if (posted) return { kind: "choicePosted", at, requestId };
    return { kind: "choiceDelayed", at, requestId, until: at + retryDelay(delays, platform.ids) };
  }

  async #begin(): Promise<void> {
    const { settings, supervisor, hasListened, sweep } = this.#ports;
    if (settings.servers.length === 0 && !(await hasListened())) return;
    this.#soon("listening for tool servers", (rap) => rap.listen());
    supervisor.take("looking for secrets", sweep());
  }

  /**
   * Whether the thread needs tool servers. True also if it has calls or subscriptions at servers that are no longer
   * configured.
   */
  #isFor(thread: ThreadState): boolean {
    const { used, notified } = this.#ports.serversOf(thread);
    const { calls, subscriptions } = openAtToolServers(thread);
    // Calls of the host's own tools have no server.
    const away = calls.filter((server) => server !== "");
    return used.length + notified.length + away.length + subscriptions.length > 0;
  }

  #soon(what: string, work: (rap: Rap) => Promise<void>): void {
    this.#ports.supervisor.take(what, this.#rap().then(work));
  }

  #rap(): Promise<Rap> {
    this.#making ??= this.#ports.make().then((rap) => {
      this.#made = rap;
      return rap;
    });
    return this.#making;
  }
}
