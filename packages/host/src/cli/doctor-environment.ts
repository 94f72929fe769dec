import type { Config } from "../config/config.ts";
import { hostSecretNames } from "../config/host-secret-names.ts";
import { pinoLog } from "../observe/log.ts";
import { Supervisor } from "../observe/supervise.ts";
import type { Platform } from "../platform/platform.ts";
import { allowLine } from "../process/command-environment.ts";
import { LoginEnvironments } from "../process/login-shell-environment.ts";
import { ProcessManager } from "../process/process-manager.ts";
import { ProcessMarks } from "../process/process-marks.ts";
import { confineProfile } from "../sandbox/confine-login-shell.ts";
import { createSandbox } from "../sandbox/sandbox.ts";
import type { Verdict } from "./doctor-check-runner.ts";

/** Time limit for the login shell. Shorter than the one of a check, so that the check can report it. */
const LOGIN_MS = 2_500;

/** Checks whether the login shell provides the environment for a model's commands, and lists what is removed from it. */
export async function environmentFinding(
  config: Promise<Config>,
  { platform, home }: { readonly platform: Platform; readonly home: string },
  signal: AbortSignal,
): Promise<Verdict> {
  const known = await config.catch(() => undefined);
  if (known === undefined)
    return { works: false, found: "not known", advice: "Correct the configuration first." };
  const log = pinoLog({ level: "silent", format: "text", write() {} });
  const marks = new ProcessMarks({ home: undefined, platform, log });
  const processes = new ProcessManager({ platform, supervisor: new Supervisor(log), marks });
  signal.addEventListener("abort", () => void processes.close(), { once: true });
  const secrets = hostSecretNames(known);
  const shell = platform.env.SHELL || "/bin/sh";
  const sandbox = createSandbox({ platform, home });
  const login = new LoginEnvironments({
    platform,
    processes,
    maxMs: LOGIN_MS,
    confine: (program) => confineProfile(sandbox, program),
  });
  const { removed, problem } = await login.forCommand({
    shell,
    secrets,
    policy: known.shellEnvironment,
    confined: true,
  });
  await processes.close();
  if (problem !== null)
    return {
      works: false,
      found: `commands get the host's own environment: ${problem}`,
      advice: `Make \`${shell} -lc true\` work without a terminal, or set SHELL.`,
    };
  if (removed.length === 0) return { works: true, found: `from ${shell} -l` };
  const line = allowLine(removed, secrets);
  return {
    works: true,
    found: `from ${shell} -l; removed for commands: ${removed.join(", ")}`,
    ...(line !== undefined && { advice: `To pass them on, add to config.toml: ${line}` }),
  };
}
