import type { Platform } from "../../platform/platform.ts";
import type { ProcessManager, ProcessOwner } from "../../process/process-manager.ts";
import type { HttpTarget } from "./connection-target.ts";
import { McpError } from "./mcp-interface.ts";

const TIME_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/**
 * Runs the command of `http_headers_helper`, and parses the JSON object of headers that it prints. The process
 * belongs to `owner`.
 */
export async function helperHeaders(
  owner: ProcessOwner,
  program: NonNullable<HttpTarget["helper"]>,
  {
    platform,
    processes,
  }: { readonly platform: Pick<Platform, "timers">; readonly processes: ProcessManager },
): Promise<Readonly<Record<string, string>>> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  let failure: string | undefined;
  try {
    const process = await processes.start(owner, { ...program, stdin: "closed" }, ({ stream, bytes }) => {
      if (stream !== "stdout") return;
      length += bytes.length;
      if (length <= MAX_BYTES) pieces.push(bytes.slice());
    });
    const cancel = platform.timers.after(TIME_MS, () => {
      failure = `it took longer than ${TIME_MS / 1000} s`;
      process.kill();
    });
    const { code } = await process.ended;
    cancel();
    if (code !== 0) failure ??= `it exited with code ${code}`;
    if (length > MAX_BYTES) failure ??= `it printed more than ${MAX_BYTES} bytes`;
  } catch (cause) {
    failure = (cause as Error).message;
  }
  const headers = failure === undefined ? headersIn(Buffer.concat(pieces).toString("utf8")) : undefined;
  if (headers !== undefined) return headers;
  // The error does not quote the output, because that may be a secret.
  failure ??= "it did not print a JSON object of headers";
  throw new McpError("unavailable", `http_headers_helper failed: ${failure}`);
}

function headersIn(printed: string): Readonly<Record<string, string>> | undefined {
  try {
    const value: unknown = JSON.parse(printed);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const entries = Object.entries(value);
    const isHeader = ([name, text]: [string, unknown]): boolean =>
      /^[!#$%&'*+.^_`|~\w-]+$/.test(name) &&
      typeof text === "string" &&
      /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
    if (!entries.every(isHeader)) return undefined;
    return Object.fromEntries(entries.map(([name, text]) => [name.toLowerCase(), text as string]));
  } catch {
    return undefined;
  }
}
