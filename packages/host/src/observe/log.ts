export type Level = "debug" | "info" | "warn" | "error";
const LEVELS: readonly Level[] = ["debug", "info", "warn", "error"];

/** The host's log. It is written to stderr, because stdout belongs to the protocol. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

/** Additional values of a line. `cause` may be any thrown value. */
export type Fields = Readonly<Record<string, unknown>>;

export interface LogSettings {
  readonly level: Level | "silent";
  readonly format: "json" | "text";
  write(text: string): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens the log as configured by `LOG_LEVEL` and `LOG_FORMAT`. An unknown value only causes a warning, because other
 * programs also read these variables and support other values.
 */
export function logFor(env: Environment, defaultLevel: Level, write: LogSettings["write"]): Log {
  const level = choice(env, "LOG_LEVEL", [...LEVELS, "silent"], defaultLevel);
  const format = choice(env, "LOG_FORMAT", ["text", "json"], "text");
  const log = pinoLog({ level: level.value, format: format.value, write });
  for (const { problem } of [level, format]) if (problem !== undefined) log.warn(problem);
  return log;
}

/** Whether the log is JSON; then no other text is written to stderr. */
export function isJsonLog(env: Environment): boolean {
  return choice(env, "LOG_FORMAT", ["text", "json"], "text").value === "json";
}

function choice<T extends string>(
  env: Environment,
  variable: string,
  allowed: readonly T[],
  fallback: T,
): { readonly value: T; readonly problem?: string } {
  const setting = env[variable]?.trim() ?? "";
  if (setting === "") return { value: fallback };
  const value = allowed.find((one) => one === setting.toLowerCase());
  if (value !== undefined) return { value };
  const problem = `${variable}=${setting} is not one of ${allowed.join(", ")}; using ${fallback}`;
  return { value: fallback, problem };
}

/** A log in the JSON format of Pino. It loads nothing for a line, so that a host without free descriptors can still log. */
export function pinoLog({ level: least, format, write }: LogSettings): Log {
  const logAt =
    (level: Level) =>
    (message: string, fields: Fields = {}) => {
      if (least === "silent" || LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
      const line = lineOf(level, message, fields);
      write(format === "json" ? line : humanReadable(line));
    };
  return {
    debug: logAt("debug"),
    info: logAt("info"),
    warn: logAt("warn"),
    error: logAt("error"),
  };
}

/** One JSON object and a line end. Fields that JSON cannot represent are left out. */
function lineOf(level: Level, msg: string, fields: Fields): string {
  // oxlint-disable-next-line no-restricted-globals -- the time of the line
  const head = { level, time: new Date().toISOString() };
  try {
    return `${JSON.stringify({ ...head, ...fields, msg }, shown)}\n`;
  } catch {
    return `${JSON.stringify({ ...head, msg })}\n`;
  }
}

function shown(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Error ? Object.assign({}, value, { cause: undefined }, textsOf(value, 0)) : value;
}

/** Limit on the causes of an error, because causes may be circular. */
const MAX_CAUSES = 10;

/** The texts of an error and its causes, in the fields of Pino's error serializer, which log tools know. */
function textsOf(error: Error, depth: number): { type: string; message: string; stack: string } {
  const { name: type, message, stack = "", cause } = error;
  if (!(cause instanceof Error) || depth === MAX_CAUSES) return { type, message, stack };
  const below = textsOf(cause, depth + 1);
  return { type, message: `${message}: ${below.message}`, stack: `${stack}\ncaused by: ${below.stack}` };
}

/** Formats a JSON line for people: `12:00:00.000 warn message key=value`. */
function humanReadable(line: string): string {
  const { level, time, msg, cause, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const fields = Object.entries(rest).map(([key, value]) => {
    return ` ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
  const stack = (cause as { stack?: string } | undefined)?.stack ?? cause;
  const why = cause === undefined ? "" : `\n    ${String(stack).replaceAll("\n", "\n    ")}`;
  return `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${msg}${fields.join("")}${why}\n`;
}
