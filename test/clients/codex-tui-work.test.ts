// The Codex TUI, as it is published, where models change files and run commands.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import type { Terminal } from "./terminal.ts";
import { calls, hasTui, openTui } from "./tui-stage.ts";

async function stage(sandbox: string): Promise<{ terminal: Terminal; host: HostProcess; cwd: string }> {
  const cwd = await realpath(await freshFolder("project"));
  const host = await spawnHost({
    args: ["--listen", "ws://127.0.0.1:0"],
    cwd,
    env: { SHELL: "/bin/bash" },
  });
  const terminal = await openTui(host, { args: ["--sandbox", sandbox], cwd });
  await terminal.shows("Offline (built in)");
  return { terminal, host, cwd };
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
    await terminal.shows("Success. Updated the following files:");
    expect(await content()).toBe("two\n");
    await ask("three", "a");
    await eventually(async () => (await content()) === "three\n", "the patch is applied");
    await terminal.say("write notes.txt: four");
    await eventually(async () => (await content()) === "four\n", "the patch is applied without a question");
  });

  it("[CLIENT-18] trusts a folder with its own question, and its rules count then", async () => {
    const cwd = await realpath(await freshFolder("project"));
    await mkdir(join(cwd, ".codex", "rules"), { recursive: true });
    await writeFile(join(cwd, ".codex", "rules", "team.rules"), 'prefix_rule(["echo"])\n');
    const host = await spawnHost({
      args: ["--listen", "ws://127.0.0.1:0"],
      cwd,
      env: { SHELL: "/bin/bash" },
    });
    const terminal = await openTui(host, { args: ["--cd", cwd], cwd });
    await terminal.shows("Trust this folder?");
    await terminal.answer(/Trust this folder\?/, "Enter");
    await terminal.shows("Offline (built in)");
    const config = await readFile(join(host.home, "config.toml"), "utf8");
    expect(config).toContain('trust_level = "trusted"');
    expect(config).toMatch(/trusted_rules = "sha256:/);
    expect((await calls(host)).get("config/batchWrite")).toEqual(["ok"]);
    // The next one is not asked, and a trusted folder may be written to.
    await terminal.close();
    const next = await openTui(host, { args: ["--cd", cwd], cwd });
    await next.shows("Offline (built in)");
    await next.say("write notes.txt: trusted");
    await eventually(() => existsSync(join(cwd, "notes.txt")), "the patch is applied without a question");
  });

  it("[CLIENT-30] finds files with @, and puts the chosen one into the message", async () => {
    const { terminal, host, cwd } = await stage("read-only");
    await mkdir(join(cwd, "src", "deep"), { recursive: true });
    await writeFile(join(cwd, "src", "deep", "chocolate-cake.ts"), "");
    await writeFile(join(cwd, "src", "carrot-cake.ts"), "");
    await writeFile(join(cwd, ".ignore"), "carrot*\n");
    await terminal.press("@");
    await terminal.type("chocake");
    await terminal.shows(/chocolate-cake\.ts +src\/deep\//);
    await terminal.press("Enter");
    await terminal.gone(/@chocake/);
    await terminal.say("is that one");
    await terminal.shows(/You said: .*chocolate-cake\.ts is that one/);
    const called = await calls(host);
    expect([...called].filter(([, outcomes]) => outcomes.some((outcome) => outcome !== "ok"))).toEqual([]);
    // It walks the folder by itself, also with a remote host: this says nothing about `fuzzyFileSearch`.
    expect([...called.keys()].filter((method) => method.startsWith("fuzzyFileSearch"))).toEqual([]);
  });

  it("[CLIENT-17] shows what has changed with /diff", async () => {
    const { terminal, cwd } = await stage("workspace-write");
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], { cwd });
    await writeFile(join(cwd, "old.txt"), "before\n");
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "begin");
    // Changed by no patch: a patch would show these lines by itself.
    await writeFile(join(cwd, "old.txt"), "after\n");
    await terminal.say("/diff");
    await terminal.shows(/^\s*-before\s*\n\s*\+after\s*$/m);
    await terminal.press("q");
    await terminal.say("are you there");
    await terminal.shows("You said: are you there");
  });

  it.skipIf(!hasSandbox)(
    "[CLIENT-16] runs commands, and asks about some: once, for the session, no, and no with the turn's end",
    async () => {
      const { terminal, cwd } = await stage("workspace-write");
      await terminal.say("run: echo hello-$((1+1))");
      await terminal.shows(/Ran echo hello.*\n.*hello-2/);
      const question = /Would you like to run the following command/;
      const ask = async (name: string, key: string): Promise<void> => {
        await mkdir(join(cwd, name), { recursive: true });
        await terminal.say(`run: rm -rf ${name}`);
        await terminal.shows(question);
        await terminal.shows("It removes files with force");
        await terminal.press(key);
        await terminal.gone(question);
      };
      const isGone = (name: string) => eventually(() => !existsSync(join(cwd, name)), `${name} is removed`);
      await ask("once", "y");
      await isGone("once");
      await ask("kept", "d");
      await terminal.shows("the user declined it");
      await ask("kept-too", "Escape");
      await terminal.shows("Conversation interrupted");
      expect(existsSync(join(cwd, "kept")) && existsSync(join(cwd, "kept-too"))).toBe(true);
      await ask("always", "a");
      await isGone("always");
      await mkdir(join(cwd, "always"));
      await terminal.say("run: rm -rf always");
      await isGone("always");
    },
  );

  it.skipIf(!hasSandbox)("[CLIENT-16] ends a running command with Escape", async () => {
    const { terminal } = await stage("workspace-write");
    const seconds = `${100_000 + Math.floor(Math.random() * 100_000)}`;
    await terminal.say(`run: sleep ${seconds}`);
    await eventually(() => isRunning("sleep", seconds), "the command runs");
    await terminal.press("Escape");
    await terminal.shows("Conversation interrupted");
    await eventually(() => !isRunning("sleep", seconds), "the command is gone");
    await terminal.say("are you there");
    await terminal.shows("You said: are you there");
  });

  it("[CLIENT-17] runs the user's own commands with !, and none of its calls is refused", async () => {
    const { terminal, host } = await stage("read-only");
    await terminal.say("a word before");
    await terminal.shows("You said: a word before");
    await terminal.press("!");
    await terminal.say("echo mine-$((2+3))");
    await terminal.shows(/You ran echo mine.*\n.*mine-5/);
    await terminal.say("and after");
    await terminal.shows("You said: and after");
    const called = await calls(host);
    expect(called.get("thread/shellCommand")).toEqual(["ok"]);
    const refused = [...called].filter(([, outcomes]) => outcomes.some((outcome) => outcome !== "ok"));
    expect(refused).toEqual([]);
  });
});

/** Whether a program runs with these words, in whatever sandbox. */
function isRunning(...words: readonly string[]): boolean {
  return readdirSync("/proc").some((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      return readFileSync(`/proc/${entry}/cmdline`, "utf8") === `${words.join("\0")}\0`;
    } catch {
      return false;
    }
  });
}
