import { describe, expect, it } from "vitest";
import { WorkspaceFactsReader } from "./workspace-facts.ts";

const sha = (digit: number): string => String(digit).repeat(40);

/** Fake files with version numbers as stamps, and a count of reads. */
function world(texts: Record<string, string>) {
  const files = new Map(Object.entries(texts));
  const versions = new Map<string, number>();
  let version = 1;
  let reads = 0;
  const exists = (path: string) =>
    [...files.keys()].some((one) => one === path || one.startsWith(`${path}/`));
  return {
    workspaceFacts: new WorkspaceFactsReader(
      {
        readText: async (path) => {
          reads++;
          return files.get(path);
        },
        exists: async (path) => exists(path),
        stamps: async (paths) => paths.map((path) => (exists(path) ? (versions.get(path) ?? 1) : 0)),
      },
      "/home",
    ),
    write(path: string, text: string): void {
      files.set(path, text);
      versions.set(path, ++version);
    },
    remove: (path: string) => files.delete(path),
    /** The number of files that `work` reads. */
    async reads(work: () => Promise<unknown>): Promise<number> {
      reads = 0;
      await work();
      return reads;
    },
  };
}

const repository = {
  "/work/.git/HEAD": "ref: refs/heads/main\n",
  "/work/.git/refs/heads/main": `${sha(1)}\n`,
  "/work/.git/config": '[remote "origin"]\n\turl = https://localhost/x.git\n',
  "/work/AGENTS.md": "Be brief.",
};

describe("what is around a folder", () => {
  it("is read again only if something has changed", async () => {
    const { workspaceFacts, reads } = world(repository);
    const look = () => workspaceFacts.read("/work/src");
    const first = await look();
    expect(first.gitInfo).toEqual({ sha: sha(1), branch: "main", originUrl: "https://localhost/x.git" });
    expect(first.docs).toEqual([{ path: "/work/AGENTS.md", text: "Be brief." }]);
    await look();
    expect(await reads(look)).toBe(0);
    expect(await look()).toMatchObject({ gitInfo: first.gitInfo, docs: first.docs });
  });

  it.each<[string, (files: ReturnType<typeof world>) => void, object]>([
    [
      "a changed text",
      (files) => files.write("/work/AGENTS.md", "Be long."),
      { docs: [{ text: "Be long." }] },
    ],
    [
      "a new file",
      (files) => files.write("/work/src/AGENTS.md", "Here."),
      { docs: [{ text: "Be brief." }, { text: "Here." }] },
    ],
    [
      "a file in the home",
      (files) => files.write("/home/AGENTS.md", "All."),
      { docs: [{ text: "All." }, {}] },
    ],
    ["a removed file", (files) => files.remove("/work/AGENTS.md"), { docs: [] }],
    ["a commit", (files) => files.write("/work/.git/refs/heads/main", sha(2)), { gitInfo: { sha: sha(2) } }],
    [
      "another branch",
      (files) => {
        files.write("/work/.git/refs/heads/next", sha(3));
        files.write("/work/.git/HEAD", "ref: refs/heads/next\n");
      },
      { gitInfo: { sha: sha(3), branch: "next" } },
    ],
    [
      "a repository below",
      (files) => files.write("/work/src/.git/HEAD", sha(4)),
      { gitInfo: { sha: sha(4), branch: null } },
    ],
  ])("shows %s the next time", async (_, change, shown) => {
    const files = world(repository);
    for (let time = 0; time < 3; time++) await files.workspaceFacts.read("/work/src");
    change(files);
    expect(await files.workspaceFacts.read("/work/src")).toMatchObject(shown);
    expect(await files.workspaceFacts.read("/work/src")).toMatchObject(shown);
  });

  it("is nothing where nothing is ours to look into", async () => {
    const refused = () => Promise.reject(Object.assign(new Error("EACCES"), { code: "EACCES" }));
    const workspaceFacts = new WorkspaceFactsReader(
      { readText: refused, exists: refused, stamps: refused },
      "/home",
    );
    for (let time = 0; time < 2; time++) {
      expect(await workspaceFacts.read("/secret")).toMatchObject({ gitInfo: null, docs: [] });
    }
  });

  it("is not remembered from a reading that something may have changed under", async () => {
    const files = world(repository);
    await files.workspaceFacts.read("/work");
    // The second read takes the stamps before the contents, so a change in between is seen by the third.
    const second = files.workspaceFacts.read("/work");
    files.write("/work/AGENTS.md", "Changed.");
    await second;
    expect((await files.workspaceFacts.read("/work")).docs).toMatchObject([{ text: "Changed." }]);
  });

  it("is no more than so many bytes of instructions, and no half of a character", async () => {
    const texts: Record<string, string> = { "/home/AGENTS.md": "abc", "/work/AGENTS.md": "äöü" };
    const files = {
      readText: async (path: string) => texts[path],
      exists: async () => false,
      stamps: async (paths: readonly string[]) => paths.map(() => 0),
    };
    const workspaceFacts = new WorkspaceFactsReader(files, "/home", () => ({
      maxBytes: 6,
      fallbackNames: [],
    }));
    expect((await workspaceFacts.read("/work")).docs.map(({ text }) => text)).toEqual(["abc", "ä"]);
  });
});
