// These tests run real git on real folders.
import { execFileSync } from "node:child_process";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { newThread } from "../../../../test/support/test-thread.ts";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { FilesBefore, TurnChanges } from "../core/turn/file-changes.ts";
import { pinoLog } from "../observe/log.ts";
import { Supervisor } from "../observe/supervise.ts";
import { nodePlatform } from "../platform/node.ts";
import type { Platform } from "../platform/platform.ts";
import { ProcessManager } from "../process/process-manager.ts";
import { ProcessMarks } from "../process/process-marks.ts";
import { createSandbox } from "../sandbox/sandbox.ts";
import { MemoryJournal } from "../store/memory/in-memory-journal.ts";
import { confinedGit } from "./confine-git.ts";
import { type ThreadStore, TurnFiles } from "./turn-files.ts";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

const log = pinoLog({ level: "silent", format: "text", write() {} });
const SIGNAL = new AbortController().signal;

/** A workspace, and the operations of a turn in it. */
class Stage {
  readonly work: string;
  readonly store: ThreadStore;
  readonly spawned: string[][] = [];
  readonly files: TurnFiles;
  readonly #before: FilesBefore[] = [];
  readonly #root: string;
  readonly #records: ThreadRecord[] = [];

  constructor(
    folder: string,
    root = "",
    change: (platform: Platform) => Partial<Platform> = () => ({}),
    isSubject = false,
    /** The folder with the home. */
    top = folder,
  ) {
    this.work = join(folder, "work");
    this.#root = join(this.work, root);
    const journal = new MemoryJournal();
    this.store = {
      keep: (name, bytes) => journal.keep(name, bytes),
      blob: (name) => journal.blob(name),
      blobs: (prefix) => journal.blobs(prefix),
      removeBlob: (name) => journal.removeBlob(name),
      folder: join(folder, "home", "thread"),
    };
    const real = nodePlatform();
    const platform = { ...real, ...change(real) };
    const spawn: typeof platform.spawn = (program) => {
      this.spawned.push([...program.argv]);
      return platform.spawn(program);
    };
    const processes = new ProcessManager({
      platform: { ...platform, spawn },
      supervisor: new Supervisor(log),
      marks: new ProcessMarks({ home: undefined, platform, log }),
    });
    const { workspace, files } = platform;
    const home = join(top, "home");
    const roots = isSubject ? [this.work] : null;
    const confineGit = confinedGit(createSandbox({ platform: real, home }), async () => roots);
    const view = files.within(async (path) => path === this.work || path.startsWith(`${this.work}/`));
    const filesOf = () => (isSubject ? view : files);
    this.files = new TurnFiles({ platform, processes, files, workspace, home, filesOf, confineGit });
  }

  static async at(root?: string): Promise<Stage> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "turn-files-")));
    folders.push(folder);
    await mkdir(join(folder, "work"));
    return new Stage(folder, root);
  }

  get thread(): ThreadState {
    const thread = newThread();
    const { work } = this;
    const turn = { changes: this.changes } as unknown as ThreadState["turn"];
    return { ...thread, turn, settings: { ...thread.settings, cwd: work, roots: [this.#root] } };
  }

  get changes(): TurnChanges {
    return { before: this.#before, ended: 1, shown: 0, digest: null, sent: 0 };
  }

  git(...args: readonly string[]): string {
    const identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"];
    const options = { cwd: this.work, encoding: "utf8" as const, stdio: "pipe" as const };
    return execFileSync("git", [...identity, ...args], options);
  }

  async put(path: string, text: string): Promise<void> {
    await mkdir(join(this.work, path, ".."), { recursive: true });
    await writeFile(join(this.work, path), text);
  }

  /** Runs a command that performs `act`. */
  async command(act: () => Promise<void>): Promise<void> {
    this.#before.push(await this.files.before(this.thread, this.store, "workspace", SIGNAL));
    await act();
  }

  /** Applies a patch that writes a file, or with null removes it. */
  async patch(path: string, text: string | null): Promise<void> {
    const whole = join(this.work, path);
    this.#before.push(await this.files.before(this.thread, this.store, [whole], SIGNAL));
    if (text === null) await rm(whole);
    else await this.put(path, text);
  }

  async diff(): Promise<string> {
    return (await this.files.diff(this.thread, this.store, this.changes, SIGNAL)).diff;
  }

  /** Ends the current turn and starts the next one. */
  async endTurn(): Promise<void> {
    const { trees } = await this.files.diff(this.thread, this.store, this.changes, SIGNAL);
    this.#records.push({ type: "turnStarted", turnId: "t", at: 0, input: [], outputSchema: null });
    for (const before of this.#before)
      this.#records.push({ type: "toolDispatched", turnId: "t", at: 0, callId: "c", again: true, before });
    this.#records.push({ type: "turnDiffed", turnId: "t", at: 0, upTo: 1, diff: null, digest: "", trees });
    this.#before.splice(0);
  }

  /** Restores the files to their state before all ended turns. */
  async restore({ force = false, allowed = true } = {}) {
    const options = { force, mayWrite: async () => allowed };
    const result = await this.files.restore(this.thread, this.store, this.#records, options, SIGNAL);
    const short = (path: string): string => path.replace(`${this.work}/`, "");
    return {
      restored: result.restored.map(short),
      removed: result.removed.map(short),
      failed: result.failed.map(
        ({ path, reason, canForce }) => `${short(path)}: ${reason}${canForce ? " (can be forced)" : ""}`,
      ),
    };
  }

  /** All files in `.git`, except those that git writes on read-only commands. */
  async state(): Promise<string> {
    const names = (await readdir(join(this.work, ".git"), { recursive: true })).sort();
    return [...names, await readFile(join(this.work, ".git", "index"), "latin1")].join("\n");
  }
}

async function repository(root?: string): Promise<Stage> {
  const stage = await Stage.at(root);
  stage.git("init", "-q");
  await stage.put("a.txt", "one\ntwo\nthree\n");
  await stage.put("sub/b.txt", "b\n");
  await stage.put(".gitignore", "*.log\n");
  stage.git("add", "-A");
  stage.git("commit", "-qm", "first");
  return stage;
}

describe("a turn in a repository", () => {
  it("[DIFF-3] shows what commands change, add, remove and rename, and leaves the repository as it was", async () => {
    const stage = await repository();
    await stage.put("dirty.txt", "not committed\n");
    const state = await stage.state();
    await stage.command(async () => {
      await stage.put("a.txt", "one\nTWO\nthree\n");
      await stage.put("new.txt", "new\n");
      await stage.put("ignored.log", "x\n");
      await rm(join(stage.work, "sub/b.txt"));
      await stage.put("moved.txt", await readFile(join(stage.work, "dirty.txt"), "utf8"));
      await rm(join(stage.work, "dirty.txt"));
    });
    const diff = await stage.diff();
    expect(diff).toContain("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n");
    expect(diff).toContain("+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n");
    expect(diff).toContain("deleted file mode 100644");
    expect(diff).toContain("rename from dirty.txt\nrename to moved.txt\n");
    expect(diff).not.toContain("ignored.log");
    expect(diff).not.toContain("# ");
    expect(await stage.state()).toBe(state);
  });

  it("[DIFF-3] shows nothing of what was changed before it", async () => {
    const stage = await repository();
    await stage.put("a.txt", "one\ntwo\nthree\nfour\n");
    await stage.command(async () => {});
    expect(await stage.diff()).toBe("");
  });

  it("[DIFF-3] shows patches and commands together, each file once, from before the first of them", async () => {
    const stage = await repository();
    await stage.patch("a.txt", "one\npatched\nthree\n");
    await stage.patch("early.log", "ignored, and patched\n");
    await stage.command(() => stage.put("a.txt", "one\npatched\nchanged\n"));
    await stage.command(() => stage.put("sub/b.txt", "by a command\n"));
    await stage.patch("sub/b.txt", "by a patch\n");
    await stage.patch("late.log", "ignored, and patched\n");
    const diff = await stage.diff();
    expect(diff.match(/^diff --git .*$/gm)!.sort()).toEqual([
      "diff --git a/a.txt b/a.txt",
      "diff --git a/early.log b/early.log",
      "diff --git a/late.log b/late.log",
      "diff --git a/sub/b.txt b/sub/b.txt",
    ]);
    expect(diff).toContain("\n one\n-two\n-three\n+patched\n+changed\n");
    expect(diff).toContain("\n-b\n+by a patch\n");
  });

  it("[DIFF-3] names files from the repository's top, and shows only the workspace's folder", async () => {
    const stage = await repository("sub");
    await stage.command(async () => {
      await stage.put("sub/b.txt", "B\n");
      await stage.put("a.txt", "outside\n");
    });
    const diff = await stage.diff();
    expect(diff).toContain("diff --git a/sub/b.txt b/sub/b.txt");
    expect(diff).not.toContain("a.txt");
  });

  it("[DIFF-3] works in a worktree, in a repository without commits, and in the middle of a merge", async () => {
    const stage = await repository();
    stage.git("worktree", "add", "-q", "../tree");
    const tree = new Stage(join(stage.work, ".."), "../tree");
    await tree.command(() => tree.put("../tree/a.txt", "in the worktree\n"));
    expect(await tree.diff()).toContain("+in the worktree\n");

    const empty = await Stage.at();
    empty.git("init", "-q");
    await empty.put("old.txt", "old\n");
    await empty.command(() => empty.put("old.txt", "new\n"));
    expect(await empty.diff()).toContain("-old\n+new\n");

    stage.git("checkout", "-qb", "other");
    await stage.put("a.txt", "theirs\n");
    stage.git("commit", "-qam", "theirs");
    stage.git("checkout", "-q", "-");
    await stage.put("a.txt", "ours\n");
    stage.git("commit", "-qam", "ours");
    expect(() => stage.git("merge", "-q", "other")).toThrow();
    await stage.command(() => stage.put("a.txt", "merged\n"));
    expect(await stage.diff()).toContain("+merged\n");
  });

  it("[DIFF-4] runs nothing that the repository names", async () => {
    const stage = await repository();
    const ran = join(stage.work, "..", "ran");
    const program = join(stage.work, "..", "program.sh");
    await writeFile(program, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat\n`);
    await chmod(program, 0o755);
    for (const key of [
      "core.fsmonitor",
      "filter.f.clean",
      "filter.f.smudge",
      "filter.f.process",
      "diff.d.command",
      "diff.d.textconv",
      "diff.external",
      "core.pager",
      "core.sshCommand",
    ])
      stage.git("config", key, program);
    await stage.put(".gitattributes", "* filter=f diff=d\n");
    await mkdir(join(stage.work, ".git", "hooks"), { recursive: true });
    await writeFile(
      join(stage.work, ".git", "hooks", "post-index-change"),
      `#!/bin/sh\necho hook >> ${ran}\n`,
      { mode: 0o755 },
    );
    await stage.command(() => stage.put("a.txt", "changed\n"));
    expect(await stage.diff()).toContain("+changed\n");
    await expect(readFile(ran, "utf8")).rejects.toThrow("ENOENT");
    // With the repository's own configuration the program would have run.
    stage.git("status");
    expect(await readFile(ran, "utf8")).toContain("program.sh");
  });

  it("[DIFF-4] does not follow a `.git` that leads to somebody else's repository", async () => {
    const other = await repository();
    await other.put("secret.txt", "secret\n");
    other.git("add", "-A");
    const stage = await Stage.at();
    await stage.put(".git", `gitdir: ${join(other.work, ".git")}\n`);
    await stage.put("a.txt", "1\n");
    await stage.command(() => stage.put("a.txt", "2\n"));
    const diff = await stage.diff();
    expect(diff).toContain("-1\n+2\n");
    expect(diff).not.toContain("secret");
  });

  it("[DIFF-5] leaves out files that are too large, and says so", async () => {
    const stage = await repository();
    await stage.command(async () => {
      await stage.put("huge.bin", "x".repeat(9 * 1024 * 1024));
      await stage.put("a.txt", "small\n");
    });
    const diff = await stage.diff();
    expect(diff).toContain("+small\n");
    expect(diff).toContain("# Not in this diff: huge.bin: it is larger than");
  });

  it("[DIFF-5] leaves out a file that cannot be read, and says so", async () => {
    const { work } = await repository();
    const stage = new Stage(join(work, ".."), "", ({ files }) => ({
      files: Object.assign(Object.create(files) as typeof files, {
        openRead: async (path: string) => {
          if (path.endsWith("secret.txt")) throw Object.assign(new Error("no"), { code: "EACCES" });
          return files.openRead(path);
        },
      }),
    }));
    await stage.put("secret.txt", "secret\n");
    await stage.command(() => stage.put("a.txt", "changed\n"));
    const diff = await stage.diff();
    expect(diff).toContain("+changed\n");
    expect(diff).toContain("# Not in this diff: secret.txt: it cannot be read");
  });

  it("[DIFF-5] is cut where it is too long, and says so", async () => {
    const stage = await repository();
    await stage.command(() => stage.put("long.txt", "a line\n".repeat(100_000)));
    const diff = await stage.diff();
    expect(diff.length).toBeLessThan(300 * 1024);
    expect(diff).toContain("# The diff is cut here");
  });

  it("[DIFF-7] shows a subject what commands changed in its roots", async () => {
    const { work } = await repository();
    const stage = new Stage(join(work, ".."), "", undefined, true);
    await stage.command(() => stage.put("a.txt", "one\nTWO\nthree\n"));
    expect(await stage.diff()).toContain("-two\n+TWO\n");
    await stage.endTurn();
    expect(await stage.restore()).toEqual({ restored: ["a.txt"], removed: [], failed: [] });
  });

  it("[DIFF-7] shows what commands changed where the workspace is in the home of the host", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "turn-files-")));
    folders.push(folder);
    const stage = new Stage(join(folder, "home"), "", undefined, false, folder);
    await stage.put("a.txt", "old\n");
    stage.git("init", "-q");
    await stage.command(() => stage.put("a.txt", "new\n"));
    expect(await stage.diff()).toContain("-old\n+new\n");
  });

  it.each([true, false])(
    "[DIFF-7] shows a subject nothing of another repository that a link in .git leads to: %s",
    async (isSubject) => {
      const { work } = await repository();
      const stage = new Stage(join(work, ".."), "", undefined, isSubject);
      const other = join(work, "..", "other");
      stage.git("init", "-q", other);
      await writeFile(join(other, "secret.txt"), "the secret\n");
      const id = stage.git("-C", other, "hash-object", "-w", "secret.txt").trim();
      stage.git("update-ref", "refs/remotes/origin/main", "HEAD");
      // The index names the other repository's file, and git does not look whether it is there.
      stage.git("update-index", "--add", "--cacheinfo", `100644,${id},x.txt`);
      stage.git("update-index", "--skip-worktree", "x.txt");
      const objects = join(work, ".git", "objects", id.slice(0, 2));
      await rm(objects, { recursive: true, force: true });
      await symlink(join(other, ".git", "objects", id.slice(0, 2)), objects);
      const store = join(work, "..", "home", "tmp");
      const shown = await stage.files.diffToRemote("ann", work, store, SIGNAL).then(
        ({ diff }) => diff,
        (cause: Error) => cause.message,
      );
      if (isSubject) expect(shown).not.toContain("the secret");
      // The host's own user may read it.
      else expect(shown).toContain("+the secret");
    },
  );

  it("[DIFF-5] gives git so much time and no more, and leaves a repository alone that took it", async () => {
    const { work } = await repository();
    const folder = join(work, "..");
    await mkdir(join(folder, "bin"));
    await writeFile(join(folder, "bin", "git"), "#!/bin/sh\nexec sleep 1000\n", { mode: 0o755 });
    const stage = new Stage(folder, "", ({ timers, env }) => ({
      env: { ...env, PATH: `${join(folder, "bin")}:${env["PATH"]}` },
      timers: { ...timers, after: (ms, run) => timers.after(ms === 5000 ? 1 : ms, run) },
    }));
    await stage.command(() => stage.put("a.txt", "changed\n"));
    await stage.command(() => stage.put("a.txt", "changed again\n"));
    expect(await stage.diff()).toMatch(
      /^# Not in this diff: what commands change in .*: git took longer than 5 s\n$/,
    );
    expect(stage.spawned).toHaveLength(1);
  });

  it("[DIFF-5] gives up when the new files are too many to look at in time", async () => {
    const { work } = await repository();
    let now = 0;
    const stage = new Stage(join(work, ".."), "", ({ clock, files }) => ({
      clock: { ...clock, monotonic: () => now },
      files: Object.assign(Object.create(files) as typeof files, {
        openRead: (path: string) => {
          if (path.includes("/new/")) now += 1000;
          return files.openRead(path);
        },
      }),
    }));
    for (let nth = 0; nth < 40; nth++) await stage.put(`new/${nth}.txt`, "");
    await stage.command(() => stage.put("a.txt", "changed\n"));
    expect(await stage.diff()).toMatch(
      /^# Not in this diff: .*: looking at 40 new or changed files took longer/,
    );
    expect(stage.spawned).toHaveLength(1);
  });

  it("[DIFF-5] says why it cannot show what commands changed", async () => {
    const stage = await repository();
    // A file is where the store's folder should be, so nothing can be written.
    await mkdir(join(stage.work, "..", "home"));
    await writeFile(join(stage.work, "..", "home", "thread"), "");
    await stage.command(() => stage.put("a.txt", "changed\n"));
    expect(await stage.diff()).toContain("# Not in this diff: what commands change in ");
    expect(stage.spawned).toEqual([]);
  });
});

describe("a turn outside of a repository", () => {
  it("[DIFF-3] shows what patches changed, and runs no git", async () => {
    const stage = await Stage.at();
    await stage.put("a.txt", "1\n");
    await stage.command(() => stage.put("b.txt", "by a command\n"));
    await stage.patch("a.txt", "2\n");
    const diff = await stage.diff();
    expect(diff).toContain("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+2\n");
    expect(diff).not.toContain("b.txt b/b.txt");
    expect(stage.spawned).toEqual([]);
  });

  it("[DIFF-3] takes an empty folder `.git` for none", async () => {
    const stage = await Stage.at();
    await mkdir(join(stage.work, "..", ".git"));
    await stage.command(() => stage.put("b.txt", "by a command\n"));
    expect(await stage.diff()).toBe("");
    expect(stage.spawned).toEqual([]);
  });
});

describe("restoring files to before a turn", () => {
  const text = (stage: Stage, path: string): Promise<string> => readFile(join(stage.work, path), "utf8");

  it("[UNDO-1] undoes what commands and patches of several turns did, and leaves everything else alone", async () => {
    const stage = await repository();
    await stage.put("mine.txt", "mine\n");
    await chmod(join(stage.work, ".gitignore"), 0o600);
    await chmod(join(stage.work, "a.txt"), 0o755);
    await stage.patch("patched.txt", "new\n");
    await stage.command(async () => {
      await stage.put("a.txt", "changed\n");
      await stage.put(".gitignore", "*.log\nchanged\n");
      await stage.put("ignored.log", "x\n");
      await stage.put("deep/er/new.txt", "new\n");
      await rm(join(stage.work, "sub/b.txt"));
    });
    await stage.endTurn();
    await stage.put("mine.txt", "changed by hand between the turns\n");
    await stage.patch("a.txt", "changed again\n");
    await stage.command(() => stage.put("patched.txt", "and again\n"));
    await stage.endTurn();
    const state = await stage.state();
    expect(await stage.restore()).toEqual({
      restored: [".gitignore", "a.txt", "sub/b.txt"],
      removed: ["deep/er/new.txt", "patched.txt"],
      failed: [],
    });
    expect(await text(stage, "a.txt")).toBe("one\ntwo\nthree\n");
    expect((await stat(join(stage.work, "a.txt"))).mode & 0o777).toBe(0o755);
    expect((await stat(join(stage.work, ".gitignore"))).mode & 0o777).toBe(0o600);
    expect(await text(stage, "sub/b.txt")).toBe("b\n");
    expect(await text(stage, "mine.txt")).toBe("changed by hand between the turns\n");
    expect(await text(stage, "ignored.log")).toBe("x\n");
    expect(await stage.state()).toBe(state);
    // A second restore has nothing left to do.
    expect(await stage.restore()).toEqual({ restored: [], removed: [], failed: [] });
  });

  it("[UNDO-2] does not overwrite what was changed since, unless it is forced to", async () => {
    const stage = await repository();
    await stage.command(async () => {
      await stage.put("a.txt", "by the turn\n");
      await stage.put("new.txt", "by the turn\n");
    });
    await stage.endTurn();
    await stage.put("a.txt", "by hand\n");
    await rm(join(stage.work, "new.txt"));
    const refused = await stage.restore();
    expect(refused).toEqual({
      restored: [],
      removed: [],
      failed: ["a.txt: it was changed since (can be forced)"],
    });
    expect(await text(stage, "a.txt")).toBe("by hand\n");
    expect((await stage.restore({ force: true })).restored).toEqual(["a.txt"]);
    expect(await text(stage, "a.txt")).toBe("one\ntwo\nthree\n");
  });

  it("[UNDO-1] gives files with other line ends back as they were", async () => {
    const stage = await repository();
    await stage.put(".gitattributes", "*.txt text eol=crlf\n");
    await stage.put("a.txt", "one\r\ntwo\r\n");
    stage.git("add", "-A");
    stage.git("commit", "-qm", "windows");
    await stage.command(() => stage.put("a.txt", "changed\r\n"));
    await stage.endTurn();
    expect((await stage.restore()).restored).toEqual(["a.txt"]);
    expect(await text(stage, "a.txt")).toBe("one\r\ntwo\r\n");
  });

  it("[UNDO-3] writes nothing outside of the workspace's folders, nor where the owner may not", async () => {
    const stage = await repository();
    const outside = join(stage.work, "..", "outside.txt");
    await writeFile(outside, "old\n");
    await stage.patch("../outside.txt", "new\n");
    await stage.command(() => stage.put("a.txt", "changed\n"));
    await stage.endTurn();
    expect((await stage.restore({ allowed: false })).restored).toEqual([]);
    expect(await text(stage, "a.txt")).toBe("changed\n");
    expect(await stage.restore()).toEqual({
      restored: ["a.txt"],
      removed: [],
      failed: [`${outside}: it is outside the workspace`],
    });
    expect(await readFile(outside, "utf8")).toBe("new\n");
  });

  it("[UNDO-3] writes nothing to protected folders, wherever they are, even if it is forced to", async () => {
    const stage = await repository();
    const paths = [
      ".codex/config.toml",
      ".agents/skills/a/SKILL.md",
      "sub/.bobbin/rules",
      ".Codex/hooks.json",
    ];
    for (const path of paths) await stage.put(path, "planted\n");
    stage.git("add", "-A");
    await stage.patch(".codex/config.toml", "approved\n");
    await stage.command(async () => {
      for (const path of paths.slice(1)) await stage.put(path, "the user's\n");
      await stage.put(".agents/new.md", "the user's\n");
      await stage.put("a.txt", "changed\n");
    });
    await stage.endTurn();
    const { restored, removed, failed } = await stage.restore({ force: true });
    expect(restored).toEqual(["a.txt"]);
    expect(removed).toEqual([]);
    expect(failed).toEqual([
      ".Codex/hooks.json: nothing is restored in .Codex",
      ".agents/new.md: nothing is restored in .agents",
      ".agents/skills/a/SKILL.md: nothing is restored in .agents",
      ".codex/config.toml: nothing is restored in .codex",
      "sub/.bobbin/rules: nothing is restored in .bobbin",
    ]);
    expect(await text(stage, ".codex/config.toml")).toBe("approved\n");
    for (const path of paths.slice(1)) expect(await text(stage, path), path).toBe("the user's\n");
  });

  it("[UNDO-3] writes nothing to the home of the host, even if the workspace is around it", async () => {
    const stage = await Stage.at("..");
    const config = join(stage.work, "..", "home", "config.toml");
    await mkdir(join(config, ".."));
    await writeFile(config, "planted\n");
    await stage.put("a.txt", "old\n");
    await stage.patch("../home/config.toml", "the user's\n");
    await stage.patch("a.txt", "new\n");
    await stage.endTurn();
    expect(await stage.restore({ force: true })).toEqual({
      restored: ["a.txt"],
      removed: [],
      failed: [`${config}: it is in the home of the host`],
    });
    expect(await readFile(config, "utf8")).toBe("the user's\n");
  });

  it("[UNDO-3] does not follow a link to a protected folder or the home", async () => {
    const stage = await repository();
    const home = join(stage.work, "..", "home");
    await mkdir(join(stage.work, ".codex"), { recursive: true });
    await stage.put("one/config.toml", "planted\n");
    await stage.put("two/config.toml", "planted\n");
    await stage.command(async () => {
      for (const name of ["one", "two"]) await rm(join(stage.work, name), { recursive: true });
    });
    await stage.endTurn();
    for (const folder of [join(stage.work, ".codex"), home])
      await writeFile(join(folder, "config.toml"), "the user's\n");
    await symlink(".codex", join(stage.work, "one"));
    await symlink(home, join(stage.work, "two"));
    const { restored, failed } = await stage.restore({ force: true });
    expect(restored).toEqual([]);
    expect(failed).toHaveLength(2);
    for (const folder of [join(stage.work, ".codex"), home])
      expect(await readFile(join(folder, "config.toml"), "utf8")).toBe("the user's\n");
  });

  it("[UNDO-3] does not follow a link that leads out of the workspace", async () => {
    const stage = await repository();
    await stage.command(() => stage.put("sub/b.txt", "changed\n"));
    await stage.endTurn();
    const outside = join(stage.work, "..", "elsewhere");
    await mkdir(outside);
    await writeFile(join(outside, "b.txt"), "changed\n");
    await rm(join(stage.work, "sub"), { recursive: true });
    await symlink(outside, join(stage.work, "sub"));
    const { restored, failed } = await stage.restore({ force: true });
    expect(restored).toEqual([]);
    expect(failed).toHaveLength(1);
    expect(await readFile(join(outside, "b.txt"), "utf8")).toBe("changed\n");
  });

  it("[UNDO-3] does not write through a link that replaced a file or a folder", async () => {
    const stage = await repository();
    await stage.put("other/b.txt", "other\n");
    await stage.command(async () => {
      await rm(join(stage.work, "a.txt"));
      await symlink("other/b.txt", join(stage.work, "a.txt"));
      await rm(join(stage.work, "sub"), { recursive: true });
      await symlink("other", join(stage.work, "sub"));
    });
    await stage.endTurn();
    expect(await stage.restore()).toEqual({
      restored: ["a.txt", "sub/b.txt"],
      removed: ["sub"],
      failed: [],
    });
    expect((await lstat(join(stage.work, "a.txt"))).isFile()).toBe(true);
    expect(await text(stage, "a.txt")).toBe("one\ntwo\nthree\n");
    expect(await text(stage, "sub/b.txt")).toBe("b\n");
    expect(await text(stage, "other/b.txt")).toBe("other\n");
  });

  it("[UNDO-3] does not write through a link that replaced a patched file since", async () => {
    const stage = await Stage.at();
    await stage.put("a.txt", "old\n");
    await stage.put("mine.txt", "new\n");
    await stage.patch("a.txt", "new\n");
    await stage.endTurn();
    await rm(join(stage.work, "a.txt"));
    await symlink("mine.txt", join(stage.work, "a.txt"));
    expect(await stage.restore({ force: true })).toEqual({
      restored: [],
      removed: [],
      failed: [`a.txt: a symlink leads from it to ${join(stage.work, "mine.txt")}`],
    });
    expect(await text(stage, "mine.txt")).toBe("new\n");
  });

  it("[UNDO-1] removes links that commands made, wherever they lead", async () => {
    const stage = await repository();
    await stage.command(async () => {
      await symlink("a.txt", join(stage.work, "to-file"));
      await symlink("sub", join(stage.work, "to-folder"));
      await symlink("nowhere", join(stage.work, "to-nothing"));
    });
    await stage.endTurn();
    expect(await stage.restore()).toEqual({
      restored: [],
      removed: ["to-file", "to-folder", "to-nothing"],
      failed: [],
    });
    expect((await readdir(stage.work)).sort()).toEqual([".git", ".gitignore", "a.txt", "sub"]);
    expect(await text(stage, "sub/b.txt")).toBe("b\n");
  });

  it("[UNDO-2] does not remove what git ignored before the turn, even if it is forced to", async () => {
    const stage = await repository();
    await stage.put("sub/.gitignore", "/vendor/\n");
    await stage.put("mine.log", "mine\n");
    await stage.put("sub/vendor/lib.js", "mine\n");
    await stage.command(async () => {
      await rm(join(stage.work, ".gitignore"));
      await stage.put("sub/.gitignore", "");
      await stage.put("new.txt", "new\n");
    });
    await stage.endTurn();
    const reason = "git ignored it before the turn, so it may be older";
    expect(await stage.restore({ force: true })).toEqual({
      restored: [".gitignore", "sub/.gitignore"],
      removed: ["new.txt"],
      failed: [`mine.log: ${reason}`, `sub/vendor/lib.js: ${reason}`],
    });
    expect(await text(stage, "mine.log")).toBe("mine\n");
    expect(await text(stage, "sub/vendor/lib.js")).toBe("mine\n");
  });

  it("[UNDO-4] says which files were too large to be saved, and leaves them as they are", async () => {
    const stage = await repository();
    const large = "x".repeat(9 * 1024 * 1024);
    for (const path of ["a.txt", "removed.bin", "untouched.bin"]) await stage.put(path, large);
    await stage.command(async () => {
      await stage.put("a.txt", "short\n");
      await rm(join(stage.work, "removed.bin"));
      await stage.put("sub/b.txt", "changed\n");
    });
    const [shown, ...rest] = (await stage.diff()).split("# Not in this diff: ");
    expect(shown).toMatch(/^diff --git a\/sub\/b\.txt/);
    expect(shown!.split("diff --git")).toHaveLength(2);
    expect(rest.join("")).toContain("a.txt: it is larger than");
    await stage.endTurn();
    const reason = "it was not saved, because it was too large or could not be read";
    expect(await stage.restore({ force: true })).toEqual({
      restored: ["sub/b.txt"],
      removed: [],
      failed: [`a.txt: ${reason}`, `removed.bin: ${reason}`],
    });
    expect(await text(stage, "a.txt")).toBe("short\n");
  });

  it("[UNDO-2] overwrites a file that became too large to compare only if it is forced to", async () => {
    const stage = await repository();
    await stage.command(() => stage.put("a.txt", "x".repeat(9 * 1024 * 1024)));
    expect(await stage.diff()).toMatch(/^# Not in this diff: a.txt: it is larger/);
    await stage.endTurn();
    expect((await stage.restore()).failed).toEqual([expect.stringContaining("a.txt: ")]);
    expect((await stage.restore({ force: true })).restored).toEqual(["a.txt"]);
    expect(await text(stage, "a.txt")).toBe("one\ntwo\nthree\n");
  });

  it("[UNDO-4] says what cannot be restored because it was not saved, or is gone", async () => {
    const stage = await repository();
    await stage.patch("a.txt", "patched\n");
    await stage.command(() => stage.put("sub/b.txt", "changed\n"));
    await stage.endTurn();
    await rm(join(stage.work, "..", "home", "thread"), { recursive: true });
    const { restored, failed } = await stage.restore();
    expect(restored).toEqual(["a.txt"]);
    expect(failed).toEqual([expect.stringContaining(stage.work)]);
  });
});
