// The path of a person who has just heard of Bobbin: clone, start, open the page, answer the first approval.
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { hasBrowser, visit } from "../support/browser.ts";
import { send } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { atFileEnd } from "../support/file-end.ts";
import { freshFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { environment } from "../support/host-process.ts";
import { LONG } from "../support/long-form.ts";

const ROOT = join(import.meta.dirname, "../..");

const groups: number[] = [];
atFileEnd(() => {
  for (const group of groups.splice(0)) endGroup(group);
});

/** Ends `npm start` with the host, as Ctrl-C does. */
function endGroup(group: number): void {
  try {
    process.kill(-group, "SIGINT");
  } catch {
    // Ended already.
  }
}

describe.runIf(hasBrowser && LONG)("a newcomer without a key", () => {
  it("[CONSOLE-39] clones, starts, and answers the first approval in the browser", async () => {
    const clone = join(await freshFolder("newcomer"), "bobbin");
    await promisify(execFile)("git", ["clone", "-q", ROOT, clone]);
    const port = await freePort();
    // Only the port differs from what the README says, because another program may use that one.
    const manifest = await readFile(join(clone, "package.json"), "utf8");
    await writeFile(join(clone, "package.json"), manifest.replace("127.0.0.1:4545", `127.0.0.1:${port}`));
    const home = await freshFolder("newcomer-home");
    await mkdir(join(home, "work"));
    // npm's own settings are the machine's.
    const npmrc = join(homedir(), ".npmrc");
    if (existsSync(npmrc)) await copyFile(npmrc, join(home, ".npmrc"));
    const { OPENAI_API_KEY: _key, BOBBIN_HOME: _home, ...env } = environment(home);
    const started = spawn("npm", ["start"], { cwd: clone, env: { ...env, HOME: home }, detached: true });
    groups.push(started.pid!);
    let said = "";
    for (const output of [started.stdout, started.stderr])
      output.setEncoding("utf8").on("data", (text: string) => (said += text));
    const site = `http://127.0.0.1:${port}`;
    // It installs and builds first, which takes as long as the network and the machine need.
    while ((await fetch(`${site}/readyz`).catch(() => undefined))?.ok !== true) {
      if (started.exitCode !== null) throw new Error(`npm start ended: ${said}`);
      await setTimeout(200);
    }
    const { page, faults } = await visit(site);
    const command = {
      cmd: "echo hello, newcomer",
      sandbox_permissions: "require_escalated",
      justification: "May I?",
    };
    await send(page, `call exec_command ${JSON.stringify(command)}`);
    const question = page.getByRole("region", { name: "Run this command?" });
    await question.getByText("echo hello, newcomer").first().waitFor();
    await question.getByRole("button", { name: "Yes", exact: true }).click();
    await page.getByLabel("Output").getByText("hello, newcomer").waitFor();
    await page.getByRole("main").getByText("Idle").waitFor();
    expect(faults).toEqual([]);
    endGroup(started.pid!);
    await eventually(() => started.exitCode !== null || started.signalCode !== null, "npm start ends");
  });
});
