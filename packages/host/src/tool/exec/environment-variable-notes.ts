import { allowLine } from "../../process/command-environment.ts";
import type { ExecPorts } from "./exec-dependencies.ts";

/** Limit on the variable names that a note lists. Further ones are only counted. */
const MAX_NAMES = 20;
/** Limit on the remembered threads. Beyond it, all are forgotten, and threads may get the same note again. */
const MAX_THREADS = 10_000;

/**
 * Notes about the environment of commands, and of the machine they run on. The model gets one note per thread about removed environment variables.
 * Users get one warning with the config line that lets the variables through, and one if the environment of a login
 * shell could not be captured.
 */
export class EnvironmentVariableNotes {
  readonly #ports: Pick<ExecPorts, "environment" | "warn">;
  readonly #lastNote = new Map<string, string>();
  /** The variable names and login problems that users were warned about. */
  readonly #warned = new Set<string>();
  /** The threads whose users were warned that commands cannot be confined. */
  readonly #unconfined = new Set<string>();

  constructor(ports: Pick<ExecPorts, "environment" | "warn">) {
    this.#ports = ports;
  }

  /** A line for the model; undefined if the model already got the same names. */
  noteFor(threadId: string, removed: readonly string[]): string | undefined {
    this.#warn(threadId, removed);
    const names = nameList(removed);
    if (names === (this.#lastNote.get(threadId) ?? "")) return undefined;
    if (this.#lastNote.size >= MAX_THREADS) this.#lastNote.clear();
    this.#lastNote.set(threadId, names);
    return `Environment variables that commands do not get, because they may be secrets: ${names || "none"}`;
  }

  /** Warns users once that commands run without the variables that their shell profile sets. */
  warnOfLogin(threadId: string, problem: string | null): void {
    if (problem === null || this.#warned.has(problem)) return;
    const message = `Commands get the environment of the host, and not that of a login shell: ${problem}`;
    if (this.#ports.warn(threadId, message)) this.#warned.add(problem);
  }

  /** Warns the users of a thread once that its commands are refused, because they cannot be confined. */
  warnUnconfined(threadId: string, sandboxProblem: string): void {
    const key = `${threadId} ${sandboxProblem}`;
    if (this.#unconfined.has(key)) return;
    if (this.#unconfined.size >= MAX_THREADS) this.#unconfined.clear();
    const message = `Commands are refused, because they cannot be confined and nobody is asked: ${sandboxProblem}. \`bobbin doctor\` says what to do.`;
    if (this.#ports.warn(threadId, message)) this.#unconfined.add(key);
  }

  #warn(threadId: string, removed: readonly string[]): void {
    const unknown = removed.filter((name) => !this.#warned.has(name));
    const { secrets } = this.#ports.environment();
    const line = allowLine(unknown, secrets);
    // `allowLine` is undefined if only secrets of the host were removed. They are never passed on, so there is
    // nothing to advise.
    if (line === undefined) return;
    const names = nameList(unknown.filter((name) => !secrets.has(name)));
    const message = `Commands do not get these environment variables, because they look like secrets: ${names}. To pass them on, add to config.toml: ${line}`;
    if (this.#ports.warn(threadId, message)) for (const name of unknown) this.#warned.add(name);
  }
}

function nameList(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return [...names.slice(0, MAX_NAMES), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}
