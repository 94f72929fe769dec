import type { Platform } from "../platform/platform.ts";
import { createSandbox } from "../sandbox/sandbox.ts";
import type { Verdict } from "./doctor-check.ts";
import { tryCommand } from "./doctor-command.ts";

const WITHOUT = "Without a sandbox, every command that no rule allows needs approval.";

/** Whether commands can be confined: one is, for real. */
export async function sandboxFinding(
  platform: Platform,
  home: string,
  signal: AbortSignal,
): Promise<Verdict> {
  const problem = await createSandbox({ platform, home }).problem();
  if (problem !== null)
    return { works: false, found: problem.reason, advice: `${problem.advice} ${WITHOUT}` };
  if (platform.machine.os !== "linux") return { works: true, found: "sandbox-exec" };
  const version = await tryCommand("bwrap", ["--version"], signal);
  return { works: true, found: version.kind === "ok" ? version.output : "bubblewrap" };
}
