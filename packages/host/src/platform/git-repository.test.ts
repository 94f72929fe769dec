import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../../../../test/support/folder.ts";
import { foldersFromRepositoryRoot, readDotGit } from "./git-repository.ts";
import { nodePlatform } from "./node.ts";

const { files } = nodePlatform();
const git = (cwd: string, ...args: readonly string[]): void => {
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
  execFileSync("git", [...who, ...args], { cwd, stdio: "ignore" });
};

it("finds repositories, worktrees and submodules, as git does", async () => {
  const folder = await freshFolder("repository");
  const [main, tree] = [join(folder, "main"), join(folder, "tree")];
  await mkdir(join(main, "deep", "er"), { recursive: true });
  git(main, "init", "-q");
  git(main, "commit", "-q", "--allow-empty", "-m", "first");
  git(main, "worktree", "add", "-q", tree);
  git(main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", main, "sub");
  for (const root of [main, tree, join(main, "sub")])
    expect(await readDotGit(files, root)).toMatchObject({
      head: expect.any(String),
      repository: { worktree: root },
    });
  expect((await readDotGit(files, folder))?.head).toBeUndefined();
  expect(await foldersFromRepositoryRoot(files, join(main, "deep", "er"))).toEqual([
    main,
    join(main, "deep"),
    join(main, "deep", "er"),
  ]);
});

it.each([
  ["an empty folder", (path: string) => mkdir(path)],
  ["a folder with something else", (path: string) => mkdir(join(path, "hooks"), { recursive: true })],
  ["an empty file", (path: string) => writeFile(path, "")],
  ["a file that names no folder", (path: string) => writeFile(path, "gitdir: ../nowhere\n")],
  ["a file that names a folder that is no repository", (path: string) => writeFile(path, "gitdir: ..\n")],
])("does not take a folder for a repository whose .git is %s", async (_, make) => {
  const folder = await freshFolder("repository");
  await mkdir(join(folder, "sub"));
  await make(join(folder, ".git"));
  expect((await readDotGit(files, folder))?.head).toBeUndefined();
  expect(await foldersFromRepositoryRoot(files, join(folder, "sub"))).toBeUndefined();
});
