import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder, markRepository } from "../../../../../test/support/folder.ts";
import { newThread } from "../../../../../test/support/test-thread.ts";
import type { ThreadState } from "../../core/state.ts";
import { nodePlatform } from "../../platform/node.ts";
import { ruleFiles } from "../../store/files/document-files.ts";
import { ruleFor } from "./command-and-network-rules.ts";
import { type Projects, type ProjectTrust, readProjectRules } from "./project-rules.ts";
import { RulesStore } from "./rules-store.ts";
import { ThreadProjectRules } from "./thread-project-rules.ts";

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
    const program = join(folder, "ls");
    await mkdir(join(folder, ".codex/rules"), { recursive: true });
    await writeFile(
      join(folder, ".codex/rules/a.rules"),
      `host_executable(name="ls", paths=[${JSON.stringify(program)}])`,
    );
    const { store: rules } = await store();
    await rules.allow(["ls", "-a"]);
    expect(ruleFor((await rules.load(folder)).rules, [program, "-a"])).toBeNull();
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

  it.each<[string, Record<string, string>, RegExp]>([
    [
      "there are too many files",
      Object.fromEntries(Array.from({ length: 64 }, (_, nth) => [`.bobbin/rules/${nth}.rules`, ""])),
      /more than 64 rules files/,
    ],
    [
      "a file has a mistake before them",
      { ".codex/rules/team.rules": 'x = 1\nprefix_rule(["curl"], "forbidden")' },
      /team\.rules:1/,
    ],
    [
      "a file is too large",
      { ".codex/rules/b.rules": `#${"x".repeat(1024 * 1024)}` },
      /b\.rules:1: .*larger/,
    ],
  ])("may not all be known if %s", async (_why, more, problem) => {
    const forbidding = 'prefix_rule(["curl"], "forbidden")';
    const folder = await project({ ".codex/rules/team.rules": forbidding, ...more });
    const { rules, project: found } = await (await store()).store.load(folder);
    expect(found!.problem).toMatch(problem);
    expect(ruleFor(rules, ["ls"])).toBeNull();
  });

  it("may not all be known if their folder cannot be read", async () => {
    const folder = await project({ ".codex/rules/team.rules": 'prefix_rule(["curl"], "forbidden")' });
    const { files } = nodePlatform();
    const unreadable: typeof files = {
      ...files,
      list: (path) =>
        path.endsWith("rules")
          ? Promise.reject(Object.assign(new Error("EACCES: no"), { code: "EACCES" }))
          : files.list(path),
    };
    const { problem } = await readProjectRules(unreadable, folder, null);
    expect(problem).toContain("EACCES");
  });

  it("stay as they were when their thread was loaded, with the trust of today", async () => {
    const file = ".codex/rules/team.rules";
    const folder = await project({
      [file]: 'prefix_rule(["curl"], "forbidden")\nprefix_rule(["make"])',
      "sub/x": "",
    });
    const projects = new Map<string, ProjectTrust>();
    const { store: rules } = await store(projects);
    const threads = new ThreadProjectRules((cwd) => rules.readProject(cwd));
    const base = newThread();
    const thread = (id: string, parentThreadId: string | null = null): ThreadState => ({
      ...base,
      facts: { ...base.facts, id, parentThreadId },
      settings: { ...base.settings, cwd: join(folder, "sub") },
    });
    const [parent, helper] = [thread("a"), thread("b", "a")];
    threads.load(parent);
    const before = await threads.of(parent);
    // What a model could do: other files, more files, and another root.
    await writeFile(join(folder, file), "");
    for (let nth = 0; nth < 70; nth++) await writeFile(join(folder, ".codex/rules", `${nth}.rules`), "");
    markRepository(join(folder, "sub"));
    threads.load(helper);
    for (const one of [parent, helper]) {
      const { rules: found, project: seen } = await rules.load(await threads.of(one));
      expect(seen).toMatchObject({ root: folder, problem: null });
      expect(ruleFor(found, ["curl"])?.decision).toBe("forbidden");
      expect(ruleFor(found, ["make"])).toBeNull();
    }
    projects.set(folder, { level: "trusted", rules: before.digest });
    expect(ruleFor((await rules.load(await threads.of(parent))).rules, ["make"])?.decision).toBe("allow");
    threads.unload("a");
    threads.load(parent);
    expect((await threads.of(parent)).root).toBe(join(folder, "sub"));
  });

  it("are none where the project has none, or does not exist", async () => {
    const { store: rules } = await store();
    expect((await rules.load(await project({}))).project).toMatchObject({ digest: null, isTrusted: true });
    expect((await rules.load("/nonexistent/folder")).project).toMatchObject({ digest: null });
  });
});
