import type { ProgramStart } from "../platform/platform.ts";
import { type Access, isWithin } from "./access.ts";

/** GNU env of coreutils 8.31 or later can set how a program handles signals. */
const ENV = "/usr/bin/env";
/** Signals that terminal keys send to all processes in the foreground. */
const KEY_SIGNALS = "INT,QUIT,TSTP";

/** Succeeds if this machine's `env` has the needed options. */
export const signalsProbe: ProgramStart = {
  argv: [ENV, `--ignore-signal=${KEY_SIGNALS}`, `--default-signal=${KEY_SIGNALS}`, "true"],
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
  stdin: "closed",
};

/**
 * Lets Ctrl-C reach the command but not bubblewrap, which is in the foreground of the same terminal: bubblewrap would
 * end, and with it everything inside, including programs that handle the signal. `wrap` sandboxes a program.
 */
export function withTerminalSignals(
  program: ProgramStart,
  { readOnly }: Access,
  wrap: (program: ProgramStart) => ProgramStart,
): ProgramStart {
  const isVisible = readOnly === null || readOnly.some((path) => isWithin(ENV, path));
  // `env` takes a name with `=` for a variable.
  if (!isVisible || program.argv[0].includes("=")) return wrap(program);
  const wrapped = wrap({ ...program, argv: [ENV, `--default-signal=${KEY_SIGNALS}`, ...program.argv] });
  return { ...wrapped, argv: [ENV, `--ignore-signal=${KEY_SIGNALS}`, ...wrapped.argv] };
}
