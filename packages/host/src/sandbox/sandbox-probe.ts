import { isAbsolute, join } from "node:path";
import { messageOf } from "../errors.ts";
import type { Clock, ProgramStart } from "../platform/platform.ts";
import type { Access } from "./access.ts";
import { withBubblewrap } from "./bubblewrap.ts";
import type { SandboxPorts, SandboxProblem } from "./sandbox.ts";
import { withSeatbelt } from "./seatbelt.ts";
import type { Arch } from "./syscalls.ts";

export interface FoundBubblewrap {
  readonly path: string;
  readonly arch: Arch;
}

/** How long a failed probe is cached. Short, because the user may be following its advice. */
const RETRY_MS = 10_000;

/** Folders that only an administrator can write to; a program there takes precedence over others on the PATH. */
const SYSTEM_FOLDERS = [
  "/usr/bin",
  "/bin",
  "/usr/local/bin",
  "/run/wrappers/bin",
  "/run/current-system/sw/bin",
];

/** Caches the result of a probe, unless the host could not even start the program. */
export function cachedProbe<T extends object>(
  clock: Pick<Clock, "monotonic">,
  attempt: () => Promise<T | SandboxProblem>,
): () => Promise<T | SandboxProblem> {
  let result: Promise<T | SandboxProblem> | undefined;
  let failedAt: number | undefined;
  return () => {
    if (failedAt !== undefined && clock.monotonic() - failedAt >= RETRY_MS) result = undefined;
    result ??= attempt().then(
      (found) => {
        failedAt = "reason" in found ? clock.monotonic() : undefined;
        return found;
      },
      (cause: unknown) => {
        result = undefined;
        if (!isShortage(cause)) throw cause;
        return {
          reason: `the host cannot start a program now: ${messageOf(cause)}`,
          advice:
            "Try again when other commands and connections have ended, or raise the limits (ulimit -n, ulimit -u).",
        };
      },
    );
    return result;
  };
}

/** Finds bubblewrap, and tests whether it works on this machine by running a program in it. */
export async function findBubblewrap(platform: ProbePlatform): Promise<FoundBubblewrap | SandboxProblem> {
  const { arch } = platform.machine;
  if (arch !== "x64" && arch !== "arm64")
    return {
      reason: `there is no system call filter for ${arch} processors`,
      advice: "Use a machine with an x86-64 or ARM64 processor.",
    };
  const path = await bubblewrapOnPath(platform);
  if (path === undefined)
    return {
      reason: "bubblewrap is not installed",
      advice: "Install the package bubblewrap (Debian, Ubuntu: sudo apt install bubblewrap).",
    };
  const noAccess: Access = {
    writable: [],
    protected: [],
    hidden: [],
    readable: [],
    readOnly: null,
    network: "none",
  };
  // One folder is mounted as those of commands are.
  const root = await platform.workspace.hold("/");
  const mounts = root === undefined ? [] : [{ path: "/", writable: false, descriptor: root.descriptor }];
  const failure = await failureOf(
    platform,
    withBubblewrap(path, arch, trueProgram(platform), noAccess, mounts),
  ).finally(() => root?.close());
  if (failure === undefined) return { path, arch };
  if (/--ro-bind-fd/.test(failure))
    return {
      reason: `${path} is too old: it has no option --bind-fd`,
      advice: "Install bubblewrap 0.10 or later, or the security update of your distribution from 2024 on.",
    };
  return {
    reason: `${path} cannot confine a program: ${failure}`,
    advice: await adviceFor(platform, failure),
  };
}

/** Tests whether macOS's sandbox can start a program. */
export async function findSeatbelt(platform: ProbePlatform): Promise<Record<never, never> | SandboxProblem> {
  const noAccess: Access = {
    writable: [],
    protected: [],
    hidden: [],
    readable: [],
    readOnly: null,
    network: "none",
  };
  const failure = await failureOf(platform, withSeatbelt(trueProgram(platform), noAccess));
  if (failure === undefined) return {};
  return {
    reason: `sandbox-exec cannot confine a program: ${failure}`,
    advice: "Run Bobbin outside of other sandboxes, on a macOS that has /usr/bin/sandbox-exec.",
  };
}

type ProbePlatform = SandboxPorts["platform"];

function trueProgram({ env }: ProbePlatform): ProgramStart {
  return { argv: ["true"], cwd: "/", env: { PATH: env["PATH"] ?? "/usr/bin:/bin" }, stdin: "closed" };
}

/** Whether an error is due to a shortage that may end at any moment (descriptors, processes, memory). */
function isShortage(cause: unknown): boolean {
  const { code } = cause as { readonly code?: unknown };
  return code === "EMFILE" || code === "ENFILE" || code === "EAGAIN" || code === "ENOMEM";
}

/**
 * Runs a program and returns the first line of its error output; undefined if it succeeds. Throws if the machine lacks
 * what it takes to start any program.
 */
export async function failureOf(
  { spawn }: ProbePlatform,
  program: ProgramStart,
): Promise<string | undefined> {
  try {
    const running = await spawn(program);
    let failure = "";
    for await (const { bytes } of running.output)
      if (failure.length < 4096) failure += new TextDecoder().decode(bytes);
    const { code, signal } = await running.exited;
    if (code === 0) return undefined;
    return failure.trim().split("\n", 1)[0] || `it ended with ${signal ?? `exit code ${code}`}`;
  } catch (cause) {
    if (isShortage(cause)) throw cause;
    return messageOf(cause);
  }
}

async function bubblewrapOnPath({ files, env }: ProbePlatform): Promise<string | undefined> {
  const folders = (env["PATH"] ?? "").split(":").filter(isAbsolute);
  const isSystem = (folder: string): boolean => SYSTEM_FOLDERS.includes(folder);
  const ordered = [...folders.filter(isSystem), ...folders.filter((folder) => !isSystem(folder))];
  for (const folder of ordered) {
    const path = join(folder, "bwrap");
    if (await files.exists(path)) return path;
  }
  return undefined;
}

async function adviceFor({ files }: ProbePlatform, failure: string): Promise<string> {
  const setting = async (path: string): Promise<string | undefined> =>
    (await files.readText(path).catch(() => undefined))?.trim();
  if ((await files.exists("/.dockerenv")) || (await files.exists("/run/.containerenv")))
    return /\/proc/.test(failure) ? CONTAINER_PROC : CONTAINER;
  if ((await setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")) === "1") return APPARMOR;
  if ((await setting("/proc/sys/user/max_user_namespaces")) === "0")
    return "Allow user namespaces: sudo sysctl user.max_user_namespaces=10000.";
  if ((await setting("/proc/sys/kernel/unprivileged_userns_clone")) === "0")
    return "Allow user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1.";
  return "Run `bwrap --ro-bind / / --unshare-all true` by hand to see more.";
}

const APPARMOR =
  "AppArmor keeps user namespaces from bubblewrap, as on Ubuntu 24.04. Install the package apparmor-profiles and run " +
  "`sudo ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && sudo systemctl reload apparmor`.";

const CONTAINER =
  "The container allows no new namespaces. Start it with --cap-add SYS_ADMIN --security-opt apparmor=unconfined, or, " +
  'if the container itself is the sandbox, set sandbox_mode = "danger-full-access".';

const CONTAINER_PROC = "Start the container with --security-opt systempaths=unconfined.";
