import { expect, it } from "vitest";
import { readGitInfo } from "./git-info.ts";

const SHA = "0123456789abcdef0123456789abcdef01234567";

/** What is read of a repository with these files in `.git`. */
function infoOf(files: Readonly<Record<string, string>>) {
  const texts = new Map(Object.entries(files).map(([name, text]) => [`/work/.git/${name}`, text]));
  return readGitInfo(
    {
      readText: async (path) => texts.get(path),
      exists: async (path) => path === "/work/.git" || texts.has(path),
      realPath: async (path) => path,
    },
    "/work",
  );
}

const config = (url: string): string => `[core]\n[remote "origin"]\n\turl = ${url}\n`;

it.each([
  ["https://ann:secret@example.org/a.git", "https://example.org/a.git"],
  ["https://ghp_token@example.org/a.git", "https://example.org/a.git"],
  ["https://ann:p@ss@example.org/a@b.git", "https://example.org/a@b.git"],
  ["https://example.org/a.git", "https://example.org/a.git"],
  ["git@example.org:a.git", "git@example.org:a.git"],
  ["ssh://git@example.org/a.git", "ssh://git@example.org/a.git"],
])("[LIFE-4] has the origin %s without a password or token", async (url, originUrl) => {
  const head = "ref: refs/heads/main";
  const info = await infoOf({ HEAD: head, "refs/heads/main": `${SHA}\n`, config: config(url) });
  expect(info).toEqual({ sha: SHA, branch: "main", originUrl });
});

it.each([
  ["a reference", { HEAD: "ref: refs/heads/main", "refs/heads/main": "a secret" }],
  ["HEAD", { HEAD: "a secret" }],
])("[LIFE-4] has no commit if %s does not name one", async (_, files) => {
  expect((await infoOf(files))?.sha).toBeNull();
});
