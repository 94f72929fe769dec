import type { Commit } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { ToolCall } from "../../core/turn/records.ts";
import type { SearchableTool } from "../search/tool-search.ts";
import type { Tool, ToolSource } from "../tool.ts";
import type { McpServers } from "./mcp-interface.ts";
import type { McpSource } from "./mcp-source.ts";

export interface LazyMcpSourcePorts {
  readonly servers: McpServers;
  make(): Promise<McpSource>;
}

/** The tool source for MCP servers. Its code is loaded for the first thread that has a server. */
export class LazyMcpSource implements ToolSource {
  readonly #ports: LazyMcpSourcePorts;
  #making: Promise<McpSource> | undefined;
  #made: McpSource | undefined;

  constructor(ports: LazyMcpSourcePorts) {
    this.#ports = ports;
  }

  tools(thread: ThreadState): readonly Tool[] {
    return this.#made?.tools(thread) ?? [];
  }

  searched(thread: ThreadState): readonly SearchableTool[] {
    return this.#made?.searched(thread) ?? [];
  }

  /** Waits for the servers that the thread requires, and for the server whose tool `call` names. */
  ready(thread: ThreadState, call?: ToolCall): Promise<void> | undefined {
    const required = this.#ports.servers.required(thread);
    if (required !== undefined) return required.then(() => this.#loaded(thread, call));
    return this.#loaded(thread, call);
  }

  unload(threadId: string): void {
    this.#made?.direct.unload(threadId);
  }

  /** Aborts the calls of a client that has disconnected. */
  left(caller: object): void {
    this.#made?.direct.left(caller);
  }

  committed(commit: Commit): void {
    this.#made?.committed(commit);
  }

  source(): Promise<McpSource> {
    this.#making ??= this.#ports.make().then((made) => {
      this.#made = made;
      return made;
    });
    return this.#making;
  }

  #loaded(thread: ThreadState, call: ToolCall | undefined): Promise<void> | undefined {
    if (this.#ports.servers.of(thread).length === 0) return undefined;
    if (this.#made === undefined) return this.source().then((made) => call && made.listed(thread, call));
    return call && this.#made.listed(thread, call);
  }
}
