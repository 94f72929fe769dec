import { onTestFinished } from "vitest";
import { type McpLayer, mergeMcpServers } from "../../packages/host/src/config/mcp-servers.ts";
import type { ThreadState } from "../../packages/host/src/core/state.ts";
import { pinoLog } from "../../packages/host/src/observe/log.ts";
import { Supervisor } from "../../packages/host/src/observe/supervise.ts";
import { nodePlatform } from "../../packages/host/src/platform/node.ts";
import type { Cancel, Platform } from "../../packages/host/src/platform/platform.ts";
import { ProcessManager } from "../../packages/host/src/process/process-manager.ts";
import { ProcessMarks } from "../../packages/host/src/process/process-marks.ts";
import type { McpCallOptions, ThreadServer } from "../../packages/host/src/tool/mcp/mcp-interface.ts";
import { Mcp, type McpPorts } from "../../packages/host/src/tool/mcp/mcp-servers.ts";
import { freshFolder } from "./folder.ts";
import { MCP_PROGRAM } from "./mcp-stage.ts";
import { withMark } from "./processes.ts";
import { newThread } from "./test-thread.ts";

export type Entry = Readonly<Record<string, unknown>>;

/** An entry of `[mcp_servers]` for the tests' own server. */
export function program(...args: readonly string[]): Entry {
  return { command: process.execPath, args: [MCP_PROGRAM, ...args] };
}

export interface PoolStageOptions {
  readonly home?: string;
  readonly env?: Platform["env"];
  readonly auth?: McpPorts["auth"];
  /** Whether the test moves the pool's clock by hand. */
  readonly byHand?: boolean;
}

/** The MCP server pool with real processes, and threads that consist only of a state. */
export class PoolStage {
  readonly mcp: Mcp;
  readonly processes: ProcessManager;
  readonly marks: ProcessMarks;
  readonly home: string;
  /** What is configured now. */
  table: Readonly<Record<string, Entry>>;
  readonly told: {
    readonly threadId: string | null;
    readonly name: string;
    readonly status: string;
    readonly error: string | null;
  }[] = [];
  readonly warned: string[] = [];
  /** The trust decision about each thread's folder. */
  readonly #trust = new Map<string | null, string>();
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();
  #passed = 0;

  private constructor(home: string, table: PoolStage["table"], options: PoolStageOptions) {
    this.home = home;
    this.table = table;
    const platform = nodePlatform();
    const log = pinoLog({ level: "silent", format: "text", write() {} });
    const supervisor = new Supervisor(log);
    this.marks = new ProcessMarks({ home: undefined, platform, log });
    this.processes = new ProcessManager({ platform, supervisor, marks: this.marks });
    const { clock } = platform;
    this.mcp = new Mcp({
      home,
      platform: {
        ...platform,
        env: options.env ?? platform.env,
        ...(options.byHand && {
          timers: { ...platform.timers, after: (ms: number, run: () => void) => this.#after(ms, run) },
          clock: { ...clock, monotonic: () => this.#passed },
        }),
      },
      processes: this.processes,
      supervisor,
      auth: options.auth ?? null,
      configured: async ({ own, cwd, roots, threadId }) => {
        const layers = (): McpLayer[] => [
          { table: this.table, origin: "host" },
          { table: own, origin: "thread" },
        ];
        let last = this.table;
        let merged = mergeMcpServers(layers());
        return {
          trust: this.#trust.get(threadId) ?? null,
          place: { cwd, roots },
          problems: merged.problems,
          servers: () => {
            if (this.table !== last) merged = mergeMcpServers(layers());
            last = this.table;
            return merged.servers;
          },
        };
      },
      sendStatus: (_threadId, status) => this.told.push(status),
      warn: (_threadId, message) => this.warned.push(message),
    });
  }

  static async open(table: PoolStage["table"], options: PoolStageOptions = {}): Promise<PoolStage> {
    const stage = new PoolStage(options.home ?? (await freshFolder()), table, options);
    onTestFinished(() => stage.close());
    return stage;
  }

  /** Loads a thread, and waits until its servers are known. */
  async load(
    id: string,
    changes: Partial<ThreadState["settings"]> & { owner?: string; trust?: string } = {},
  ): Promise<ThreadState> {
    const { owner = "local", trust, ...settings } = changes;
    if (trust !== undefined) this.#trust.set(id, trust);
    const thread = newThread();
    const state: ThreadState = {
      ...thread,
      facts: { ...thread.facts, id, owner },
      settings: { ...thread.settings, cwd: "/tmp", ...settings },
    };
    this.mcp.load(state);
    await this.mcp.required(state);
    return state;
  }

  server(thread: ThreadState, name = "own"): ThreadServer {
    const found = this.mcp.of(thread).find((one) => one.name === name);
    if (found === undefined) throw new Error(`the thread has no server ${name}`);
    return found;
  }

  /** The text that a tool answers with. */
  async call(
    thread: ThreadState,
    tool: string,
    args: object = {},
    options: Partial<McpCallOptions> = {},
    name = "own",
  ): Promise<string> {
    const signal = new AbortController().signal;
    const result = await this.server(thread, name).call(tool, args, { signal, onProgress() {}, ...options });
    return result.content.map(({ text }) => String(text)).join("\n");
  }

  /** Processes that run now. */
  get running(): readonly number[] {
    return this.marks.isUsed ? withMark(this.marks.host) : [];
  }

  /** Moves the pool's clock. */
  pass(ms: number): void {
    this.#passed += ms;
    for (const timer of [...this.#timers].sort((a, b) => a.at - b.at))
      if (timer.at <= this.#passed && this.#timers.delete(timer)) timer.run();
  }

  async close(): Promise<void> {
    await this.mcp.close();
    await this.processes.close();
  }

  #after(ms: number, run: () => void): Cancel {
    const timer = { at: this.#passed + ms, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }
}
