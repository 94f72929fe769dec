import { allowLine } from "../../process/command-environment.ts";
import type { ExecPorts } from "./ports.ts";

/** More names than this are counted. */
const MAX_NAMES = 20;
/** Threads beyond it may be told once more. */
const MAX_THREADS = 10_000;

/**
 * Says what is odd about the environment of commands: which variables they do not get, to the model once per thread, and to
 * people once, with what to do; and to people once that the login shell gave none.
 */
export class EnvironmentNotes {
  readonly #ports: Pick<ExecPorts, "environment" | "warn">;
  readonly #told = new Map<string, string>();
  /** Names and problems that people were warned of. */
  readonly #warned = new Set<string>();

  constructor(ports: Pick<ExecPorts, "environment" | "warn">) {
    this.#ports = ports;
  }

  /** A line for the model; undefined if it knows. */
  noteFor(threadId: string, removed: readonly string[]): string | undefined {
    this.#warn(threadId, removed);
    const names = named(removed);
    if (names === (this.#told.get(threadId) ?? "")) return undefined;
    if (this.#told.size >= MAX_THREADS) this.#told.clear();
    this.#told.set(threadId, names);
    return `Environment variables that commands do not get, because they may be secrets: ${names || "none"}`;
  }

  /** Warns of commands that do without what the user's profile sets. */
  warnOfLogin(threadId: string, problem: string | null): void {
    if (problem === null || this.#warned.has(problem)) return;
    const message = `Commands get the environment of the host, and not that of a login shell: ${problem}`;
    if (this.#ports.warn(threadId, message)) this.#warned.add(problem);
  }

  #warn(threadId: string, removed: readonly string[]): void {
    const unknown = removed.filter((name) => !this.#warned.has(name));
    const { secrets } = this.#ports.environment();
    const line = allowLine(unknown, secrets);
    // What the host itself uses cannot be passed on, so there is nothing to do about it.
    if (line === undefined) return;
    const names = named(unknown.filter((name) => !secrets.has(name)));
    const message = `Commands do not get these environment variables, because they look like secrets: ${names}. To pass them on, add to config.toml: ${line}`;
    if (this.#ports.warn(threadId, message)) for (const name of unknown) this.#warned.add(name);
  }
}

function named(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return [...names.slice(0, MAX_NAMES), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}
