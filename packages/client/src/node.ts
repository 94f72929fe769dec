// Connections that only Node can open.
import { spawn } from "node:child_process";
import { LineSplitter } from "@bobbin/rpc";
import { BobbinClient } from "./client.ts";
import type { OpenConnection } from "./connection/connection-keeper.ts";

/** Options of `stdio`. */
export interface StdioOptions {
  /** The program that speaks the protocol on stdin and stdout. Default: `bobbin`. */
  readonly command?: string;
  /** Default: `["app-server"]`. */
  readonly args?: readonly string[];
  /** The folder in which the program runs. Default: that of this program. */
  readonly cwd?: string;
  /** Default: this program's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Gets what the program writes to stderr. Default: it goes to this program's stderr. */
  readonly stderr?: (text: string) => void;
}

/** Time that the program has to end after its stdin was closed. */
const EXIT_MS = 5_000;

/**
 * Starts a host as a child process and speaks to it on stdin and stdout. If the process ends, `connect` starts another one.
 *
 * @example
 * import { connect } from "@bobbin/client";
 * import { stdio } from "@bobbin/client/node";
 * const bobbin = await connect(stdio({ command: "npx", args: ["bobbin", "app-server"] }));
 */
export function stdio(options: StdioOptions = {}): OpenConnection {
  const { command = "bobbin", args = ["app-server"], cwd, env = process.env, stderr } = options;
  return (signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const child = spawn(command, [...args], {
        ...(cwd !== undefined && { cwd }),
        env: { ...env },
        stdio: ["pipe", "pipe", stderr ? "pipe" : "inherit"],
      });
      child.once("error", (cause) =>
        reject(new Error(`cannot start ${command}: ${cause.message}`, { cause })),
      );
      child.stderr?.setEncoding("utf8").on("data", (text: string) => stderr?.(text));
      child.once("spawn", () => {
        const client = new BobbinClient((events) => {
          const lines = new LineSplitter({
            line: (text) => events.message(text),
            // No valid host sends such lines.
            oversized: () => void child.kill(),
            undecodable: () => void child.kill(),
          });
          child.stdout!.on("data", (chunk: Uint8Array) => lines.push(chunk));
          // An error of a write to an ended process is ignored, because the event `close` follows.
          child.stdin!.on("error", () => {});
          child.once("close", (code, by) => events.closed(`${command} ended (${by ?? code})`));
          let closing: ReturnType<typeof setTimeout> | undefined;
          return {
            send: (text) => void child.stdin!.write(`${text}\n`),
            close() {
              if (closing !== undefined) return;
              child.stdin!.end();
              closing = setTimeout(() => child.kill("SIGKILL"), EXIT_MS);
              closing.unref();
            },
          };
        });
        resolve(client);
      });
    });
}
