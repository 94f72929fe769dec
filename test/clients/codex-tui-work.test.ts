// The Codex TUI, as it is published, where models change files and run commands.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import type { Terminal } from "./terminal.ts";
import { hasTui, openTui } from "./tui-stage.ts";

async function stage(
  sandbox: string,
  ...config: readonly string[]
): Promise<{ terminal: Terminal; cwd: string }> {
  const cwd = await realpath(await freshFolder("project"));
  const args = ["--listen", "ws://127.0.0.1:0", ...config.flatMap((one) => ["-c", one])];
  const terminal = await openTui(await spawnHost({ args, cwd }), { args: ["--sandbox", sandbox], cwd });
  await terminal.shows("Offline (built in)");
  return { terminal, cwd };
}

describe.skipIf(!hasTui)("the Codex TUI", () => {
  it("[CLIENT-16] asks about a patch: once, for the session, and ends the turn with a no", async () => {
    const { terminal, cwd } = await stage("read-only");
    const content = () => readFile(join(cwd, "notes.txt"), "utf8");
    const question = "Would you like to make the following edits?";
    const ask = async (word: string, key: string): Promise<void> => {
      await terminal.say(`write notes.txt: ${word}`);
      await terminal.shows(question);
      await terminal.press(key);
      await terminal.gone(/Would you like to make/);
    };
    await ask("one", "Escape");
    await terminal.shows("Conversation interrupted");
    expect(existsSync(join(cwd, "notes.txt"))).toBe(false);
    await ask("two", "y");
    await terminal.shows("The patch was applied.");
    expect(await content()).toBe("two\n");
    await ask("three", "a");
    await eventually(async () => (await content()) === "three\n", "the patch is applied");
    await terminal.say("write notes.txt: four");
    await eventually(async () => (await content()) === "four\n", "the patch is applied without a question");
  });

  it("[CLIENT-17] shows what has changed with /diff", async () => {
    const { terminal, cwd } = await stage("workspace-write");
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], { cwd });
    await writeFile(join(cwd, "old.txt"), "before\n");
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "begin");
    await terminal.say("patch:*** Delete File: old.txt");
    await terminal.shows("The patch was applied.");
    await terminal.say("/diff");
    await terminal.shows("-before");
    await terminal.press("q");
  });
});
