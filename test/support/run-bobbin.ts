import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atFileEnd } from "./file-end.ts";
import { BOBBIN, environment } from "./host-process.ts";

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const running = new Set<ChildProcess>();
// A failed test may have left a running program.
atFileEnd(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** Runs the program until it ends. */
export async function runBobbin(
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly input?: string } = {},
): Promise<Run> {
  const home = await mkdtemp(join(tmpdir(), "bobbin-home-"));
  try {
    const child = spawn(process.execPath, [BOBBIN, ...args], { env: environment(home, options.env) });
    running.add(child);
    child.once("close", () => running.delete(child));
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.stdin.end(options.input ?? "");
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { code, stdout, stderr };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
