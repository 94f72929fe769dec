// The Codex TUI, as it is published, where a model starts a helper.
import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { calls, hasTui, openTui } from "./tui-stage.ts";

describe.skipIf(!hasTui)("the Codex TUI", () => {
  it("[HELPER-19] shows a helper at work by its name, and asks for its approval", async () => {
    const cwd = await realpath(await freshFolder("project"));
    const env = { SHELL: "/bin/bash" };
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"], cwd, env });
    const terminal = await openTui(host, { args: ["--sandbox", "read-only"], cwd });
    await terminal.shows("Offline (built in)");
    await terminal.say("help: Count the files here.");
    const screen = await terminal.shows(/The helper says:.*You said: Count the files here\./s);
    const [, name] = /Spawned (\w+)\s*\n\s*└ Count the files here\./.exec(screen)!;
    expect(screen).toContain(`Waiting for ${name}`);
    expect(screen).toContain(`${name}: Completed - This is Bobbin's built-in offline model`);
    await terminal.say("help: write notes.txt: from a helper");
    const question = await terminal.shows("Would you like to make the following edits?");
    const [, other] = /Spawned (\w+)\s*\n\s*└ write notes\.txt/.exec(question)!;
    await terminal.shows(`Thread: ${other}`);
    await terminal.press("y");
    await eventually(() => existsSync(join(cwd, "notes.txt")), "the patch is applied");
    await terminal.shows("Success. Updated the following files:");
    for (const [method, outcomes] of await calls(host)) expect(outcomes, method).not.toContain("error");
  });
});
