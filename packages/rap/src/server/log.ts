/** One thing that whoever runs the server may want to know. Never has a token, a code or a callback URL in it. */
export interface LogEntry {
  readonly level: "info" | "warn" | "error";
  readonly says: string;
  readonly [detail: string]: unknown;
}

export type Log = (entry: LogEntry) => void;

/**
 * One line of JSON on stderr an entry, warnings and errors only.
 *
 * @example
 * const log = (entry: LogEntry) => entry.level === "info" || consoleLog(entry);
 */
export const consoleLog: Log = (entry) => {
  if (entry.level !== "info") console.error(JSON.stringify(entry));
};

/** An error as text for a log. */
export function told(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
