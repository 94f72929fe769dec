import { setTimeout as sleep } from "node:timers/promises";
import type { ServerLogLevel, ServerLogLine } from "@bobbin/protocol";
import { homeDirectory } from "../config/home-folder.ts";
import { LogSources, type SourceLine } from "./log-sources.ts";
import { escapeControls, Output, oneLine } from "./terminal-output.ts";
import { shortPath } from "./thread-summary-text.ts";

export interface LogsOptions {
  readonly follow?: boolean;
  readonly level: ServerLogLevel;
  readonly limit: number;
  readonly json?: boolean;
}

/** How often hosts are asked for new lines. */
const FOLLOW_MS = 500;

/** `bobbin logs`: the last log lines of the hosts that run on this home. Resolves with the exit code. */
export async function logs({ follow = false, level, limit, json = false }: LogsOptions): Promise<number> {
  const stdout = new Output(process.stdout);
  const stderr = new Output(process.stderr);
  const home = homeDirectory();
  const sources = new LogSources({ home, level, say: (line) => stderr.line(line) });
  const write = (lines: readonly SourceLine[]): void => {
    const withProcess = sources.haveBeenSeveral;
    for (const line of lines)
      stdout.line(json ? JSON.stringify(asJson(line)) : forPeople(line, withProcess, stdout));
  };
  try {
    await sources.find();
    if (sources.isEmpty) {
      stderr.line(stderr.red(`bobbin: no host with a readable log runs on ${shortPath(home)}`));
      stderr.line("A host that serves one program on stdin and stdout writes its log to stderr only.");
      stderr.line("Start another one:  bobbin app-server --listen ws://127.0.0.1:4545");
      return 1;
    }
    const last = await sources.last(limit);
    if (last.length === 0 && !follow)
      stderr.line(`The log has no lines${level === "info" ? "" : ` of level ${level} or above`}.`);
    write(last);
    while (follow && !stdout.isClosed) {
      await sleep(FOLLOW_MS);
      await sources.find();
      write(await sources.next());
    }
    return sources.hasFailed ? 1 : 0;
  } finally {
    await sources.close();
    await stdout.flushed();
    await stderr.flushed();
  }
}

function asJson({ process, line }: SourceLine): Readonly<Record<string, unknown>> {
  const { time, level, message, fields } = line;
  return { time: new Date(time).toISOString(), level, message, fields, process };
}

function forPeople({ process, line }: SourceLine, withProcess: boolean, out: Output): string {
  const { level, message, fields } = line;
  const colour = { info: (text: string) => text, warn: out.yellow, error: out.red }[level].bind(out);
  const { cause, ...others } = fields;
  const values = Object.entries(others).map(
    ([name, value]) =>
      ` ${oneLine(name)}=${oneLine(typeof value === "string" ? value : JSON.stringify(value))}`,
  );
  const from = withProcess ? `[${process}] ` : "";
  const first = `${out.dim(timeOf(line))} ${from}${colour(level.padEnd(5))} ${oneLine(message)}${out.dim(values.join(""))}`;
  return cause === undefined ? first : `${first}\n${indented(causeText(cause))}`;
}

/** The time in UTC, as hosts write it; with the date if that is not today's. */
function timeOf({ time }: ServerLogLine): string {
  const [date, clock] = new Date(time).toISOString().slice(0, 23).split("T");
  return date === new Date().toISOString().slice(0, 10) ? clock! : `${date} ${clock}`;
}

function causeText(cause: unknown): string {
  const { stack, message } = (typeof cause === "object" ? (cause ?? {}) : {}) as Record<string, unknown>;
  if (typeof stack === "string") return stack;
  return typeof message === "string" ? message : typeof cause === "string" ? cause : JSON.stringify(cause);
}

function indented(text: string): string {
  return `    ${escapeControls(text).replaceAll("\n", "\n    ")}`;
}
