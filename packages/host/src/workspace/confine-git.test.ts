// Runs real git in the real sandbox. An alias makes git try what a flaw of git, or a race, would.
import { execFileSync } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../../../../test/support/folder.ts";
import { pinoLog } from "../observe/log.ts";
import { Supervisor } from "../observe/supervise.ts";
import { nodePlatform } from "../platform/node.ts";
import type { ProgramStart } from "../platform/platform.ts";
import { ProcessManager } from "../process/process-manager.ts";
import { ProcessMarks } from "../process/process-marks.ts";
import { createSandbox } from "../sandbox/sandbox.ts";
import { confinedGit } from "./confine-git.ts";
import { runGit } from "./run-git.ts";

const log = pinoLog({ level: "silent", format: "text", write() {} });
const platform = nodePlatform();
const { signal } = new AbortController();

/** A home, a workspace and a folder outside, each with a secret. */
async function stage(owner: "user" | "subject") {
  const top = await freshFolder("git");
  const [home, work, outside] = [join(top, "home"), join(top, "work"), join(top, "outside")];
  const gitDir = join(home, "threads", "git");
  for (const folder of [home, work, outside]) {
    await mkdir(folder);
    await writeFile(join(folder, "secret"), "secret\n");
  }
  execFileSync("git", ["init", "-q", "--bare", gitDir]);
  const processes = new ProcessManager({
    platform,
    supervisor: new Supervisor(log),
    marks: new ProcessMarks({ home: undefined, platform, log }),
  });
  const confineGit = confinedGit(createSandbox({ platform, home }), async (name) =>
    name === "user" ? null : [work],
  );
  /** Runs a shell command as git would. */
  const attempt = async (script: string): Promise<string> => {
    const { stdout } = await runGit(
      { platform, processes, confineGit },
      {
        owner,
        args: ["attempt"],
        cwd: work,
        gitDir,
        config: { "alias.attempt": `!{ ${script}; } 2>&1 || true` },
        maxBytes: 10_000,
        maxMs: 60_000,
        signal,
      },
    );
    return stdout.toString();
  };
  return { home, work, outside, gitDir, attempt };
}

describe.each(["user", "subject"] as const)("git that the host runs for a thread of a %s", (owner) => {
  it("[DIFF-7] reads the working tree, and writes to its own folder", async () => {
    const { work, gitDir, attempt } = await stage(owner);
    expect(await attempt(`cat ${work}/secret && touch ${gitDir}/made && echo done`)).toBe("secret\ndone\n");
    expect(await readdir(gitDir)).toContain("made");
  });

  it("[DIFF-7] reads nothing of the home", async () => {
    const { home, attempt } = await stage(owner);
    expect(await attempt(`cat ${home}/secret`)).toContain("No such file");
  });

  it("[DIFF-7] writes nowhere else", async () => {
    const { home, work, outside, attempt } = await stage(owner);
    for (const folder of [home, work, outside]) {
      await attempt(`touch ${folder}/made`);
      expect(await readdir(folder), folder).not.toContain("made");
    }
  });

  it("[DIFF-7] has no network", async () => {
    const { attempt } = await stage(owner);
    expect(await attempt("cat /proc/net/dev")).not.toMatch(/^\s*(eth|en|wl)/m);
  });
});

describe("git that the host runs for a thread of a subject", () => {
  it("[DIFF-7] reads nothing outside of the roots, behind a link neither", async () => {
    const { work, outside, attempt } = await stage("subject");
    execFileSync("ln", ["-s", outside, join(work, "link")]);
    expect(await attempt(`cat ${outside}/secret`)).toContain("No such file");
    expect(await attempt(`cat ${work}/link/secret`)).toContain("No such file");
  });

  it("[DIFF-7] is not run where there is no sandbox, and for the host's own user runs as it is", async () => {
    const none = { reason: "there is no sandbox for plan9", advice: "" };
    const confine = confinedGit({ confine: async () => ({ kind: "unavailable", ...none }) }, async (name) =>
      name === "user" ? null : ["/work"],
    );
    const program: ProgramStart = { argv: ["git"], cwd: "/work", env: {}, stdin: "closed" };
    expect(await confine("user", program, "/home/git")).toMatchObject({ program });
    expect(await confine("ann", program, "/home/git")).toEqual({
      refusal: "git runs only in the sandbox here, and there is no sandbox for plan9",
    });
  });
});
