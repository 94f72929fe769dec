// `bobbin exec` with somebody at the terminal: approvals and questions are asked there.
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { BOBBIN, environment } from "../support/host-process.ts";
import { MockModel, responses } from "../support/mock-model.ts";
import { answer, call, outputs, rapHome, say } from "../support/rap-stage.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { TerminalRun } from "../support/terminal-run.ts";
import { FakeToolServer } from "../support/tool-server.ts";

/** Runs a turn in a folder of its own. */
async function exec(home: string, ...args: readonly string[]) {
  const cwd = await freshFolder("work");
  const run = await TerminalRun.start([process.execPath, BOBBIN, "exec", ...args], {
    cwd,
    env: environment(home),
  });
  return { run, cwd, file: join(cwd, "notes.txt") };
}

const WRITE = "write notes.txt: Hello!";

describe("a user at the terminal", () => {
  it("[CLI-5] is shown the change, and accepts it", async () => {
    const { run, file } = await exec(await freshFolder("home"), WRITE);
    await run.shows("> ");
    expect(run.shown).toContain(
      [
        "Change this file?",
        `  add ${file}`,
        "  +Hello!",
        "  [y] yes",
        "  [s] yes, and do not ask again in this session",
        "  [n] no",
        "  [c] no, and end the turn",
      ].join("\n"),
    );
    expect(existsSync(file)).toBe(false);
    await run.type("y\n");
    expect(await run.ended).toEqual({ code: 0, signal: null });
    expect(await readFile(file, "utf8")).toBe("Hello!\n");
    expect(run.shown).toContain("Success. Updated the following files:");
  });

  it("[TRUST-3] is asked once whether a folder with rules is trusted, and they count then", async () => {
    const home = await freshFolder("home");
    await writeFile(join(home, "config.toml"), 'approval_policy = "untrusted"\n');
    const cwd = await freshFolder("work");
    await mkdir(join(cwd, ".bobbin", "rules"), { recursive: true });
    await writeFile(join(cwd, ".bobbin", "rules", "a.rules"), 'prefix_rule(["echo"])\n');
    const start = () =>
      TerminalRun.start([process.execPath, BOBBIN, "exec", "run: echo hello"], {
        cwd,
        env: environment(home),
      });
    const first = await start();
    await first.shows("> ");
    expect(first.shown).toContain(`Trust ${cwd}?`);
    expect(first.shown).toContain("allow echo  (.bobbin/rules/a.rules:1)");
    await first.type("y\n");
    expect((await first.ended).code).toBe(0);
    expect(first.shown).not.toContain("Run this command?");
    const second = await start();
    expect((await second.ended).code).toBe(0);
    expect(second.shown).not.toContain("Trust");
  });

  it("[CLI-5] declines it, after a word that is no answer", async () => {
    const { run, file } = await exec(await freshFolder("home"), WRITE);
    await run.shows("> ");
    await run.type("maybe\n");
    await run.shows("Type one of y, s, n, c.");
    await run.shows("> ", 2);
    await run.type("n\n");
    expect((await run.ended).code).toBe(0);
    expect(run.shown).toContain("the user declined it");
    expect(existsSync(file)).toBe(false);
  });

  it("[CLI-5] ends the turn with the question, by an answer or by Ctrl-C", async () => {
    for (const typed of ["c\n", "\x03"]) {
      const { run, file } = await exec(await freshFolder("home"), WRITE);
      await run.shows("> ");
      await run.type(typed);
      expect((await run.ended).code).toBe(typed === "c\n" ? 1 : 130);
      expect(run.shown).toContain("interrupted");
      expect(existsSync(file)).toBe(false);
    }
  });

  it("[CLI-5] counts as absent when the input ends", async () => {
    const { run, file } = await exec(await freshFolder("home"), WRITE);
    await run.shows("> ");
    await run.type("\x04");
    expect((await run.ended).code).toBe(0);
    expect(run.shown).toContain("no client could ask the user");
    expect(existsSync(file)).toBe(false);
  });

  it("[CLI-5] answers for the session, and is not asked again", async () => {
    const server = await FakeToolServer.start({ wipe: { annotations: { destructive: true } } });
    const model = await MockModel.start(
      call(responses.call("wipe", "{}", "call_1")),
      call(responses.call("wipe", "{}", "call_2")),
      say("Done"),
    );
    const { home } = await rapHome(model.url, { servers: { desk: server } });
    const { run } = await exec(home, "Go on");
    await run.shows("> ");
    expect(run.shown).toContain('Allow desk to run the tool "wipe"?\n  with {}\n  [y] yes\n  [s] yes, and');
    await run.type("s\n");
    await answer(await server.next("/invoke"), "wiped");
    await answer(await server.next("/invoke", 2), "wiped again");
    expect((await run.ended).code).toBe(0);
    expect(run.shown.split("Allow desk")).toHaveLength(2);
    expect(outputs(model, 2)).toEqual(["wiped", "wiped again"]);
  });

  it("[CLI-5] is shown a command with its folder, and always allows similar ones", async () => {
    const home = await freshFolder("home");
    const escalate = { sandbox_permissions: "require_escalated", justification: "May I?" };
    const asked = (cmd: string) => `call exec_command ${JSON.stringify({ cmd, ...escalate })}`;
    const first = await exec(home, asked("echo hello"));
    await first.run.shows("> ");
    expect(first.run.shown).toMatch(
      /Run this command\?\n {2}why: May I\?\n {2}in \S+\n {2}\$ \S+ -lc 'echo hello'\n {2}\[y\] yes\n/,
    );
    expect(first.run.shown).toContain("  [p] yes, and always for commands that begin with `echo hello`\n");
    await first.run.type("p\n");
    expect((await first.run.ended).code).toBe(0);
    expect(first.run.shown).toContain("exited with code 0");
    const second = await exec(home, asked("echo hello"));
    expect((await second.run.ended).code).toBe(0);
    expect(second.run.shown).not.toContain("[y]");
  });

  it("[CLI-5] answers a question by a number, or in words", async () => {
    for (const [typed, chosen] of [
      ["2\n", "Coffee"],
      ["Water, please\n", "Water, please"],
    ] as const) {
      const { run } = await exec(await freshFolder("home"), "ask: Tea or coffee? | Tea | Coffee");
      await run.shows("> ");
      expect(run.shown).toContain("Tea or coffee?\n  [1] Tea");
      await run.type(typed);
      expect((await run.ended).code).toBe(0);
      expect(run.shown).toContain(`{"answers":{"answer":{"answers":["${chosen}"]}}}`);
    }
  });

  it("[CLI-5] is not asked with a preset, or with --approve", async () => {
    const home = await freshFolder("home");
    const auto = await exec(home, "--full-auto", WRITE);
    expect((await auto.run.ended).code).toBe(0);
    expect(auto.run.shown).not.toContain("[y]");
    expect(await readFile(auto.file, "utf8")).toBe("Hello!\n");
    const reading = await exec(home, "--access", "read-only", WRITE);
    expect((await reading.run.ended).code).toBe(0);
    expect(reading.run.shown).not.toContain("[y]");
    expect(existsSync(reading.file)).toBe(false);
    const approved = await exec(home, "--approve", WRITE);
    expect((await approved.run.ended).code).toBe(0);
    expect(approved.run.shown).toContain(`Change ${approved.file}? → approved`);
  });

  it("[CLI-5] is asked although the prompt comes from a pipe", async () => {
    const cwd = await freshFolder("work");
    await writeFile(join(cwd, "prompt"), WRITE);
    const shell = `cat prompt | '${process.execPath}' '${BOBBIN}' exec -`;
    const env = environment(await freshFolder("home"));
    const run = await TerminalRun.start(["/bin/sh", "-c", shell], { cwd, env });
    await run.shows("> ");
    await run.type("y\n");
    expect((await run.ended).code).toBe(0);
    expect(await readFile(join(cwd, "notes.txt"), "utf8")).toBe("Hello!\n");
  });
});

it("[CLI-6] declines at once where there is no terminal, and names the flags", async () => {
  const cwd = await freshFolder("work");
  const ran = await runBobbin(["exec", "-C", cwd, WRITE]);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain(
    `Change ${join(cwd, "notes.txt")}? → declined\n  With --approve it is approved. With --full-auto commands and patches need no approval within the folder, unless they remove files by force.\n`,
  );
  expect(existsSync(join(cwd, "notes.txt"))).toBe(false);
  const everything = await runBobbin(["exec", "-C", "/", "--access", "everything", `write ${cwd}/a: x`]);
  expect(everything.code).toBe(0);
  expect(await readFile(join(cwd, "a"), "utf8")).toBe("x\n");
});

it("[CLI-6] shows what a command printed, or that it was declined", async () => {
  const ran = await runBobbin(["exec", "--access", "everything", "run: seq 1 100; exit 3"]);
  expect(ran.stderr).toMatch(
    /\$ \S+ -lc 'seq 1 100; exit 3'\n1\n2\n[\d\n]*10\n… 80 more lines\n91\n[\d\n]*100\nexit code 3\n/,
  );
  const declined = await runBobbin(["exec", "run: rm -rf nothing"]);
  expect(declined.stderr).toMatch(
    /\$ .*rm -rf nothing'\nRun .*rm -rf nothing'\? → declined\n.*--approve.*\ndeclined\n/,
  );
});

it("[CLI-7] prints commands as the Codex CLI does", async () => {
  const { stdout } = await runBobbin(["exec", "--json", "--access", "everything", "run: echo a; exit 3"]);
  const items = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ item }) => item?.type === "command_execution");
  const command = expect.stringMatching(/ -lc 'echo a; exit 3'$/);
  const item = { id: "item_0", type: "command_execution", command };
  expect(items).toEqual([
    {
      type: "item.started",
      item: { ...item, aggregated_output: "", exit_code: null, status: "in_progress" },
    },
    { type: "item.completed", item: { ...item, aggregated_output: "a\n", exit_code: 3, status: "failed" } },
  ]);
});

it("[CLI-7] prints file changes as the Codex CLI does", async () => {
  const cwd = await freshFolder("work");
  const { stdout } = await runBobbin(["exec", "--json", "--full-auto", "-C", cwd, WRITE]);
  const items = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ item }) => item?.type === "file_change");
  const item = {
    id: "item_0",
    type: "file_change",
    changes: [{ path: join(cwd, "notes.txt"), kind: "add" }],
  };
  expect(items).toEqual([
    { type: "item.started", item: { ...item, status: "in_progress" } },
    { type: "item.completed", item: { ...item, status: "completed" } },
  ]);
});
