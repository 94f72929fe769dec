import { access, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { noAuth, type ToolServer } from "@bobbin/rap";
import { folderData } from "@bobbin/rap/node";
import { describe, expect, it } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { freshFolder } from "../../test/support/folder.ts";
import { RapWorld } from "../../test/support/rap-world.ts";
import { createWorkspaceServer } from "./server.ts";
import { git } from "./worktree.ts";

async function repositoryOf(): Promise<string> {
  const repository = await freshFolder("repository");
  await git(repository, "init", "--quiet", "--initial-branch=main");
  await writeFile(join(repository, "README.md"), "hello\n");
  await git(repository, "add", ".");
  await git(repository, "commit", "--quiet", "-m", "First");
  return repository;
}

interface Setup {
  readonly world: RapWorld;
  readonly repository: string;
  readonly root: string;
  readonly make: () => ToolServer;
}

async function setUp(limits: object = {}): Promise<Setup> {
  const world = new RapWorld();
  const [repository, root] = [await repositoryOf(), await freshFolder("rap")];
  const make = (): ToolServer =>
    createWorkspaceServer({
      auth: noAuth,
      data: folderData(root),
      repository,
      platform: world.platform,
      log: (entry) => world.logs.push(entry),
      limits,
    });
  return { world, repository, root, make };
}

let calls = 0;
async function use(
  { world }: Setup,
  server: ToolServer,
  tool: string,
  args: object,
  thread = "thread_1",
): Promise<string> {
  const { text } = await world.result(server, tool, args, { id: `call_${++calls}`, thread });
  return text!;
}

const worktrees = async ({ repository }: Setup): Promise<number> =>
  (await git(repository, "worktree", "list", "--porcelain"))
    .split("\n")
    .filter((line) => line.startsWith("worktree ")).length - 1;

const kept = async ({ repository }: Setup): Promise<string[]> =>
  (await git(repository, "for-each-ref", "--format=%(refname)", "refs/kept")).split("\n").filter(Boolean);

describe("a workspace", () => {
  it("belongs to one thread, and its changes are shown", async () => {
    const here = await setUp();
    const server = here.make();
    await use(here, server, "write_file", { path: "src/a.txt", text: "of one\n" }, "one");
    await use(here, server, "write_file", { path: "src/a.txt", text: "of two\n" }, "two");
    expect(await use(here, server, "read_file", { path: "src/a.txt" }, "one")).toBe("of one\n");
    expect(await use(here, server, "read_file", { path: "README.md" }, "two")).toBe("hello\n");
    expect(await use(here, server, "show_changes", {}, "two")).toContain("+of two");
    expect(await use(here, server, "run", { program: "git", args: ["status", "--short"] }, "one")).toMatch(
      /src\//,
    );
    expect(await readdir(here.repository)).toEqual([".git", "README.md"]);
    const views = here.world.posts.map(({ message }) => message).filter(({ type }) => type === "view_update");
    expect(views).toMatchObject([
      { group_id: "one", view_type: "diff", content: { patch: expect.stringContaining("+of one") } },
      { group_id: "two" },
      { group_id: "one" },
    ]);
  });

  it("is removed when its thread is closed, and uncommitted work is saved", async () => {
    const here = await setUp();
    const server = here.make();
    await use(here, server, "read_file", { path: "README.md" }, "clean");
    await use(here, server, "write_file", { path: "README.md", text: "changed\n" }, "dirty");
    await use(here, server, "write_file", { path: "new.txt", text: "new\n" }, "dirty");
    expect(await worktrees(here)).toBe(2);
    for (const thread_id of ["clean", "dirty"]) await here.world.post(server, "/close_thread", { thread_id });
    await eventually(async () => (await worktrees(here)) === 0, "both trees go");
    await eventually(async () => (await readdir(join(here.root, "threads"))).length === 0, "both folders go");
    const refs = await kept(here);
    expect(refs).toHaveLength(1);
    expect(await git(here.repository, "show", `${refs[0]}:README.md`)).toBe("changed\n");
    expect(await git(here.repository, "show", `${refs[0]}:new.txt`)).toBe("new\n");
    expect(here.world.logs).toMatchObject([
      { says: "work of a closed thread was saved", thread: "dirty", kept: refs[0] },
    ]);
  });

  it("keeps commits that are in no branch", async () => {
    const here = await setUp();
    const server = here.make();
    await use(here, server, "write_file", { path: "new.txt", text: "new\n" });
    await use(here, server, "run", { program: "git", args: ["add", "."] });
    const identity = ["-c", "user.name=x", "-c", "user.email=x@localhost"];
    await use(here, server, "run", { program: "git", args: [...identity, "commit", "-m", "Mine"] });
    await here.world.post(server, "/close_thread", { thread_id: "thread_1" });
    await eventually(async () => (await kept(here)).length === 1, "it is kept");
    const [ref] = await kept(here);
    expect(await git(here.repository, "log", "-1", "--format=%s", ref!)).toBe("Mine\n");
  });

  it("is removed when its thread expires, and is found again until then", async () => {
    const here = await setUp({ threadTtlMs: 3_600_000 });
    const first = here.make();
    await use(here, first, "write_file", { path: "new.txt", text: "new\n" });
    await first.close();
    expect(await worktrees(here)).toBe(1);
    const server = here.make();
    expect(await use(here, server, "read_file", { path: "new.txt" })).toBe("new\n");
    await here.world.advance(3_700_000);
    await eventually(async () => (await worktrees(here)) === 0, "the tree goes");
    expect(await kept(here)).toHaveLength(1);
    expect(await use(here, server, "read_file", { path: "new.txt" })).toMatch(/^Error: There is no file/);
  });

  it("is moved aside if its work cannot be saved in the repository", async () => {
    const here = await setUp();
    const server = here.make();
    await use(here, server, "write_file", { path: "precious.txt", text: "mine\n" });
    await writeFile(join(here.repository, ".git", "refs", "kept"), "in the way");
    await here.world.post(server, "/close_thread", { thread_id: "thread_1" });
    const aside = join(here.root, "aside");
    await eventually(() => here.world.logs.length === 2, "it is told");
    const [name] = await readdir(aside);
    expect(await readFile(join(aside, name!, "tree", "precious.txt"), "utf8")).toBe("mine\n");
    expect(here.world.logs[1]).toMatchObject({
      says: "the folder of a closed thread was set aside, because its hook failed",
      path: join(aside, name!),
    });
  });

  it("cannot be escaped by a path or a symlink, whatever the id of the thread", async () => {
    const here = await setUp();
    const server = here.make();
    const outside = await freshFolder("outside");
    await writeFile(join(outside, "secret"), "secret");
    await use(here, server, "write_file", { path: "a.txt", text: "x" }, "../../evil");
    const [folder] = await readdir(join(here.root, "threads"));
    const tree = join(here.root, "threads", folder!, "tree");
    await symlink(outside, join(tree, "link"));
    await symlink(join(outside, "missing"), join(tree, "dangling"));
    await mkdir(join(tree, "deep"));
    const paths = [
      "../x",
      "/etc/passwd",
      "link/secret",
      "link/new",
      "deep/../../../x",
      ".",
      "..",
      "a\0b",
      ".git",
      "dangling",
    ];
    for (const path of paths) {
      const read = await use(here, server, "read_file", { path }, "../../evil");
      const write = await use(here, server, "write_file", { path, text: "owned" }, "../../evil");
      expect([path, read, write]).toEqual([
        path,
        expect.stringMatching(/^Error/),
        expect.stringMatching(/^Error/),
      ]);
    }
    expect(await readdir(outside)).toEqual(["secret"]);
    await expect(access(join(dirname(tree), "x"))).rejects.toThrow();
  });

  it("ends a program when its call is cancelled", async () => {
    const here = await setUp();
    const server = here.make();
    const sign = join(here.root, "running");
    const wait = [
      "-e",
      `require("fs").writeFileSync(${JSON.stringify(sign)}, ""); setInterval(() => {}, 1000)`,
    ];
    await here.world.call(server, "run", { program: process.execPath, args: wait }, { id: "long" });
    await eventually(async () => (await readdir(here.root)).includes("running"), "it has begun");
    await here.world.post(server, "/cancel_tool_call", { thread_id: "thread_1", tool_call_id: "long" });
    expect((await here.world.next("tool_result")).text).toBe("Error: The call was cancelled.");
  });
});
