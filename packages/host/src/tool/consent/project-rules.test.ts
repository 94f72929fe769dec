import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder, markRepository } from "../../../../../test/support/folder.ts";
import { nodePlatform } from "../../platform/node.ts";
import { ruleFiles } from "../../store/files/document-files.ts";
import { ruleFor } from "./command-and-network-rules.ts";
import type { Projects } from "./project-rules.ts";
import { RulesStore } from "./rules-store.ts";

async function project(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await freshFolder("project");
  markRepository(folder);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

async function store(projects: Projects = new Map()): Promise<{ store: RulesStore; home: string }> {
  const home = await freshFolder();
  const platform = nodePlatform();
  return {
    store: new RulesStore(ruleFiles(home, platform), { ...platform, projects: () => projects }),
    home,
  };
}

describe("rules of a project", () => {
  it("come from its root down to the folder, and not from elsewhere", async () => {
    const folder = await project({
      ".bobbin/rules/a.rules": 'prefix_rule(["a"], "prompt")',
      "sub/.codex/rules/b.rules": 'prefix_rule(["b"], "prompt")',
      "other/.codex/rules/c.rules": 'prefix_rule(["c"], "prompt")',
      "sub/.codex/rules/notes.md": "prefix_rule(",
    });
    const { rules, bad } = await (await store()).store.load(join(folder, "sub"));
    expect(bad).toEqual([]);
    expect(["a", "b", "c"].map((word) => ruleFor(rules, [word])?.decision)).toEqual([
      "prompt",
      "prompt",
      undefined,
    ]);
  });

  it("that nobody trusts cannot make a file of theirs count as a program", async () => {
    const folder = await project({});
    const program = join(folder, "git");
    await mkdir(join(folder, ".codex/rules"), { recursive: true });
    await writeFile(
      join(folder, ".codex/rules/a.rules"),
      `host_executable(name="git", paths=[${JSON.stringify(program)}])`,
    );
    const { store: rules } = await store();
    await rules.allow(["git", "status"]);
    expect(ruleFor((await rules.load(folder)).rules, [program, "status"])).toBeNull();
  });

  it("are trusted by their digest, under the real path of the project", async () => {
    const folder = await project({ ".codex/rules/a.rules": 'prefix_rule(["make"])' });
    const link = join(await freshFolder("link"), "project");
    await symlink(folder, link);
    const { project: found } = await (await store()).store.load(link);
    expect(found).toMatchObject({ root: folder, isTrusted: false });
    const trusting = async (level: "trusted" | "untrusted", rules: string | null) => {
      const { store: some } = await store(new Map([[folder, { level, rules }]]));
      return (await some.load(link)).project?.isTrusted;
    };
    expect(await trusting("trusted", found!.digest)).toBe(true);
    expect(await trusting("untrusted", found!.digest)).toBe(false);
    expect(await trusting("trusted", null)).toBe(false);
    expect(await trusting("trusted", "sha256:0")).toBe(false);
  });

  it("are none where the project has none, or does not exist", async () => {
    const { store: rules } = await store();
    expect((await rules.load(await project({}))).project).toMatchObject({ digest: null, isTrusted: true });
    expect((await rules.load("/nonexistent/folder")).project).toMatchObject({ digest: null });
  });
});
