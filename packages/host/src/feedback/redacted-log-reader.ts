import type { ServerLogLevel, ServerLogLine, ServerLogsReadResponse } from "@bobbin/protocol";
import { fault } from "../errors.ts";
import type { RecentLog } from "../observe/recent-log.ts";

export interface RedactedLogReaderPorts {
  readonly log: Pick<RecentLog, "read">;
  /** The host's id. It is part of every cursor, so that a cursor of another host is recognized. */
  hostId(): string;
  /** Creates a function that redacts the host's current secrets in a text. */
  redactor(): Promise<(text: string) => string>;
}

export interface LogQuery {
  readonly cursor: string | null;
  readonly limit: number;
  readonly level: ServerLogLevel;
}

/** Reads the host's last log lines for `server/logs/read`. Secrets are redacted as in problem reports. */
export class RedactedLogReader {
  readonly #ports: RedactedLogReaderPorts;

  constructor(ports: RedactedLogReaderPorts) {
    this.#ports = ports;
  }

  async read({ cursor, limit, level }: LogQuery): Promise<ServerLogsReadResponse> {
    const { log, hostId, redactor } = this.#ports;
    const host = hostId();
    const from = cursor === null ? undefined : parsed(cursor);
    const isForeign = from !== undefined && from.host !== host;
    const after = isForeign ? 0 : from?.number;
    const { texts, last, hasMore, gap } = log.read({ limit, level, ...(after !== undefined && { after }) });
    const position = { nextCursor: `${host}:${last}`, hasMore, gap: gap || isForeign };
    // Collecting the secrets reads files; clients that follow the log ask often and mostly find nothing new.
    if (texts.length === 0) return { data: [], ...position };
    const redact = await redactor();
    const { redactedLine } = await import("./redact-log-line.ts");
    const data = texts.map((text): ServerLogLine => {
      const { level: lineLevel, time, msg, ...fields } = redactedLine(text, redact);
      return { time: Number(time), level: lineLevel as ServerLogLevel, message: String(msg), fields };
    });
    return { data, ...position };
  }
}

function parsed(cursor: string): { readonly host: string; readonly number: number } {
  const [, host, number] = /^([\w-]{1,64}):(\d{1,15})$/.exec(cursor) ?? [];
  if (host === undefined) throw fault("invalidCursor", cursor.slice(0, 100));
  return { host, number: Number(number) };
}
