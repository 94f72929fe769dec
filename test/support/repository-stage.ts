import { execFileSync } from "node:child_process";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxPolicy } from "@bobbin/protocol";
import { nodePlatform } from "../../packages/host/src/platform/node.ts";
import type { Platform } from "../../packages/host/src/platform/platform.ts";
import { createSandbox, type Sandbox } from "../../packages/host/src/sandbox/sandbox.ts";
import { freshFolder } from "./folder.ts";

/** Without /tmp, where the stage is. */
export const POLICY = {
  type: "workspaceWrite",
  writableRoots: [],
  networkAccess: false,
  excludeSlashTmp: true,
  excludeTmpdirEnvVar: true,
} as const satisfies SandboxPolicy;

export interface ConfinedScript {
  readonly cwd?: string;
  readonly roots?: readonly string[];
  /** Other folders that the script may write to. */
  readonly writableRoots?: readonly string[];
  readonly gitWritable?: boolean;
  readonly in?: Sandbox;
  /** Runs when the script has printed "ready", which then reads a line. */
  readonly meanwhile?: () => Promise<void>;
}

/** A repository with one commit, in a folder that is its user's home, and a sandbox for commands in it. */
export class RepositoryStage {
  readonly folder: string;
  readonly home: string;
  readonly repository: string;
  readonly platform: Platform;
  readonly sandbox: Sandbox;

  private constructor(folder: string) {
    this.folder = folder;
    [this.home, this.repository] = [join(folder, "home"), join(folder, "repository")];
    const platform = nodePlatform();
    this.platform = { ...platform, machine: { ...platform.machine, userHome: folder } };
    this.sandbox = createSandbox({ platform: this.platform, home: this.home });
  }

  static async build(): Promise<RepositoryStage> {
    const stage = new RepositoryStage(await realpath(await freshFolder("git")));
    await mkdir(stage.home);
    await stage.makeRepository(stage.repository);
    return stage;
  }

  /** Makes a repository with one commit. */
  async makeRepository(path: string): Promise<void> {
    this.git(this.folder, "init", "-q", "-b", "main", path);
    this.git(path, "config", "user.email", "ann@example.org");
    this.git(path, "config", "user.name", "Ann");
    await writeFile(join(path, "a.txt"), "one\n");
    this.git(path, "add", ".");
    this.git(path, "commit", "-qm", "one");
  }

  /** Runs git outside the sandbox, as the user does. */
  git(cwd: string, ...args: readonly string[]): string {
    const env = { PATH: process.env.PATH, HOME: this.folder, GIT_CONFIG_NOSYSTEM: "1" };
    return execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  /** Runs a script as if it consisted of plain git commands, or, without `gitWritable`, of others. */
  async confined(
    script: string,
    more: ConfinedScript = {},
  ): Promise<{ code: number | null; output: string; notices: readonly string[] }> {
    const cwd = more.cwd ?? this.repository;
    const found = await (more.in ?? this.sandbox).confine({
      program: {
        argv: ["/bin/sh", "-c", script],
        cwd,
        env: { PATH: process.env.PATH!, HOME: this.folder, GIT_CONFIG_NOSYSTEM: "1" },
        stdin: "open",
      },
      policy: { ...POLICY, writableRoots: [...(more.writableRoots ?? [])] },
      roots: more.roots ?? [cwd],
      project: cwd,
      gitWritable: more.gitWritable ?? true,
    });
    if (found.kind === "unavailable") throw new Error(found.reason);
    const running = await this.platform.spawn(found.program);
    let output = "";
    for await (const { bytes } of running.output) {
      output += new TextDecoder().decode(bytes);
      if (more.meanwhile !== undefined && output.includes("ready\n")) {
        output = output.replace("ready\n", "");
        await more.meanwhile();
        await running.write(new TextEncoder().encode("go\n"));
      }
    }
    const { code } = await running.exited;
    return { code, output, notices: await found.release() };
  }
}
