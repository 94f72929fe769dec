import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Cancel, Platform } from "../../platform/platform.ts";
import type { ManagedProcess } from "../../process/managed-process.ts";
import type { ProcessManager } from "../../process/process-manager.ts";
import { type StdioTarget, withoutSecrets } from "./connection-target.ts";
import { McpError } from "./mcp-interface.ts";
import { MessageLines } from "./message-lines.ts";
import { isJson, type Json } from "./server-offer.ts";
import { UnsolicitedMessageLimit } from "./unsolicited-message-limit.ts";

export interface StdioPorts {
  readonly platform: Pick<Platform, "clock" | "timers">;
  readonly processes: ProcessManager;
}

/** Number of bytes at the end of stderr that are kept, to explain why a server ended. */
const STDERR_BYTES = 2048;
/** Limit on the bytes that the server has not read yet. Beyond it, messages are refused. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** Number of lines that are handled before other work may run. */
const LINES_AT_ONCE = 16;
/** How long a server may take to reply to `server/discover`. */
const DISCOVER_MS = 3000;
/** How long a server may take to exit after its stdin is closed. */
const EXIT_MS = 500;

/** In an error message: the text before the last output on stderr. */
export const LAST_WORDS = "; its last words: ";

/**
 * Transport to an MCP server that is a child process: one JSON message per line. The process ends with the
 * transport, and with the host.
 */
export class StdioTransport implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  /** The library recognizes a stdio transport by these two properties. They are not used. */
  readonly stderr = null;
  readonly pid = null;
  readonly #target: StdioTarget;
  readonly #ports: StdioPorts;
  readonly #lines = new MessageLines();
  readonly #budget: UnsolicitedMessageLimit;
  readonly #decoder = new TextDecoder();
  #process: ManagedProcess | undefined;
  #stderr = Buffer.alloc(0);
  #unread = 0;
  #cancelReply: Cancel = () => {};
  #closing: Promise<void> | undefined;
  #failure: McpError | undefined;

  constructor(target: StdioTarget, ports: StdioPorts) {
    this.#target = target;
    this.#ports = ports;
    this.#budget = new UnsolicitedMessageLimit(ports.platform);
  }

  /** Why the process ended; undefined if unknown. */
  get failure(): McpError | undefined {
    return this.#failure;
  }

  async start(): Promise<void> {
    const { argv, cwd, env } = this.#target;
    try {
      this.#process = await this.#ports.processes.start(
        this,
        { argv, cwd, env, stdin: "open" },
        ({ stream, bytes }) => (stream === "stdout" ? this.#read(bytes) : this.#addStderr(bytes)),
      );
    } catch (cause) {
      throw notStarted(this.#target, cause);
    }
    void this.#process.ended.then(({ code, signal }) => {
      const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
      this.#failure ??= new McpError("lost", `its process ${how}${this.#lastWords()}`);
      this.#closed();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
    if (this.#process === undefined || this.#closing !== undefined)
      throw this.#failure ?? new McpError("lost", "it is not connected");
    if (this.#unread + bytes.length > MAX_UNREAD_BYTES)
      throw new McpError("unavailable", "it does not read what it is sent");
    if ("id" in message && "method" in message && message.method === "server/discover")
      this.#replyIfSilent(message.id);
    this.#unread += bytes.length;
    try {
      await this.#process.write(bytes);
    } catch (cause) {
      // The process has probably ended. Its exit status explains more than the write error.
      await this.#waitForExit(this.#process);
      throw this.#failure ?? new McpError("lost", "it does not take input any more", { cause });
    } finally {
      this.#unread -= bytes.length;
    }
  }

  /** Older servers may not reply to `server/discover`. After a while, the transport creates an error reply. */
  #replyIfSilent(id: string | number): void {
    const error = { code: -32_601, message: "it kept silent" };
    this.#cancelReply = this.#ports.platform.timers.after(DISCOVER_MS, () =>
      this.onmessage?.({ jsonrpc: "2.0", id, error }),
    );
  }

  /** Closes stdin, then ends the process and its child processes. Resolves when all of them have ended. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const process = this.#process;
    if (process !== undefined) {
      process.endInput();
      await this.#waitForExit(process);
    }
    await this.#ports.processes.end(this);
    this.#closed();
  }

  async #waitForExit({ ended }: ManagedProcess): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#ports.platform.timers.after(EXIT_MS, resolve);
      void ended.then(() => {
        cancel();
        resolve();
      });
    });
  }

  #closed(): void {
    this.#cancelReply();
    const { onclose } = this;
    this.onclose = undefined;
    onclose?.();
  }

  async #read(bytes: Uint8Array): Promise<void> {
    try {
      let lines = 0;
      for (const line of this.#lines.take(bytes)) {
        // Output after the end of the process is ignored.
        if (this.#failure !== undefined || this.#closing !== undefined) return;
        await this.#message(line);
        if (++lines % LINES_AT_ONCE === 0) await this.#yield();
      }
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      this.#failure = new McpError("tooLarge", cause.message);
      void this.close();
    }
    await this.#yield();
  }

  /** Yields to the event loop, so that a server with much output does not block the others. */
  #yield(): Promise<void> {
    return new Promise((resolve) => this.#ports.platform.timers.soon(resolve));
  }

  async #message(line: Uint8Array): Promise<void> {
    const message = this.#parse(line);
    if (message === undefined || "method" in message) {
      const pause = this.#budget.spend(line.length);
      if (pause !== undefined) await pause;
      // Log messages of servers are dropped.
      if (message?.method === "notifications/message") return;
    }
    if (message === undefined) return;
    // The first reply answers `server/discover`, the first request: the server is not silent, so the error reply of
    // `#replyIfSilent` is not needed.
    if (!("method" in message)) this.#cancelReply();
    try {
      this.onmessage?.(message as unknown as JSONRPCMessage);
    } catch (cause) {
      // A message that cannot be handled must neither stop the reading nor end the host.
      this.onerror?.(cause as Error);
    }
  }

  /** Parses a line; undefined if it is no message. Programs may also print other lines, such as a version. */
  #parse(line: Uint8Array): Json | undefined {
    if (line.length === 0) return undefined;
    try {
      const value: unknown = JSON.parse(this.#decoder.decode(line));
      return isJson(value) && "jsonrpc" in value ? value : undefined;
    } catch {
      return undefined;
    }
  }

  #addStderr(bytes: Uint8Array): void {
    this.#stderr = Buffer.concat([this.#stderr, bytes]).subarray(-STDERR_BYTES);
  }

  #lastWords(): string {
    const words = withoutSecrets(this.#target, this.#stderr.toString("utf8").trim());
    return words === "" ? "" : `${LAST_WORDS}${words}`;
  }
}

function notStarted({ argv, cwd }: StdioTarget, cause: unknown): McpError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const why =
    code === "ENOENT"
      ? `the program ${JSON.stringify(argv[0])} was not found, or the folder ${JSON.stringify(cwd)} does not exist`
      : message;
  return new McpError("unavailable", `it cannot be started: ${why}`, { cause, isFinal: true });
}
