// What people see and change of the rules for commands.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type Run, runBobbin } from "../support/run-bobbin.ts";

async function homeWith(files: Readonly<Record<string, string>>): Promise<string> {
  const home = await freshFolder();
  await mkdir(join(home, "rules"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(home, "rules", name), text);
  return home;
}

const rules = (home: string, ...args: string[]): Promise<Run> =>
  runBobbin(["rules", ...args], { env: { BOBBIN_HOME: home } });

describe("bobbin rules check", () => {
  it("shows what would happen to a command, and why", async () => {
    const home = await homeWith({
      "default.rules": 'prefix_rule(pattern=["git", "status"], decision="allow")\n',
      "team.rules":
        'prefix_rule(pattern=["git", "push"], decision="prompt", justification="It is public")\n' +
        'prefix_rule(pattern=["curl"], decision="forbidden")\n',
      "notes.txt": "no rules",
    });
    const allowed = await rules(home, "check", "git status -s");
    expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining("a rule allows `git status`") });
    const asked = await rules(home, "check", "git push");
    expect(asked).toMatchObject({ code: 1, stdout: expect.stringContaining("It is public") });
    const refused = await rules(home, "check", "echo $(curl x)");
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining("a rule forbids `curl`") });
    const json = await rules(home, "check", "--json", "-c", "sandbox_mode=danger-full-access", "ls src");
    expect(JSON.parse(json.stdout)).toMatchObject({
      consent: { kind: "sandboxed" },
      isPlain: true,
      commands: [["ls", "src"]],
      actions: [{ type: "listFiles", command: "ls src", path: "src" }],
      badFiles: [],
    });
  });

  it("names a file that cannot be read, with the line, and takes nothing that it allows", async () => {
    const home = await homeWith({ "bad.rules": 'prefix_rule(["git"])\nprefix_rule(["ls"], "maybe")\n' });
    const run = await rules(home, "check", "-c", "approval_policy=untrusted", "git status");
    expect(run.code).toBe(1);
    expect(run.stdout).toContain(
      'bad.rules:2: decision has to be "allow", "prompt" or "forbidden", not "maybe"',
    );
  });
});
