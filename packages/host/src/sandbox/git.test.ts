import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { POLICY, RepositoryStage } from "../../../../test/support/repository-stage.ts";
import { hasSandbox } from "../../../../test/support/sandbox-here.ts";
import { isPin } from "./placeholder-files.ts";
import { createSandbox } from "./sandbox.ts";

let stage: RepositoryStage;
let folder: string;
let repository: string;

beforeEach(async () => {
  stage = await RepositoryStage.build();
  ({ folder, repository } = stage);
});

const git = (cwd: string, ...args: readonly string[]): string => stage.git(cwd, ...args);
const confined: RepositoryStage["confined"] = (script, more) => stage.confined(script, more);

/** All files below a folder. */
async function filesBelow(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

const dotGit = (...names: readonly string[]): string => join(repository, ".git", ...names);

describe.runIf(hasSandbox)("git in the sandbox", () => {
  it("[SANDBOX-5] reads the repository in every command, and changes it in plain git commands only", async () => {
    await writeFile(join(repository, "b.txt"), "two\n");
    const refused = await confined("git status --short && git add b.txt", { gitWritable: false });
    expect(refused.output).toMatch(/^\?\? b\.txt\n/);
    expect(refused.output).toContain("Read-only file system");
    const done = await confined("git add b.txt && git commit -qm two && git log --format=%s");
    expect(done).toEqual({ code: 0, output: "two\none\n", notices: [] });
    expect(git(repository, "log", "--format=%s")).toBe("two\none\n");
  });

  it("adds, commits, stashes, switches, merges and adds worktrees", async () => {
    const script = `
      git switch -qc topic && echo two >> a.txt && git commit -qam two && git switch -q main &&
      git merge -q topic && echo three >> a.txt && git stash -q && git stash pop -q && git commit -qam three &&
      git worktree add -q tree topic && git -C tree log -1 --format=%s && git tag v1 && git gc -q && git fsck --no-dangling`;
    const { code, output } = await confined(script);
    expect([code, output]).toEqual([0, "two\n"]);
    expect(git(repository, "status", "--short")).toBe("?? tree/\n");
  });

  it("leaves nothing of its own in the repository, and works again", async () => {
    const before = (await readdir(dotGit())).sort();
    for (const script of ["git status", "git status"]) expect((await confined(script)).code).toBe(0);
    expect((await readdir(dotGit())).sort()).toEqual(before);
  });

  it("lets git outside go on while a confined one runs", async () => {
    const { code } = await confined("echo ready; read go", {
      meanwhile: async () => {
        expect(existsSync(dotGit("commondir"))).toBe(true);
        await writeFile(join(repository, "outside.txt"), "");
        git(repository, "add", "outside.txt");
        git(repository, "commit", "-qm", "outside");
      },
    });
    expect(code).toBe(0);
    expect(git(repository, "log", "-1", "--format=%s")).toBe("outside\n");
  });

  it("[SANDBOX-7] keeps a placeholder until the last of the commands that need it has ended, of all hosts", async () => {
    const other = createSandbox(stage);
    await confined("echo ready; read go", {
      meanwhile: async () => {
        await confined("git status", { in: other });
        await confined("git status");
        expect(existsSync(dotGit("commondir"))).toBe(true);
      },
    });
    expect(existsSync(dotGit("commondir"))).toBe(false);
  });

  it("[SANDBOX-7] removes placeholders of a host that died", async () => {
    // A host that died while it used a placeholder file: its lock is released.
    const dying = {
      ...stage.platform,
      liveness: { ...stage.platform.liveness, announce: async () => async () => {} },
    };
    const found = await createSandbox({ platform: dying, home: stage.home }).confine({
      program: { argv: ["true"], cwd: repository, env: {}, stdin: "closed" },
      policy: POLICY,
      roots: [repository],
      gitWritable: true,
    });
    expect(found.kind).toBe("program");
    expect(existsSync(dotGit("commondir"))).toBe(true);
    await createSandbox(stage).sweep();
    expect(existsSync(dotGit("commondir"))).toBe(false);
    expect((await readdir(join(stage.home, "sandbox-masks"))).filter((name) => name.length === 32)).toEqual(
      [],
    );
  });

  it("[SANDBOX-5] refuses the code that a git command runs to change which programs git runs", async () => {
    git(folder, "init", "-q", "sub");
    git(
      join(folder, "sub"),
      "-c",
      "user.name=A",
      "-c",
      "user.email=a@b",
      "commit",
      "-qm",
      "s",
      "--allow-empty",
    );
    git(
      repository,
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      join(folder, "sub"),
      "sub",
    );
    git(repository, "worktree", "add", "-q", join(folder, "tree"));
    await mkdir(join(repository, ".husky"));
    git(repository, "config", "core.hooksPath", ".husky");
    await writeFile(dotGit("hooks", "pre-commit"), "#!/bin/sh\n");
    await writeFile(dotGit("info", "attributes"), "");
    const attempts = [
      "echo evil > .git/hooks/post-checkout",
      "echo evil >> .git/hooks/pre-commit",
      "mv .git/hooks .git/old",
      "git config core.fsmonitor ./evil",
      "echo '[core]' > x && mv x .git/config",
      "rm -f .git/config",
      "echo ../evil > .git/commondir",
      "echo ../evil > x && mv x .git/commondir",
      "mv .git old",
      "echo evil >> .git/modules/sub/config",
      "echo evil > .git/modules/sub/hooks/post-checkout",
      "echo evil > .git/modules/sub/commondir",
      "echo evil > .git/worktrees/tree/commondir",
      "echo '* filter=evil' > .git/info/attributes",
      "echo evil > .husky/pre-commit",
    ];
    const script = attempts
      .map((attempt, at) => `(${attempt}) 2>/dev/null && echo "attempt ${at} worked"`)
      .join("\n");
    const { output, notices } = await confined(`${script}\ntrue`);
    expect([output, notices]).toEqual(["", []]);
  });

  it("[SANDBOX-6] reports what was changed although it was protected, and opens the repository no more", async () => {
    await writeFile(dotGit("hooks", "pre-commit"), "#!/bin/sh\n", { mode: 0o755 });
    const config = await readFile(dotGit("config"), "utf8");
    const { notices } = await confined(
      "echo ready; read go; echo evil > .git/hooks/post-checkout; echo evil >> .git/config",
      {
        // Renaming a file over a mount point removes the mount.
        meanwhile: async () => {
          await rename(dotGit("hooks"), dotGit("hooks.old"));
          await mkdir(dotGit("hooks"));
          await writeFile(dotGit("copy"), config);
          await rename(dotGit("copy"), dotGit("config"));
        },
      },
    );
    expect(notices).toHaveLength(1);
    for (const path of [dotGit("config"), dotGit("hooks", "post-checkout"), dotGit("hooks", "pre-commit")])
      expect(notices[0]).toContain(path);
    // The host itself changes nothing.
    expect(await readFile(dotGit("config"), "utf8")).toBe(`${config}evil\n`);
    expect(await readdir(dotGit("hooks"))).toEqual(["post-checkout"]);
    const { output } = await confined("touch .git/x");
    expect(output).toContain("Read-only file system");
  });

  it("[SANDBOX-6] writes and deletes nothing where a repository was exchanged for a link", async () => {
    const victim = join(folder, "victim");
    git(folder, "init", "-q", victim);
    await writeFile(join(victim, ".git", "hooks", "post-checkout"), "a hook of the user\n");
    const before = git(victim, "hash-object", ...(await filesBelow(victim)));
    const { notices } = await confined("echo ready; read go", {
      meanwhile: async () => {
        await rename(repository, join(folder, "away"));
        await symlink(victim, repository);
      },
    });
    expect(notices[0]).toContain(dotGit("hooks", "post-checkout"));
    expect(git(victim, "hash-object", ...(await filesBelow(victim)))).toBe(before);
  });

  it("[SANDBOX-6] reports that a hook becomes a link, although its content is the same", async () => {
    const hook = dotGit("hooks", "pre-commit");
    await writeFile(hook, "#!/bin/sh\n", { mode: 0o755 });
    const { notices } = await confined(
      "echo ready; read go; mv .git/hooks/pre-commit script && ln -s ../../script .git/hooks/pre-commit",
      {
        meanwhile: async () => {
          await rename(dotGit("hooks"), dotGit("hooks.old"));
          await mkdir(dotGit("hooks"));
          await writeFile(hook, "#!/bin/sh\n", { mode: 0o755 });
        },
      },
    );
    expect(notices[0]).toContain(hook);
  });

  it("[SANDBOX-10] lets no folder on the way to a protected file be renamed", async () => {
    await mkdir(dotGit("modules", "group", "sub"), { recursive: true });
    await writeFile(dotGit("modules", "group", "sub", "HEAD"), "ref: refs/heads/main\n");
    await writeFile(dotGit("modules", "group", "sub", "config"), "[core]\n");
    await writeFile(dotGit("info", "attributes"), "");
    const { output } = await confined(
      `for one in .git .git/info .git/modules .git/modules/group .git/modules/group/sub; do
        mv $one $one.old 2>/dev/null && echo "$one moved"
      done; touch .git/modules/group/x && echo written`,
    );
    expect(output).toBe("written\n");
  });

  it("[SANDBOX-6] does not open a repository with more hooks than it compares", async () => {
    await mkdir(dotGit("hooks"), { recursive: true });
    for (let nth = 0; nth < 257; nth++) await writeFile(dotGit("hooks", `hook-${nth}`), "");
    const { output } = await confined("git commit -q --allow-empty -m x");
    expect(output).toContain("Read-only file system");
  });

  it("[SANDBOX-11] keeps commands from making a repository at the root of a workspace that is none", async () => {
    const cwd = join(folder, "plain");
    await mkdir(cwd);
    const attempts =
      "git init -q 2>&1; mkdir .git; mv .git x; ln -s x .git; git init -q sub && echo made; echo ready; read go";
    for (const gitWritable of [false, true]) {
      const { output } = await confined(attempts, {
        cwd,
        gitWritable,
        // A second command finds the placeholder of the first one.
        meanwhile: async () => {
          expect((await readdir(join(cwd, ".git"))).filter((name) => !isPin(name))).toEqual([]);
          const second = await confined("touch .git/HEAD", { cwd, gitWritable });
          expect(second.output).toContain("Read-only file system");
          expect((await readdir(join(cwd, ".git"))).filter((name) => !isPin(name))).toEqual([]);
        },
      });
      expect(output).toContain("made");
      expect(await readdir(cwd)).toEqual(["sub"]);
    }
  });

  it("[SANDBOX-7] keeps a placeholder that a host with another home still needs", async () => {
    const cwd = join(folder, "plain");
    await mkdir(cwd);
    const home = join(folder, "home2");
    await mkdir(home);
    const other = createSandbox({ platform: stage.platform, home });
    const touched: string[] = [];
    // The second command begins while the first one runs, and goes on when that has ended.
    let second: Promise<unknown> | undefined;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    await confined("echo ready; read go", {
      cwd,
      meanwhile: () =>
        new Promise((begun) => {
          second = confined("echo ready; read go; touch .git/HEAD; mv .git x; touch .git", {
            cwd,
            in: other,
            meanwhile: async () => {
              begun();
              await ended;
              touched.push(...(await readdir(cwd)));
            },
          });
        }),
    });
    end();
    expect(await second).toMatchObject({ output: expect.stringContaining("Read-only file system") });
    expect(touched).toEqual([".git"]);
    expect(await readdir(cwd)).toEqual([]);
  });

  it("[SANDBOX-11] leaves an empty .git of the user where it is", async () => {
    const cwd = join(folder, "plain");
    await mkdir(join(cwd, ".git"), { recursive: true });
    const { output } = await confined("touch .git/HEAD", { cwd });
    expect(output).toContain("Read-only file system");
    expect(await readdir(cwd)).toEqual([".git"]);
  });

  it.each([
    [
      ".husky/_",
      ".husky/pre-commit",
      "echo evil > .husky/pre-commit; mkdir -p .husky/_ && echo evil > .husky/_/x",
    ],
    [
      "tools/hooks",
      "tools/hooks/pre-commit",
      "mkdir -p tools/hooks; echo evil > tools/hooks/pre-commit; mv tools t",
    ],
  ])(
    "[SANDBOX-11] keeps every command from changing hooks in %s, there or not",
    async (path, hook, script) => {
      git(repository, "config", "core.hooksPath", path);
      for (const gitWritable of [false, true]) {
        const { output } = await confined(`(${script}) 2>&1; git status --short; echo ready; read go`, {
          gitWritable,
          // A second command finds the placeholder of the first one.
          meanwhile: async () => void (await confined(script, { gitWritable })),
        });
        // No placeholder can be added to the repository.
        expect(output).not.toContain("?? ");
        expect(await readdir(repository)).toEqual([".git", "a.txt"]);
      }
      await mkdir(join(repository, path), { recursive: true });
      await writeFile(join(repository, hook), "mine\n");
      for (const gitWritable of [false, true]) {
        await confined(script, { gitWritable });
        expect(await readFile(join(repository, hook), "utf8")).toBe("mine\n");
        expect(existsSync(join(repository, path, "x"))).toBe(false);
      }
    },
  );

  it("works in a linked worktree, and in a submodule", async () => {
    git(repository, "worktree", "add", "-q", join(folder, "tree"));
    const tree = await confined("echo x > x.txt && git add . && git commit -qm tree", {
      cwd: join(folder, "tree"),
    });
    expect(tree.code).toBe(0);
    expect(git(repository, "log", "-1", "--format=%s", "tree")).toBe("tree\n");
    git(folder, "clone", "-q", repository, join(folder, "library"));
    git(
      repository,
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      join(folder, "library"),
      "sub",
    );
    const script = "git -c user.name=A -c user.email=a@b commit -q --allow-empty -m sub";
    const sub = await confined(script, { cwd: join(repository, "sub"), roots: [repository] });
    expect(sub).toMatchObject({ code: 0, notices: [] });
    expect(git(join(repository, "sub"), "log", "-1", "--format=%s")).toBe("sub\n");
  });

  it("does not open a repository that a .git file names and that does not lead back", async () => {
    const victim = join(folder, "victim");
    git(folder, "init", "-q", victim);
    for (const [name, text] of [
      ["direct", `gitdir: ${victim}/.git\n`],
      ["crafted", `gitdir: ${folder}/work/fake\n`],
    ] as const) {
      const work = join(folder, "work");
      await mkdir(join(work, name), { recursive: true });
      await mkdir(join(work, "fake"), { recursive: true });
      await writeFile(join(work, name, ".git"), text);
      // The folder that `.git` names does name this folder back, but claims another user's repository as its common
      // folder.
      await writeFile(join(work, "fake", "gitdir"), `${work}/${name}/.git\n`);
      await writeFile(join(work, "fake", "commondir"), `${victim}/.git\n`);
      const { output } = await confined(`touch ${victim}/.git/x`, { cwd: join(work, name), roots: [work] });
      expect(output).toContain("Read-only file system");
    }
  });

  it("does not open a repository outside of the workspace", async () => {
    await mkdir(join(repository, "below"));
    const { output } = await confined("git commit -q --allow-empty -m x", { cwd: join(repository, "below") });
    expect(output).toContain("Read-only file system");
  });

  it("protects the repository that a command runs in, also below the root of the workspace", async () => {
    const { output } = await confined("touch .git/hooks/x; mv .git y", {
      roots: [folder],
      gitWritable: false,
    });
    expect(output).toContain("Read-only file system");
    expect(output).toContain("busy");
  });
});
