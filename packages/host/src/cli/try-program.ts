import { execFile } from "node:child_process";

export type ProgramResult =
  | { readonly kind: "ok"; readonly output: string }
  | { readonly kind: "missing" }
  | { readonly kind: "failed"; readonly why: string };

/** Runs a program to find out whether it is installed and works. Kills it when the signal aborts. */
export function tryProgram(
  command: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    execFile(command, args, { signal, killSignal: "SIGKILL", windowsHide: true }, (error, stdout, stderr) => {
      if (error === null) return resolve({ kind: "ok", output: stdout.trim() });
      if (error.code === "ENOENT") return resolve({ kind: "missing" });
      const said = stderr.trim().split("\n", 1)[0];
      resolve({ kind: "failed", why: said || error.message });
    });
  });
}
