import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder, markRepository } from "../../../../test/support/folder.ts";
import { loadConfig } from "../config/load-config.ts";
import { nodePlatform } from "../platform/node.ts";
import type { Approval } from "./exec-approval-choices.ts";
import { askTrust, trustQuestion } from "./exec-trust-question.ts";

const platform = nodePlatform();

/** Asked in a project with this rules file; resolves with what was asked and what is configured then. */
async function stage() {
  const home = await freshFolder();
  const project = await freshFolder("project");
  const file = join(project, ".bobbin", "rules", "a.rules");
  markRepository(project);
  await mkdir(join(file, ".."), { recursive: true });
  const rules = (text: string): Promise<void> => writeFile(file, text);
  const asked: Approval<unknown>[] = [];
  const ask = async (key: "y" | "n" | null): Promise<boolean> => {
    const { projects } = await loadConfig(platform.files, home, []);
    const person = {
      approve: async <T>(approval: Approval<T>): Promise<T | undefined> => {
        asked.push(approval);
        return approval.choices.find((one) => one.key === key)?.answer;
      },
    };
    return askTrust({ platform, home, projects }, project, person, new AbortController().signal);
  };
  const said = async () => (await loadConfig(platform.files, home, [])).projects.get(project);
  return { home, project, rules, asked, ask, said };
}

const ALLOW = 'prefix_rule(["make", ["all", "test"]])\n';

describe("the question whether a project is trusted", () => {
  it("[TRUST-3] is asked once, and again when its rules change", async () => {
    const { project, rules, asked, ask, said } = await stage();
    await rules(ALLOW);
    expect(await ask(null)).toBe(false);
    expect(await said()).toBeUndefined();
    expect(await ask("y")).toBe(true);
    expect(asked[1]).toMatchObject({
      question: expect.stringContaining(`Trust ${project}?`),
      details: ["allow make all|test  (.bobbin/rules/a.rules:1)"],
    });
    expect(await said()).toEqual({ level: "trusted", rules: expect.stringMatching(/^sha256:/) });
    expect(await ask("y")).toBe(false);
    expect(asked).toHaveLength(2);

    await rules(`${ALLOW}prefix_rule(["npm", "publish"])\n`);
    const before = await said();
    expect(await ask("n")).toBe(false);
    expect(asked[2]!.question).toContain("not those that you trusted");
    expect(await said()).toEqual(before);
    expect(await ask("y")).toBe(true);
    expect((await said())?.rules).not.toBe(before?.rules);
  });

  it("[TRUST-3] is remembered as untrusted after a no", async () => {
    const { home, rules, asked, ask, said } = await stage();
    await writeFile(join(home, "config.toml"), '# Mine.\nmodel = "x"\n');
    await rules(ALLOW);
    expect(await ask("n")).toBe(true);
    expect(await said()).toEqual({ level: "untrusted", rules: null });
    expect(await readFile(join(home, "config.toml"), "utf8")).toContain("# Mine.");
    expect(await ask("y")).toBe(false);
    expect(asked).toHaveLength(1);
  });

  it("is not asked where there are no rules, or where they only restrict", async () => {
    const { rules, asked, ask } = await stage();
    expect(await ask("y")).toBe(false);
    await rules('prefix_rule(["curl"], "forbidden")\n');
    expect(await ask("y")).toBe(false);
    expect(asked).toEqual([]);
  });

  it("shows so many rules, and counts the others", () => {
    const rule = {
      pattern: [["x"]],
      decision: "allow",
      justification: null,
      file: "/p/r",
      line: 1,
      revocable: false,
    } as const;
    const { details } = trustQuestion(
      "/p",
      null,
      Array.from({ length: 25 }, () => structuredClone(rule) as never),
    );
    expect(details).toHaveLength(21);
    expect(details.at(-1)).toBe("… 5 more rules");
  });
});
