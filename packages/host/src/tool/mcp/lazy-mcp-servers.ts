import type { McpServerStatus, NotificationParams } from "@bobbin/protocol";
import type { Commit } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Timers } from "../../platform/platform.ts";
import type { Tool, ToolSource } from "../tool.ts";
import { type McpScope, scopeOf } from "./lookup-scope.ts";
import type { McpServers, ThreadServer } from "./mcp-interface.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import type { ConfiguredServers, Mcp } from "./mcp-servers.ts";

export type StartupStatus = NotificationParams<"mcpServer/startupStatus/updated">;

export interface LazyMcpPorts {
  readonly supervisor: Supervisor;
  readonly timers: Timers;
  /** Whether the thread may have MCP servers. If not, none are looked up. */
  mayHave(thread: ThreadState): boolean;
  configured(scope: McpScope): Promise<ConfiguredServers>;
  make(): Promise<Mcp>;
  /** Sends a server's status to a thread's subscribers; returns false if there are none. */
  send(threadId: string, status: StartupStatus): boolean;
  /** Sends a warning to a thread's subscribers; returns false if there are none. */
  warn(threadId: string, message: string): boolean;
}

const NONE: readonly ThreadServer[] = [];

/**
 * The MCP servers of all threads. This code and the MCP library are loaded for the first thread that has a server. As
 * a tool source, it offers no tools; it only follows loads and unloads of threads.
 */
export class LazyMcp implements McpServers, ToolSource {
  readonly #ports: LazyMcpPorts;
  /** Threads whose servers are being looked up for the first time. */
  readonly #loading = new Map<string, Promise<void>>();
  /** Messages that could not be sent yet because there was no subscriber, by thread. */
  readonly #unsent = new Map<string, (() => boolean)[]>();
  /** The number of reloads of the configuration, and the last reload that each thread has applied. */
  #reloads = 0;
  readonly #reloaded = new Map<string, number>();
  #making: Promise<Mcp> | undefined;
  #made: Mcp | undefined;

  constructor(ports: LazyMcpPorts) {
    this.#ports = ports;
  }

  tools(): readonly Tool[] {
    return [];
  }

  load(thread: ThreadState): void {
    if (!this.#ports.mayHave(thread)) return;
    if (this.#made !== undefined) return this.#made.load(thread);
    const { id } = thread.facts;
    const isWanted = (): boolean => this.#loading.get(id) === loading;
    const loading: Promise<void> = this.#loadFirst(thread, isWanted).finally(() => {
      if (isWanted()) this.#loading.delete(id);
    });
    this.#loading.set(id, loading);
    this.#ports.supervisor.take("finding the MCP servers of a thread", loading);
  }

  async #loadFirst(thread: ThreadState, isWanted: () => boolean): Promise<void> {
    const { problems, servers } = await this.#ports.configured(scopeOf(thread));
    if (problems.length === 0 && servers().length === 0) return;
    const mcp = await this.mcp();
    if (isWanted()) mcp.load(thread);
  }

  unload(threadId: string): void {
    this.#loading.delete(threadId);
    this.#unsent.delete(threadId);
    this.#reloaded.delete(threadId);
    this.#made?.unload(threadId);
  }

  of(thread: ThreadState): readonly ThreadServer[] {
    return this.#made?.of(thread) ?? NONE;
  }

  ready(thread: ThreadState): Promise<void> | undefined {
    return this.required(thread);
  }

  required(thread: ThreadState): Promise<void> | undefined {
    this.#loadIfReloaded(thread);
    const loading = this.#loading.get(thread.facts.id);
    return loading === undefined
      ? this.#made?.required(thread)
      : loading.then(() => this.#made?.required(thread));
  }

  #loadIfReloaded(thread: ThreadState): void {
    const { id } = thread.facts;
    if (this.#reloads === 0 || this.#reloaded.get(id) === this.#reloads) return;
    this.#reloaded.set(id, this.#reloads);
    this.load(thread);
  }

  /** A change of the thread's folder may change its servers. */
  committed({ records }: Commit, thread: ThreadState): void {
    if (records.some(({ type }) => type === "settingsChanged")) this.load(thread);
  }

  /** Sends a new subscriber the messages that it missed, after the reply to its request. */
  followed(threadId: string): void {
    if (!this.#unsent.has(threadId)) return;
    this.#ports.timers.soon(() => {
      const unsent = this.#unsent.get(threadId) ?? [];
      const left = unsent.filter((send) => !send());
      if (left.length === 0) this.#unsent.delete(threadId);
      else this.#unsent.set(threadId, left);
    });
  }

  send(threadId: string, status: StartupStatus): void {
    this.#sendOrQueue(threadId, () => this.#ports.send(threadId, status));
  }

  warn(threadId: string, message: string): void {
    this.#sendOrQueue(threadId, () => this.#ports.warn(threadId, message));
  }

  /** Called when the host shuts down: idle servers end at once. */
  async stop(): Promise<void> {
    (await this.#making)?.pool.hurry();
  }

  async close(): Promise<void> {
    const mcp = await this.#making;
    await mcp?.close();
  }

  /** The status of the servers in a scope, sorted by name. */
  async statuses(
    scope: McpScope,
    wanted: Parameters<Mcp["statuses"]>[1],
  ): Promise<readonly McpServerStatus[]> {
    const { servers } = await this.#ports.configured(scope);
    return servers().length === 0 ? [] : (await this.mcp()).statuses(scope, wanted);
  }

  /** Reads a resource of a server; undefined if the scope has no such server. */
  async readResource(
    ...params: Parameters<Mcp["readResource"]>
  ): Promise<Awaited<ReturnType<Mcp["readResource"]>>> {
    const { servers } = await this.#ports.configured(params[0]);
    return servers().length === 0 ? undefined : (await this.mcp()).readResource(...params);
  }

  /** The settings of the servers in a scope, sorted by name. */
  async configured(scope: McpScope): Promise<readonly McpServerSettings[]> {
    return (await this.#ports.configured(scope)).servers();
  }

  /** Reconnects a server after its owner has logged in or out. */
  authChanged(owner: string, server: McpServerSettings): void {
    this.#made?.authChanged(owner, server);
  }

  /** Applies the current configuration. Threads with servers get it at once, others with their next turn. */
  reload(): void {
    this.#reloads++;
    this.#made?.reload();
  }

  mcp(): Promise<Mcp> {
    this.#making ??= this.#ports.make().then((mcp) => {
      this.#made = mcp;
      return mcp;
    });
    return this.#making;
  }

  #sendOrQueue(threadId: string, send: () => boolean): void {
    const unsent = this.#unsent.get(threadId);
    // A message is not sent before earlier unsent ones, so that the order stays the same.
    if (unsent === undefined && send()) return;
    this.#unsent.set(threadId, [...(unsent ?? []).slice(-MAX_UNSENT), send]);
  }
}

/** Limit on the unsent messages per thread: a server may restart for days while there is no subscriber. */
const MAX_UNSENT = 100;
