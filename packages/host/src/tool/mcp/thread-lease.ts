import {
  type McpCallOptions,
  type McpCallResult,
  McpError,
  type McpPromptMessages,
  type McpPromptPage,
  type McpResourceContents,
  type McpResourcePage,
  type McpResourceTemplatePage,
  type McpTool,
  type ThreadServer,
} from "./mcp-interface.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import type { LeaseHolder, PooledServer } from "./pooled-server.ts";
import { isJson, type Json } from "./server-offer.ts";
import type { McpPool, PoolPlace } from "./server-pool.ts";
import type { StartupUpdate } from "./startup-update.ts";
import { offeredTools } from "./tool-filter.ts";

const NO_TOOLS: readonly McpTool[] = [];

export interface LeasePorts {
  readonly pool: McpPool;
  /** The server's current settings; undefined if it has been removed from the configuration. */
  settings(): McpServerSettings | undefined;
  /** Sends `mcpServer/startupStatus/updated`. */
  sendStatus(update: StartupUpdate): void;
}

/** A thread's lease of one server, from load to unload. */
export class ThreadLease implements ThreadServer, LeaseHolder {
  readonly name: string;
  readonly #ports: LeasePorts;
  readonly #place: PoolPlace;
  /** The settings at the time when the lease was taken. The running server was started with them. */
  readonly #settingsAtStart: McpServerSettings;
  #server: PooledServer;
  #isIsolated: boolean;
  #currentSettings: McpServerSettings | undefined;
  #settings: McpServerSettings;
  #lastSent: StartupUpdate | undefined;
  #isReleased = false;
  /** The previous call, for servers that take one call at a time. */
  #previousCall: Promise<unknown> = Promise.resolve();

  constructor(settings: McpServerSettings, place: PoolPlace, ports: LeasePorts) {
    this.name = settings.name;
    this.#settingsAtStart = settings;
    this.#place = place;
    this.#ports = ports;
    this.#settings = settings;
    this.#isIsolated = ports.pool.isIsolated(settings, place.owner);
    this.#server = ports.pool.find(settings, place);
  }

  /** Takes the lease. `before`: the lease that this one replaces, if any. */
  hold(before: ThreadLease | undefined): void {
    // Clients already have the current status, and are not sent it again.
    if (before !== undefined && before.#server === this.#server) this.#lastSent = before.#lastSent;
    this.#server.hold(this);
  }

  /**
   * The current settings, except for transport and isolation, which stay as they were when the lease was taken: a
   * running server does not change.
   */
  get settings(): McpServerSettings {
    const now = this.#ports.settings();
    if (now !== undefined && now !== this.#currentSettings)
      this.#settings = {
        ...now,
        transport: this.#settingsAtStart.transport,
        isolation: this.#settingsAtStart.isolation,
      };
    this.#currentSettings = now;
    return this.#settings;
  }

  get server(): PooledServer {
    return this.#current();
  }

  get tools(): readonly McpTool[] {
    const { offered } = this.#server;
    return offered === undefined ? NO_TOOLS : offeredTools(offered, this.settings);
  }

  get instructions(): string | null {
    return this.#server.offered?.instructions ?? null;
  }

  get hasResources(): boolean {
    return this.#server.offered?.capabilities.resources !== undefined;
  }

  get hasPrompts(): boolean {
    return this.#server.offered?.capabilities.prompts !== undefined;
  }

  listed(): Promise<void> | undefined {
    return this.#server.listed;
  }

  /** Resolves when the server is connected or has failed. */
  async required(): Promise<void> {
    await this.#server.connected(new AbortController().signal).catch((cause: unknown) => {
      if (!(cause instanceof McpError)) throw cause;
    });
  }

  release(): void {
    this.#isReleased = true;
    this.#server.release(this);
  }

  started(update: StartupUpdate): void {
    const last = this.#lastSent;
    if (last?.status === update.status && last.error === update.error) return;
    // The start of a restart is not sent. If the restart fails, the failure is.
    if (last?.status === "ready" && update.status === "starting") return;
    this.#lastSent = update;
    this.#ports.sendStatus(update);
  }

  async call(name: string, args: unknown, options: McpCallOptions): Promise<McpCallResult> {
    const { settings } = this;
    if (settings.supportsParallelToolCalls) return this.#call(name, args, options, settings);
    const call = this.#previousCall.then(() => this.#call(name, args, options, settings));
    this.#previousCall = call.catch(() => {});
    return call;
  }

  async #call(
    name: string,
    args: unknown,
    options: McpCallOptions,
    settings: McpServerSettings,
  ): Promise<McpCallResult> {
    options.signal.throwIfAborted();
    const server = this.#current();
    const find = (): McpTool | undefined => this.tools.find((one) => one.name === name);
    // The tool is not among the cached ones, which may be outdated, so the server is asked.
    if (find() === undefined && server.state !== "connected") await server.connect(options.signal);
    const tool = find();
    if (tool === undefined)
      throw new McpError(
        "refused",
        `The MCP server ${this.name} has no tool ${JSON.stringify(name.slice(0, 200))}.`,
      );
    const { threadId } = this.#place;
    const { toolTimeoutMs: timeoutMs } = settings;
    return server.call({ threadId, tool, args: isJson(args) ? args : {}, timeoutMs, options });
  }

  async listResources(cursor: string | null, signal: AbortSignal): Promise<McpResourcePage> {
    const page = await this.#request("resources/list", cursor === null ? {} : { cursor }, signal);
    return { resources: listIn(page.resources), nextCursor: textOrNull(page.nextCursor) };
  }

  async listResourceTemplates(cursor: string | null, signal: AbortSignal): Promise<McpResourceTemplatePage> {
    const page = await this.#request("resources/templates/list", cursor === null ? {} : { cursor }, signal);
    return { resourceTemplates: listIn(page.resourceTemplates), nextCursor: textOrNull(page.nextCursor) };
  }

  async readResource(uri: string, signal: AbortSignal, meta?: object): Promise<McpResourceContents> {
    const params = { uri, ...(meta !== undefined && { _meta: meta }) };
    const { contents } = await this.#request("resources/read", params, signal);
    return { contents: listIn(contents) };
  }

  async listPrompts(cursor: string | null, signal: AbortSignal): Promise<McpPromptPage> {
    const page = await this.#request("prompts/list", cursor === null ? {} : { cursor }, signal);
    return { prompts: listIn(page.prompts), nextCursor: textOrNull(page.nextCursor) };
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<McpPromptMessages> {
    const { messages } = await this.#request("prompts/get", { name, arguments: args }, signal);
    return { messages: listIn(messages) };
  }

  #request(method: string, params: Json, signal: AbortSignal): Promise<Json> {
    const { threadId } = this.#place;
    const { toolTimeoutMs: timeoutMs } = this.settings;
    return this.#current().request({ threadId, method, params, timeoutMs, signal });
  }

  /** The pooled server. If it was isolated or closed since, another one replaces it. */
  #current(): PooledServer {
    const { pool } = this.#ports;
    const isIsolated = pool.isIsolated(this.#settingsAtStart, this.#place.owner);
    if (this.#isReleased || (isIsolated === this.#isIsolated && this.#server.state !== "closed"))
      return this.#server;
    this.#isIsolated = isIsolated;
    const before = this.#server;
    this.#server = pool.find(this.#settingsAtStart, this.#place);
    this.#server.hold(this);
    before.release(this);
    return this.#server;
  }
}

function listIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
