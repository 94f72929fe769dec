/** A log entry for the server's operator. Contains no tokens, OAuth codes or callback URLs. */
export interface LogEntry {
  /** How serious it is. */
  readonly level: "info" | "warn" | "error";
  /** The message. */
  readonly says: string;
  readonly [detail: string]: unknown;
}

/** Takes the log entries of a tool server. */
export type Log = (entry: LogEntry) => void;

/**
 * Writes warnings and errors to stderr, one line of JSON per entry.
 *
 * @example
 * const log = (entry: LogEntry) => entry.level === "info" || consoleLog(entry);
 */
export const consoleLog: Log = (entry) => {
  if (entry.level !== "info") console.error(JSON.stringify(entry));
};

/** The stack of an error for the log, or the thrown value as text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
