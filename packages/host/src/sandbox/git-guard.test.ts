import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { RepositoryStage } from "../../../../test/support/repository-stage.ts";
import { hasSandbox } from "../../../../test/support/sandbox-here.ts";

let stage: RepositoryStage;
let repository: string;
/** A file that is there if git has run the program of a command. */
let ran: string;

beforeEach(async () => {
  stage = await RepositoryStage.build();
  ({ repository } = stage);
  ran = join(stage.folder, "ran");
});

/** A configuration whose program `git status` runs. */
const evil = (): string =>
  `[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "touch ${ran}; false"\\n`;

/** Lays out a repository by hand, with a program that git status runs. */
const layOut = (path: string): string =>
  `rmdir ${path}/HEAD ${path}; mkdir -p ${path}/objects ${path}/refs; printf '${evil()}' > ${path}/config; ` +
  `echo 'ref: refs/heads/main' > ${path}/HEAD;`;

/** Git as the user runs it in a folder, which may be none of git's, or be broken. */
function userRunsGit(cwd: string): void {
  for (const args of [["status"], ["diff"], ["log", "-1"], ["add", "-n", "."]])
    try {
      stage.git(cwd, ...args);
    } catch {
      // The folder is no repository.
    }
}

/** Runs a script as every kind of command, the second one while the first one runs. */
async function asEveryCommand(script: string, more: Parameters<RepositoryStage["confined"]>[1]) {
  const notices: string[] = [];
  for (const gitWritable of [false, true]) {
    const first = await stage.confined(`(${script}) 2>&1; echo ready; read go; (${script}) 2>&1`, {
      ...more,
      gitWritable,
      meanwhile: async () => void (await stage.confined(script, { ...more, gitWritable: !gitWritable })),
    });
    notices.push(...first.notices);
  }
  return notices;
}

/** Adds a nested repository to the index of the stage's, as a link. */
async function addNested(name: string): Promise<string> {
  const nested = join(repository, name);
  await stage.makeRepository(nested);
  stage.git(repository, "-c", "advice.addEmbeddedRepo=false", "add", name);
  stage.git(repository, "commit", "-qm", "nested");
  return nested;
}

describe.runIf(hasSandbox)("what the user's git finds in a workspace", () => {
  it("[SANDBOX-12] is tried with a layout that git takes for a repository", async () => {
    const plain = join(stage.folder, "plain");
    await mkdir(plain);
    await stage.confined(layOut("sub/.git"), { cwd: plain });
    userRunsGit(join(plain, "sub"));
    expect(existsSync(ran)).toBe(true);
  });

  it("[SANDBOX-12] is no other configuration of a nested repository", async () => {
    const nested = await addNested("nested");
    await asEveryCommand(
      `printf '${evil()}' >> nested/.git/config; git -C nested config core.fsmonitor 'touch ${ran}; false'; ` +
        `mv nested/.git nested/x; mv nested y; rm -rf nested/.git`,
      { cwd: repository },
    );
    userRunsGit(repository);
    expect(existsSync(ran)).toBe(false);
    expect(await readFile(join(nested, ".git", "config"), "utf8")).not.toContain("fsmonitor");
    expect(stage.git(repository, "status", "--short")).toBe("");
  });

  it("[SANDBOX-12] is no repository in the folder of a submodule that is not checked out", async () => {
    const other = join(stage.folder, "other");
    await addNested("group/nested");
    stage.git(stage.folder, "clone", "-q", repository, other);
    expect(await readdir(join(other, "group", "nested"))).toEqual([]);
    await asEveryCommand(
      `${layOut("group/nested/.git")} mv group/nested x && ${layOut("group/nested/.git")}`,
      {
        cwd: other,
      },
    );
    userRunsGit(other);
    expect(existsSync(ran)).toBe(false);
    expect(await readdir(join(other, "group", "nested"))).toEqual([]);
  });

  it("[SANDBOX-12] is no repository in a writable folder above the workspace", async () => {
    const above = join(stage.folder, "above");
    const cwd = join(above, "between", "plain");
    await mkdir(cwd, { recursive: true });
    await asEveryCommand(`${layOut(`${above}/.git`)} ${layOut(`${above}/between/.git`)} ${layOut(".git")}`, {
      cwd,
      writableRoots: [above],
    });
    userRunsGit(cwd);
    expect(existsSync(ran)).toBe(false);
    expect(await readdir(above, { recursive: true })).toEqual(["between", "between/plain"]);
  });

  it("[SANDBOX-12] is no workspace below the top of a repository that became one of its own", async () => {
    const cwd = join(repository, "below");
    await mkdir(cwd);
    await writeFile(join(cwd, "file"), "");
    for (const roots of [[cwd], [repository]]) {
      await asEveryCommand(layOut("."), { cwd, roots });
      userRunsGit(cwd);
      expect(existsSync(ran)).toBe(false);
      expect(existsSync(join(cwd, "HEAD"))).toBe(false);
    }
    // The placeholder cannot be added to the repository.
    expect(stage.git(repository, "status", "--short", "-uall")).not.toContain("HEAD");
  });

  it("[SANDBOX-12] is no other configuration of a bare repository that is the workspace", async () => {
    const bare = join(stage.folder, "bare.git");
    stage.git(stage.folder, "clone", "-q", "--bare", repository, bare);
    await asEveryCommand(
      `printf '${evil()}' >> config; mkdir -p hooks; echo evil > hooks/pre-commit; mv hooks x`,
      {
        cwd: bare,
      },
    );
    expect(await readFile(join(bare, "config"), "utf8")).not.toContain("fsmonitor");
    expect(existsSync(join(bare, "hooks", "pre-commit"))).toBe(false);
  });

  it.each([
    ["there", true],
    ["not there", false],
  ])("[SANDBOX-12] is no other file that its configuration includes (%s)", async (_, isThere) => {
    stage.git(repository, "config", "include.path", "../shared/git.config");
    await mkdir(join(repository, "shared"));
    if (isThere) await writeFile(join(repository, "shared", "git.config"), "[user]\n\tname = Ann\n");
    await asEveryCommand(
      `mv shared x; mkdir -p shared; printf '${evil()}' > shared/git.config; printf '${evil()}' > x && mv x shared/git.config`,
      { cwd: repository },
    );
    userRunsGit(repository);
    expect(existsSync(ran)).toBe(false);
    expect(existsSync(join(repository, "shared", "git.config"))).toBe(isThere);
  });

  it("[SANDBOX-12] is no other program that its configuration names", async () => {
    await mkdir(join(repository, "tools"));
    await writeFile(join(repository, "tools", "clean.sh"), "exec cat\n");
    await writeFile(join(repository, ".gitattributes"), "*.txt filter=tidy\n");
    stage.git(repository, "config", "filter.tidy.clean", "sh tools/clean.sh");
    stage.git(repository, "config", "core.fsmonitor", "./missing/monitor.sh");
    const program = `printf '#!/bin/sh\\ntouch ${ran}; false\\n'`;
    await asEveryCommand(
      `${program} > tools/clean.sh; mv tools x; mkdir -p missing && ${program} > missing/monitor.sh && ` +
        "chmod +x missing/monitor.sh; echo two > a.txt",
      { cwd: repository },
    );
    userRunsGit(repository);
    expect(existsSync(ran)).toBe(false);
    expect((await readdir(repository)).sort()).toEqual([".git", ".gitattributes", "a.txt", "tools"]);
  });

  it("[SANDBOX-12] is no configuration of the user's own, where the workspace is their home", async () => {
    await asEveryCommand(
      `printf '${evil()}' > .gitconfig; mkdir -p .config/git && printf '${evil()}' > .config/git/config; mv .config x`,
      { cwd: stage.folder, roots: [stage.folder] },
    );
    userRunsGit(repository);
    expect(existsSync(ran)).toBe(false);
  });

  it("[SANDBOX-12] is no other configuration of a repository in another folder than .git", async () => {
    const cwd = join(stage.folder, "separate");
    await mkdir(cwd);
    stage.git(cwd, "init", "-q", "--separate-git-dir", join(cwd, ".repository"));
    await asEveryCommand(`printf '${evil()}' >> .repository/config; mv .repository x && mv x .repository`, {
      cwd,
    });
    userRunsGit(cwd);
    expect(existsSync(ran)).toBe(false);
  });

  it("[SANDBOX-12] is reported if a folder without objects of its own has become a repository", async () => {
    const cwd = join(stage.folder, "plain");
    await mkdir(cwd);
    const script = `echo 'ref: refs/heads/main' > HEAD; echo ${repository}/.git > commondir`;
    const { notices } = await stage.confined(script, { cwd });
    expect(notices).toEqual([expect.stringContaining(`${cwd} has become a git repository`)]);
  });

  it("[SANDBOX-12] is reported if a folder without a repository has become one", async () => {
    const cwd = join(stage.folder, "plain");
    await mkdir(cwd);
    const { notices } = await stage.confined(layOut("."), { cwd });
    expect(notices).toEqual([expect.stringContaining(`${cwd} has become a git repository`)]);
  });

  it("[SANDBOX-12] is reported if a command adds a nested repository to the index", async () => {
    const { notices } = await stage.confined(
      `git init -q nested && git -C nested -c user.name=A -c user.email=a@b commit -q --allow-empty -m x; git add .`,
    );
    expect(notices).toEqual([expect.stringContaining(join(repository, "nested"))]);
    const again = await stage.confined("git status");
    expect(again.notices).toEqual([]);
  });

  it("[SANDBOX-12] is no target of a link at a hook, at a setting or at the user's settings", async () => {
    const program = `printf '#!/bin/sh\\ntouch ${ran}\\n'`;
    await mkdir(join(repository, "tools"));
    await writeFile(join(repository, "tools", "hook"), "#!/bin/sh\n", { mode: 0o755 });
    await writeFile(join(repository, "tools", "gitconfig"), "");
    await mkdir(join(repository, ".git", "hooks"), { recursive: true });
    await symlink("../../tools/hook", join(repository, ".git", "hooks", "pre-commit"));
    await symlink(join(repository, "tools", "gitconfig"), join(stage.folder, ".gitconfig"));
    await asEveryCommand(
      `${program} > tools/hook; printf '${evil()}' > tools/gitconfig; mv tools x; rm -f tools/hook`,
      { cwd: repository },
    );
    userRunsGit(repository);
    stage.git(repository, "commit", "-q", "--allow-empty", "-m", "x");
    expect(existsSync(ran)).toBe(false);
  });

  it("[SANDBOX-12] is reported if a link that git follows leads elsewhere", async () => {
    await rename(join(repository, ".git"), join(stage.folder, "moved"));
    await symlink(join(stage.folder, "moved"), join(repository, ".git"));
    const { notices } = await stage.confined(`rm .git; ${layOut(".git")}`, { gitWritable: false });
    expect(notices).toEqual([expect.stringContaining(`${join(repository, ".git")} led to`)]);
  });

  it("[SANDBOX-12] is reported if a command adds more links than are protected, or links to nothing yet", async () => {
    const { notices } = await stage.confined(
      `for nth in $(seq 300); do echo "160000 ${"1".repeat(40)} 0\tlink-$nth"; done | git update-index --index-info`,
    );
    expect(notices).toEqual([expect.stringContaining("and 290 more")]);
  });

  it.each(["# a comment", "; a comment", ""])(
    "[SANDBOX-12] reads settings with quotes and comments (%j)",
    async (comment) => {
      const config = join(repository, ".git", "config");
      await writeFile(config, `${await readFile(config, "utf8")}[core]\n\thooksPath = "ho"oks ${comment}\n`);
      await asEveryCommand("mkdir -p hooks; echo evil > hooks/pre-commit", { cwd: repository });
      expect(existsSync(join(repository, "hooks", "pre-commit"))).toBe(false);
    },
  );
});
