import { execFile, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ProgramUnderTest } from "../../../../test/support/program-under-test.ts";
import { program as commandLine } from "./command-line.ts";
import { bashCompletion } from "./completion-bash.ts";
import { fishCompletion } from "./completion-fish.ts";
import { allNodes, completionTree } from "./completion-tree.ts";
import { zshCompletion } from "./completion-zsh.ts";

let program: ProgramUnderTest;
beforeAll(async () => {
  program = await ProgramUnderTest.build();
});
afterAll(() => program.remove());

const here = (shell: string) => spawnSync(shell, ["--version"]).error === undefined;
const run = promisify(execFile);

describe("bobbin completion", () => {
  it.each(["bash", "zsh", "fish"])("prints a script for %s", async (shell) => {
    const { code, stdout, stderr } = await program.run(["completion", shell]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`${shell} completion for bobbin`);
    if (!here(shell)) return;
    const file = join(program.folder, `script.${shell}`);
    await writeFile(file, stdout);
    await run(shell, ["-n", file]);
  });

  it("says which shells there are", async () => {
    const { code, stderr } = await program.run(["completion", "ksh"]);
    expect(code).toBe(2);
    expect(stderr).toContain("Allowed choices are bash, zsh, fish.\nSee bobbin completion --help.\n");
    expect((await program.run(["completion"])).code).toBe(2);
  });
});

describe.runIf(here("bash"))("in bash", () => {
  /** What bash offers for the last word of a line. */
  async function complete(line: string): Promise<string[]> {
    // Readline splits at "=" as well.
    const words = line.split(/(=)| /).filter((word) => word !== undefined);
    const script = `source <(printf '%s' "$SCRIPT"); _bobbin; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await run(
      "bash",
      ["-c", `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ${script}`, "bash", ...words],
      { env: { ...process.env, SCRIPT: bashCompletion(completionTree(commandLine())) } },
    );
    return stdout.split("\n").filter((one) => one !== "");
  }

  it.each<[string, string[]]>([
    [
      "bobbin ",
      [
        "app-server",
        "chat",
        "exec",
        "threads",
        "ps",
        "logs",
        "open",
        "config",
        "tools",
        "login",
        "logout",
        "whoami",
        "token",
        "mcp",
        "rules",
        "trust",
        "hooks",
        "sandbox",
        "doctor",
        "feedback",
        "import",
        "completion",
        "help",
      ],
    ],
    ["bobbin e", ["exec"]],
    ["bobbin mcp ", ["list", "get", "add", "remove", "login", "logout", "test", "help"]],
    ["bobbin mcp add --oauth-client-r", ["--oauth-client-registration"]],
    ["bobbin exec --output", ["--output-schema", "--output-last-message"]],
    ["bobbin exec --skip", []],
    ["bobbin exec hello --mo", ["--model"]],
    ["bobbin app-server --ws-auth ", ["capability-token", "signed-bearer-token"]],
    ["bobbin app-server --ws-auth=", ["capability-token", "signed-bearer-token"]],
    ["bobbin app-server --ws-auth=s", ["signed-bearer-token"]],
    ["bobbin app-server --listen ", []],
    ["bobbin app-server gen", ["generate-json-schema", "generate-ts"]],
    ["bobbin app-server generate-ts --", ["--out", "--experimental", "--help", "--config"]],
    ["bobbin -c model=x doctor --j", ["--json"]],
    ["bobbin completion ", ["bash", "zsh", "fish"]],
    ["bobbin help do", ["doctor"]],
    ["bobbin nonsense", []],
  ])("%s is completed", async (line, offered) => {
    expect(await complete(line)).toEqual(offered);
  });

  it("registers itself, and falls back to files", async () => {
    const script = bashCompletion(completionTree(commandLine()));
    const { stdout } = await run("bash", ["-c", `${script}\ncomplete -p bobbin`]);
    expect(stdout.trim()).toBe("complete -o default -F _bobbin bobbin");
  });
});

describe("every script", () => {
  const tree = completionTree(commandLine());
  const scripts = { bash: bashCompletion(tree), zsh: zshCompletion(tree), fish: fishCompletion(tree) };

  it.each(Object.entries(scripts))("knows every command and option that help shows (%s)", (shell, script) => {
    for (const node of allNodes(tree)) {
      expect(script).toContain(node.path.at(-1));
      for (const { names } of node.options) {
        const long = names.find((name) => name.startsWith("--"))!;
        expect(script).toContain(shell === "fish" ? `-l ${long.slice(2)} ` : long);
      }
    }
    expect(script).not.toContain("skip-git-repo-check");
  });

  it("quotes what has quotes", () => {
    expect(scripts.zsh).toContain(`'generate-ts:Write the protocol'\\''s TypeScript types.'`);
    expect(scripts.fish).toContain(`'Write the protocol\\'s TypeScript types.'`);
  });
});
