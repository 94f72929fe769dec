import type { Logger } from "pino";

export type Level = "debug" | "info" | "warn" | "error";
const LEVELS: readonly Level[] = ["debug", "info", "warn", "error"];

/** The host's log. It is written to stderr, because stdout belongs to the protocol. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** Resolves when all lines so far were written. */
  flushed(): Promise<void>;
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

/**
 * A log that loads Pino lazily: loading it takes longer than opening a socket. Until a line needs Pino, lines with
 * plain values are written without it.
 */
export function pinoLog(settings: LogSettings): Log {
  let logger: Promise<Logger> | undefined;
  let last: Promise<void> = Promise.resolve();
  const logAt =
    (level: Level) =>
    (message: string, fields: Fields = {}) => {
      if (settings.level === "silent" || LEVELS.indexOf(level) < LEVELS.indexOf(settings.level)) return;
      if (logger === undefined && isPlain(fields)) return writer(settings)(plainLine(level, message, fields));
      logger ??= openPino(settings);
      last = logger.then((open) => open[level](fields, message));
    };
  return {
    debug: logAt("debug"),
    info: logAt("info"),
    warn: logAt("warn"),
    error: logAt("error"),
    flushed: () => last,
  };
}

function writer({ format, write }: LogSettings): (line: string) => void {
  return format === "json" ? write : (line) => write(humanReadable(line));
}

/** Whether all fields can be written as plain JSON; errors need Pino. */
function isPlain({ cause, ...fields }: Fields): boolean {
  return (
    cause === undefined &&
    Object.values(fields).every((value) => [value].flat().every((one) => PLAIN.has(typeof one)))
  );
}

const PLAIN: ReadonlySet<string> = new Set(["string", "number", "boolean"]);

/** A line in Pino's format. */
function plainLine(level: Level, msg: string, fields: Fields): string {
  // oxlint-disable-next-line no-restricted-globals -- the time that stands before a line, as Pino takes it
  return `${JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg })}\n`;
}

async function openPino(settings: LogSettings): Promise<Logger> {
  const { pino } = await import("pino");
  const write = writer(settings);
  return pino(
    {
      level: settings.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { cause: pino.stdSerializers.err },
    },
    { write },
  );
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
