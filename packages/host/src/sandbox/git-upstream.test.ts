import { describe, expect, it } from "vitest";
import { missingUpstream, withoutAutomaticUpstream } from "./git-upstream.ts";

const NOTHING = "0".repeat(40);
const repository = { worktree: "/w", gitDir: "/w/.git", commonDir: "/w/.git" };

/** What is said about a repository with these files of `.git`, after a command that began on `main`. */
const saidOf = (files: Readonly<Record<string, string>>): Promise<readonly string[]> =>
  missingUpstream({ readText: async (path) => files[path.slice("/w/.git/".length)] }, repository, "main");

describe("the upstream of a new branch", () => {
  const log = `${NOTHING} abc n <e> 1 +0000\tbranch: Created from refs/remotes/origin/f/x\n`;
  const files = { HEAD: "ref: refs/heads/f/x\n", "logs/refs/heads/f/x": log, config: "[core]\n" };

  it("[SANDBOX-9] is missing if the branch was just made from a remote one", async () => {
    expect(await saidOf(files)).toEqual([expect.stringContaining("`git branch -u origin/f/x` sets it")]);
  });

  it.each([
    ["has an upstream", { config: '[branch "f/x"]\n' }],
    ["is older", { "logs/refs/heads/f/x": `${log}abc def n <e> 2 +0000\tcommit: more\n` }],
    ["was made from a local one", { "logs/refs/heads/f/x": log.replace("refs/remotes/origin/f/x", "main") }],
    ["has no log", { "logs/refs/heads/f/x": "" }],
    ["was there before", { HEAD: "ref: refs/heads/main\n" }],
    ["is none", { HEAD: `${NOTHING}\n` }],
    ["has a name that git refuses", { HEAD: "ref: refs/heads/../../x\n" }],
  ])("is not spoken of if the branch %s", async (_why, changes) => {
    expect(await saidOf({ ...files, ...changes })).toEqual([]);
  });

  it("[SANDBOX-9] is not set by git itself, whatever other settings the environment has", () => {
    const program = { argv: ["git"], cwd: "/", stdin: "closed", tty: undefined } as const;
    expect(withoutAutomaticUpstream({ ...program, env: { A: "1" } }).env).toEqual({
      A: "1",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "branch.autoSetupMerge",
      GIT_CONFIG_VALUE_0: "false",
    });
    const others = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "a.b", GIT_CONFIG_VALUE_0: "c" };
    expect(withoutAutomaticUpstream({ ...program, env: others }).env).toEqual({
      ...others,
      GIT_CONFIG_COUNT: "2",
      GIT_CONFIG_KEY_1: "branch.autoSetupMerge",
      GIT_CONFIG_VALUE_1: "false",
    });
  });
});
