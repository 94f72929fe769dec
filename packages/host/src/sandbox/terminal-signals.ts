import type { ProgramStart } from "../platform/platform.ts";
import { type Access, isWithin } from "./access.ts";

/** GNU env, from coreutils 8.31 on, sets what a program does with signals. */
const ENV = "/usr/bin/env";
/** Those that keys of a terminal send to all processes in its foreground. */
const KEYS = "INT,QUIT,TSTP";

/** Shows whether `env` can do what is needed: it succeeds if so. */
export const signalsProbe: ProgramStart = {
  argv: [ENV, `--ignore-signal=${KEYS}`, `--default-signal=${KEYS}`, "true"],
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
  stdin: "closed",
};

/**
 * Lets Ctrl-C reach the command and not bubblewrap, which is in the foreground of the same terminal: bubblewrap would
 * end, and everything inside with it, also a program that handles the signal. `wrap` confines a program.
 */
export function withTerminalSignals(
  program: ProgramStart,
  { readOnly }: Access,
  wrap: (program: ProgramStart) => ProgramStart,
): ProgramStart {
  const isVisible = readOnly === null || readOnly.some((path) => isWithin(ENV, path));
  // A name with `=` would be a variable to env.
  if (!isVisible || program.argv[0].includes("=")) return wrap(program);
  const wrapped = wrap({ ...program, argv: [ENV, `--default-signal=${KEYS}`, ...program.argv] });
  return { ...wrapped, argv: [ENV, `--ignore-signal=${KEYS}`, ...wrapped.argv] };
}
