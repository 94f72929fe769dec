import type { Platform } from "../platform/platform.ts";
import { createSandbox } from "../sandbox/sandbox.ts";
import { failureOf } from "../sandbox/sandbox-probe.ts";
import type { Verdict } from "./doctor-check-runner.ts";
import { tryProgram } from "./try-program.ts";

const WITHOUT = "Without a sandbox, every command that no rule allows needs approval.";

/** Checks whether commands can be confined, by running one in the sandbox. */
export async function sandboxFinding(
  platform: Platform,
  home: string,
  signal: AbortSignal,
): Promise<Verdict> {
  const problem = await createSandbox({ platform, home }).problem();
  if (problem !== null)
    return { works: false, found: problem.reason, advice: `${problem.advice} ${WITHOUT}` };
  if (platform.machine.os !== "linux") return { works: true, found: "sandbox-exec" };
  const version = await tryProgram("bwrap", ["--version"], signal);
  const found = version.kind === "ok" ? version.output : "bubblewrap";
  const bridge = await bridgeProblem(platform, home);
  if (bridge === undefined) return { works: true, found };
  return {
    works: false,
    found: `${found}, without the network by host: ${bridge}`,
    advice: `Commands need to see ${process.execPath} and /bin/sh for it. All else is confined as usual.`,
  };
}

/**
 * Runs a program with the bridge that connects a confined command to the host's network proxy. Resolves with the reason
 * if that fails.
 */
async function bridgeProblem(platform: Platform, home: string): Promise<string | undefined> {
  const hosts = { domains: [], socks: true };
  const confined = await createSandbox({ platform, home, networkHosts: () => hosts }).confine({
    program: {
      argv: ["true"],
      cwd: "/",
      env: { PATH: platform.env["PATH"] ?? "/usr/bin:/bin" },
      stdin: "closed",
    },
    policy: { type: "readOnly", networkAccess: true },
    roots: [],
    gitWritable: false,
    byHost: true,
  });
  if (confined.kind === "unavailable") return confined.reason;
  const said = await failureOf(platform, confined.program);
  await confined.release();
  return said;
}
