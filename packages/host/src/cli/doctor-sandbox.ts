import type { Verdict } from "./doctor-check.ts";
import { tryCommand } from "./doctor-command.ts";

const NO_SANDBOX = "without a sandbox, commands are not confined";

/** Whether a sandbox for commands is installed and starts. */
export async function sandboxFinding(platform: NodeJS.Platform, signal: AbortSignal): Promise<Verdict> {
  switch (platform) {
    case "linux":
      return await bubblewrap(signal);
    case "darwin":
      return await seatbelt(signal);
    default:
      return {
        works: false,
        found: `there is none for ${platform}`,
        advice: "Run Bobbin inside WSL, a container or a virtual machine to keep commands apart.",
      };
  }
}

async function bubblewrap(signal: AbortSignal): Promise<Verdict> {
  const version = await tryCommand("bwrap", ["--version"], signal);
  if (version.kind === "missing") {
    return {
      works: false,
      found: "bubblewrap not found",
      advice: `Install the package bubblewrap; ${NO_SANDBOX}.`,
    };
  }
  if (version.kind === "failed") return broken("bwrap", version.why);
  const confined = [
    "--unshare-all",
    "--die-with-parent",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--",
    "true",
  ];
  const run = await tryCommand("bwrap", confined, signal);
  if (run.kind === "ok") return { works: true, found: version.output };
  return {
    works: false,
    found: `${version.output} is here but does not start: ${run.kind === "failed" ? run.why : "no bwrap"}`,
    advice: `Let this user make user namespaces (in a container: ask whoever runs it); ${NO_SANDBOX}.`,
  };
}

async function seatbelt(signal: AbortSignal): Promise<Verdict> {
  const run = await tryCommand("sandbox-exec", ["-p", "(version 1)(allow default)", "/usr/bin/true"], signal);
  if (run.kind === "ok") return { works: true, found: "sandbox-exec" };
  if (run.kind === "failed") return broken("sandbox-exec", run.why);
  return {
    works: false,
    found: "sandbox-exec not found",
    advice: `Put /usr/bin on PATH, where macOS has it; ${NO_SANDBOX}.`,
  };
}

function broken(command: string, why: string): Verdict {
  return {
    works: false,
    found: `${command} does not run: ${why}`,
    advice: `Run it by hand to see more; ${NO_SANDBOX}.`,
  };
}
