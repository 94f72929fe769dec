import type { Logger } from "pino";

export type Level = "debug" | "info" | "warn" | "error";
const LEVELS: readonly Level[] = ["debug", "info", "warn", "error"];

/** What the host has to say about itself; stdout belongs to the protocol, so it goes to stderr. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** Resolves when everything said so far was written. */
  flushed(): Promise<void>;
}

/** `cause` may be anything that was thrown. */
export type Fields = Readonly<Record<string, unknown>>;

export interface LogSettings {
  readonly level: Level | "silent";
  readonly format: "json" | "text";
  write(text: string): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens the log that `LOG_LEVEL` and `LOG_FORMAT` ask for. A value that is not known is warned about and not fatal: other
 * programs read these variables too, and know other values.
 */
export function logFor(env: Environment, normally: Level, write: LogSettings["write"]): Log {
  const level = choice(env, "LOG_LEVEL", [...LEVELS, "silent"], normally);
  const format = choice(env, "LOG_FORMAT", ["text", "json"], "text");
  const log = pinoLog({ level: level.value, format: format.value, write });
  for (const { problem } of [level, format]) if (problem !== undefined) log.warn(problem);
  return log;
}

/** Reports whether the log is for programs: then nothing else is written beside it. */
export function isJsonLog(env: Environment): boolean {
  return choice(env, "LOG_FORMAT", ["text", "json"], "text").value === "json";
}

function choice<T extends string>(
  env: Environment,
  variable: string,
  allowed: readonly T[],
  fallback: T,
): { readonly value: T; readonly problem?: string } {
  const asked = env[variable]?.trim() ?? "";
  if (asked === "") return { value: fallback };
  const value = allowed.find((one) => one === asked.toLowerCase());
  if (value !== undefined) return { value };
  const problem = `${variable}=${asked} is not one of ${allowed.join(", ")}; using ${fallback}`;
  return { value: fallback, problem };
}

/**
 * Pino behind a door that opens with the first line that needs it. To load it takes longer than to listen on a socket, so
 * lines that hold nothing but plain values are written without it until then.
 */
export function pinoLog(settings: LogSettings): Log {
  let logger: Promise<Logger> | undefined;
  let last: Promise<void> = Promise.resolve();
  const say =
    (level: Level) =>
    (message: string, fields: Fields = {}) => {
      if (settings.level === "silent" || LEVELS.indexOf(level) < LEVELS.indexOf(settings.level)) return;
      if (logger === undefined && isPlain(fields)) return writer(settings)(plainLine(level, message, fields));
      logger ??= openPino(settings);
      last = logger.then((open) => open[level](fields, message));
    };
  return {
    debug: say("debug"),
    info: say("info"),
    warn: say("warn"),
    error: say("error"),
    flushed: () => last,
  };
}

function writer({ format, write }: LogSettings): (line: string) => void {
  return format === "json" ? write : (line) => write(forPeople(line));
}

/** Whether JSON holds all of it: Pino knows how to write errors. */
function isPlain({ cause, ...fields }: Fields): boolean {
  return (
    cause === undefined &&
    Object.values(fields).every((value) => [value].flat().every((one) => PLAIN.has(typeof one)))
  );
}

const PLAIN: ReadonlySet<string> = new Set(["string", "number", "boolean"]);

/** As Pino writes it. */
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

/** One JSON line as `12:00:00.000 warn  message key=value`. */
function forPeople(line: string): string {
  const { level, time, msg, cause, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const fields = Object.entries(rest).map(([key, value]) => {
    return ` ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
  const stack = (cause as { stack?: string } | undefined)?.stack ?? cause;
  const why = cause === undefined ? "" : `\n    ${String(stack).replaceAll("\n", "\n    ")}`;
  return `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${msg}${fields.join("")}${why}\n`;
}
