import type { Platform, ProgramStart } from "../platform/platform.ts";
import type { ManagedProcess } from "../process/managed-process.ts";
import type { ProcessManager } from "../process/process-manager.ts";
import type { ConfineGit } from "./confine-git.ts";

/** The error of a git run that failed, with a message for people. */
export class GitError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "GitError";
  }
}

export interface GitPorts {
  readonly processes: ProcessManager;
  readonly platform: Pick<Platform, "clock" | "timers" | "env">;
  readonly confineGit: ConfineGit;
}

/** One run of git. */
export interface GitRun {
  /** The owner of the thread. Git can read what the owner may read. */
  readonly owner: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /**
   * The real path of the git folder of the run, the only folder that it can write to. Of the repository itself, only
   * objects and the working tree are read.
   */
  readonly gitDir: string;
  readonly config: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Limit on the output; beyond it the run ends, and `cut` is set. */
  readonly maxBytes: number;
  readonly maxMs: number;
  readonly signal: AbortSignal;
}

export interface GitOutput {
  readonly stdout: Buffer;
  readonly cut: boolean;
}

/**
 * Runs git for the host's own purposes, in the sandbox and with a git folder that belongs to the host. So the
 * repository's configuration, hooks, filters, attributes and file system monitor, all of which a model can write,
 * cannot make git run a program.
 */
export async function runGit({ processes, platform, confineGit }: GitPorts, run: GitRun): Promise<GitOutput> {
  const { signal, maxBytes, maxMs } = run;
  if (signal.aborted) throw new GitError("git was not started");
  const pieces: Uint8Array[] = [];
  let size = 0;
  let errors = "";
  let stopped: "cut" | "late" | undefined;
  let process: ManagedProcess | undefined;
  let release = async (): Promise<unknown> => undefined;
  const stop = (why: "cut" | "late"): void => {
    stopped ??= why;
    void process?.terminate();
  };
  const cancel = platform.timers.after(maxMs, () => stop("late"));
  const aborted = (): void => stop("late");
  signal.addEventListener("abort", aborted);
  try {
    const confined = await confineGit(run.owner, programOf(platform.env, run), run.gitDir);
    if ("refusal" in confined) throw new GitError(confined.refusal);
    release = confined.release;
    process = await processes.start({}, confined.program, ({ stream, bytes }) => {
      if (stream === "stderr") {
        errors = (errors + Buffer.from(bytes).toString("utf8")).slice(0, 2000);
        return;
      }
      pieces.push(bytes);
      size += bytes.length;
      if (size > maxBytes) stop("cut");
    });
    if (stopped !== undefined) void process.terminate();
    if (run.input !== undefined) {
      // If git did not read all its input, its exit code shows that.
      await process.write(Buffer.from(run.input, "utf8")).catch(() => {});
      process.endInput();
    }
    const { code } = await process.ended;
    if (stopped === "late") throw new GitError(`git took longer than ${maxMs / 1000} s`);
    if (stopped !== "cut" && code !== 0)
      throw new GitError(`git ${run.args[0]} failed: ${errors.trim() || `exit code ${code}`}`);
    return { stdout: Buffer.concat(pieces), cut: stopped === "cut" };
  } catch (cause) {
    if (cause instanceof GitError) throw cause;
    throw new GitError(`git cannot be run: ${(cause as Error).message}`);
  } finally {
    cancel();
    signal.removeEventListener("abort", aborted);
    await release();
  }
}

/** Settings of every run, which override the repository's. */
const CONFIG: Readonly<Record<string, string>> = {
  "core.fsmonitor": "false",
  "core.hooksPath": "/dev/null",
  "core.attributesFile": "/dev/null",
  "core.excludesFile": "/dev/null",
  "core.quotePath": "false",
  "core.bare": "false",
  "core.untrackedCache": "false",
  "core.fsync": "loose-object",
  "core.fsyncMethod": "batch",
  "core.safecrlf": "false",
  "gc.auto": "0",
};

function programOf(host: Platform["env"], { args, cwd, gitDir, config, input }: GitRun): ProgramStart {
  const settings = Object.entries({ ...config, ...CONFIG }).flatMap(([key, value]) => [
    "-c",
    `${key}=${value}`,
  ]);
  return {
    argv: ["git", "--literal-pathspecs", "--no-replace-objects", ...settings, ...args],
    cwd,
    env: {
      PATH: host["PATH"] ?? "/usr/bin:/bin",
      LC_ALL: "C",
      HOME: gitDir,
      GIT_DIR: gitDir,
      GIT_WORK_TREE: cwd,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_ATTR_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      GIT_NO_LAZY_FETCH: "1",
    },
    stdin: input === undefined ? "closed" : "open",
  };
}
