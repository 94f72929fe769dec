import type { Supervisor } from "../../observe/supervise.ts";
import type { Timers } from "../../platform/platform.ts";
import { McpError } from "./mcp-interface.ts";
import { within } from "./wait-with-limit.ts";

/** Minimum time between the end of one list and the next one. */
const PAUSE_MS = 1000;

export interface ToolRefreshPorts {
  readonly timers: Timers;
  readonly supervisor: Supervisor;
  /** Time limit for listing the tools. */
  readonly limitMs: number;
  list(signal: AbortSignal): Promise<void>;
}

/**
 * Lists the tools of a connection again after a change: at once, so that a model can use a tool that its last call has
 * added. Changes within the next second are combined, and only one list request runs at a time.
 */
export class ToolRefresh {
  readonly #ports: ToolRefreshPorts;
  #state: "beginning" | "waiting" | "listing" | "pausing" = "beginning";
  #hasChanged = false;

  constructor(ports: ToolRefreshPorts) {
    this.#ports = ports;
  }

  changed(): void {
    this.#hasChanged = true;
    if (this.#state === "waiting") this.#listNow();
  }

  /** Called after the first list. Applies the changes since then. */
  begin(): void {
    this.#wait();
  }

  #wait(): void {
    this.#state = "waiting";
    if (this.#hasChanged) this.#listNow();
  }

  #listNow(): void {
    this.#ports.supervisor.take("listing the tools of an MCP server", this.#list());
  }

  async #list(): Promise<void> {
    const { timers, limitMs, list } = this.#ports;
    this.#state = "listing";
    this.#hasChanged = false;
    const late = (): McpError => new McpError("timeout", "its tools were not listed in time");
    try {
      await within(timers, limitMs, late, list);
    } catch (cause) {
      // After a failure, the previous tools are kept.
      if (!(cause instanceof McpError)) throw cause;
    } finally {
      this.#state = "pausing";
      timers.after(PAUSE_MS, () => this.#wait());
    }
  }
}
