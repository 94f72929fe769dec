// What people see and change of the rules for commands.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CommandRule } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { freshFolder, markRepository } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
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

  it("uses the settings that a thread in the folder would have, as bobbin sandbox does", async () => {
    const home = await homeWith({});
    const cwd = await freshFolder("project");
    const project = `[projects.${JSON.stringify(cwd)}]\ntrust_level = "untrusted"\n`;
    const check = async (): Promise<object> =>
      JSON.parse((await rules(home, "check", "--json", "--cd", cwd, "ls")).stdout);
    const explained = async (): Promise<string> =>
      (await runBobbin(["sandbox", "--explain", "--cd", cwd], { env: { BOBBIN_HOME: home } })).stdout;

    await writeFile(join(home, "config.toml"), project);
    expect(await check()).toMatchObject({
      consent: { kind: "ask" },
      policy: "untrusted",
      sandbox: { type: "workspaceWrite" },
      permissionProfile: ":workspace",
    });
    expect(await explained()).toContain("Sandbox: :workspace,");

    // What an administrator requires counts more than the trust in a folder.
    const required = 'allowed_approval_policies = ["never"]\nallowed_sandbox_modes = ["read-only"]\n';
    await writeFile(join(home, "requirements.toml"), required);
    expect(await check()).toMatchObject({
      consent: { kind: "sandboxed" },
      policy: "never",
      sandbox: { type: "readOnly" },
      permissionProfile: null,
    });
    expect(await explained()).toMatch(/Sandbox: read-only,[\s\S]*may write +nothing/);

    await rm(join(home, "requirements.toml"));
    const profile = '[permissions.mine]\nextends = ":workspace"\n';
    await writeFile(join(home, "config.toml"), `default_permissions = "mine"\n${project}${profile}`);
    expect(await check()).toMatchObject({
      consent: { kind: "ask" },
      sandbox: { type: "workspaceWrite" },
      permissionProfile: "mine",
    });
    expect((await rules(home, "check", "--cd", cwd, "ls")).stdout).toContain("profile mine");
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

describe("rules that people made", () => {
  it("are listed and revoked, in the terminal and by clients", async () => {
    const home = await homeWith({
      "default.rules":
        '# Mine.\nprefix_rule(pattern=["git", "status"], decision="allow")\nprefix_rule(pattern=["make", "all"], decision="allow")',
      "team.rules":
        'prefix_rule(["curl", ["-s", "-v"]], "forbidden", justification="Use the mirror")\n' +
        'network_rule("example.com", "https", "deny")\n',
    });
    const listed = await rules(home, "list");
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(/allow +git status +rules\/default\.rules:2\n/);
    expect(listed.stdout).toMatch(/forbidden +curl -s\|-v \(Use the mirror\) +rules\/team\.rules:1\n/);
    expect(listed.stdout).toMatch(/forbidden +https:\/\/example\.com/);

    const { client } = await stdioHost({ home, capabilities: { experimentalApi: true } });
    const { commands, hosts, badFiles } = await client.call("rules/list", {});
    expect(commands.map(({ pattern, revocable }: CommandRule) => [pattern[0]![0], revocable])).toEqual([
      ["git", true],
      ["make", true],
      ["curl", false],
    ]);
    expect([hosts.length, badFiles]).toEqual([1, []]);
    await client.call("rules/revoke", { prefix: ["git", "status"] });
    const { code } = await client.refusal("rules/revoke", { prefix: ["git", "status"] });
    expect(code).toBe(-32602);

    expect((await rules(home, "revoke", "make", "all")).code).toBe(0);
    expect(await rules(home, "revoke", "make", "all")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("has no line that allows"),
    });
    expect(await readFile(join(home, "rules", "default.rules"), "utf8")).toBe("# Mine.\n");
  });
});

describe("rules of a project", () => {
  it("restrict at once, and allow only with the content that a person trusted", async () => {
    const home = await homeWith({});
    const project = await freshFolder("project");
    const folder = join(project, ".codex", "rules");
    markRepository(project);
    await mkdir(folder, { recursive: true });
    await mkdir(join(project, "sub"));
    const text = 'prefix_rule(["make"])\nprefix_rule(["curl"], "forbidden")\n';
    await writeFile(join(folder, "team.rules"), text);
    const check = (command: string): Promise<Run> =>
      rules(home, "check", "-c", "approval_policy=untrusted", "-C", join(project, "sub"), command);

    const before = await check("make");
    expect(before.code).toBe(1);
    expect(before.stdout).toContain(`bobbin rules trust ${project}`);
    expect((await check("curl x")).stdout).toContain("a rule forbids `curl`");

    const trusted = await rules(home, "trust", join(project, "sub"));
    expect(trusted).toMatchObject({ code: 0, stdout: expect.stringContaining("are trusted now") });
    expect(trusted.stdout).toContain("make");
    expect((await check("make")).code).toBe(0);
    expect((await rules(home, "trust", project)).stdout).toContain("are trusted already");

    await writeFile(join(folder, "team.rules"), `${text}prefix_rule(["npm", "publish"])\n`);
    expect((await check("make")).code).toBe(1);
    await writeFile(join(folder, "team.rules"), text);
    expect((await check("make")).code).toBe(0);
    await writeFile(join(folder, "more.rules"), "");
    expect((await check("make")).code).toBe(1);

    await rm(join(folder, "more.rules"));
    expect((await check("make")).code).toBe(0);
    const distrusted = await rules(home, "distrust", project);
    expect(distrusted).toMatchObject({ code: 0, stdout: expect.stringContaining("is not trusted now") });
    expect((await check("make")).code).toBe(1);

    const { client } = await stdioHost({ home, capabilities: { experimentalApi: true } });
    const listed = await client.call("rules/list", { cwd: project });
    expect(listed.project).toMatchObject({ root: project, trusted: false });
    expect(listed.commands.map(({ decision }: CommandRule) => decision)).toEqual(["forbidden"]);
  });
});
