// Workspaces of every layout, for random steps of a model: what is in them, around them, and what must never appear.
import { execFileSync } from "node:child_process";
import { lstat, mkdir, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";

export const LAYOUTS = [
  "none",
  "repository",
  "below a repository",
  "worktree",
  "submodule",
  "nested",
  "bare",
  "below a writable folder",
  "beside the home",
] as const;
export type Layout = (typeof LAYOUTS)[number];

/** A workspace, and the folders that its commands may write to. */
export interface Workspace {
  readonly cwd: string;
  readonly writable: readonly string[];
  /** What is removed after the case. */
  readonly folder: string;
  /** Where the user runs git afterwards. */
  readonly repositories: readonly string[];
}

/** A text in the home of the host, which no command can read. */
export const HOME_CANARY = "canary-of-the-home";
/** A text outside of all workspaces, which no command of a subject can read. */
export const OUTSIDE_CANARY = "canary-outside";

/** The folders around all workspaces. */
export class World {
  readonly base: string;
  /** Both have a home of a host in it. */
  readonly rooted: string;
  readonly home: string;
  readonly outside: string;
  /** The folder of the subject's workspaces. */
  readonly subjects: string;
  readonly #user: string;
  #count = 0;

  private constructor(base: string) {
    this.base = base;
    this.rooted = join(base, "rooted");
    this.home = join(this.rooted, "home");
    this.outside = join(base, "outside");
    this.subjects = join(base, "subject");
    this.#user = join(base, "user");
  }

  static async build(base: string): Promise<World> {
    const world = new World(base);
    for (const folder of [world.home, world.outside, world.subjects, world.#user])
      await mkdir(folder, { recursive: true });
    await writeFile(join(world.outside, "secret.txt"), OUTSIDE_CANARY);
    await mkdir(join(world.outside, "deep", "er"), { recursive: true });
    await writeFile(join(world.outside, "deep", "er", "f"), "old\n");
    await writeFile(
      join(world.#user, ".gitconfig"),
      '[user]\n\tname = Ann\n\temail = ann@example.org\n[protocol "file"]\n\tallow = always\n[advice]\n\taddEmbeddedRepo = false\n',
    );
    world.#repository(join(world.outside, "victim"));
    return world;
  }

  /** The variables of the host and of the user's programs. */
  get env(): Readonly<Record<string, string>> {
    return { HOME: this.#user, GIT_CONFIG_NOSYSTEM: "1" };
  }

  get ran(): string {
    return join(this.outside, "ran");
  }

  /** Git as the user runs it, which may fail. */
  git(cwd: string, ...args: readonly string[]): string {
    const env = { ...process.env, ...this.env };
    try {
      return execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    } catch (cause) {
      return String((cause as { stderr?: string }).stderr);
    }
  }

  #repository(path: string): void {
    execFileSync("mkdir", ["-p", path]);
    execFileSync("sh", ["-c", "mkdir -p a/b && echo one > a/b/f && echo one > f"], { cwd: path });
    this.git(path, "init", "-q", "-b", "main");
    this.git(path, "add", ".");
    this.git(path, "commit", "-qm", "one");
  }

  async workspace(layout: Layout, isSubject: boolean): Promise<Workspace> {
    const parent =
      layout === "beside the home" && !isSubject ? this.rooted : isSubject ? this.subjects : this.base;
    const folder = join(parent, `case-${++this.#count}`);
    const cwd = join(folder, "work");
    await mkdir(folder);
    const one = (at: string, writable: readonly string[] = []): Workspace => ({
      cwd: at,
      writable: isSubject ? [this.subjects] : [at, ...writable],
      folder,
      repositories: [at],
    });
    switch (layout) {
      case "none":
        await mkdir(cwd);
        await writeFile(join(cwd, "f"), "one\n");
        return one(cwd);
      case "repository":
        this.#repository(cwd);
        return one(cwd);
      case "below a repository":
        this.#repository(cwd);
        return one(join(cwd, "a"));
      case "worktree":
        this.#repository(join(folder, "main"));
        this.git(join(folder, "main"), "worktree", "add", "-q", cwd);
        return one(cwd);
      case "submodule":
        this.#repository(join(folder, "library"));
        this.#repository(cwd);
        this.git(cwd, "submodule", "--quiet", "add", join(folder, "library"), "sub");
        this.git(cwd, "commit", "-qm", "sub");
        return { ...one(join(cwd, "sub")), repositories: [cwd, join(cwd, "sub")] };
      case "nested":
        this.#repository(cwd);
        this.#repository(join(cwd, "nested"));
        this.git(cwd, "add", ".");
        this.git(cwd, "commit", "-qm", "nested");
        return { ...one(cwd), repositories: [cwd, join(cwd, "nested")] };
      case "bare":
        this.#repository(join(folder, "origin"));
        this.git(folder, "clone", "-q", "--bare", join(folder, "origin"), cwd);
        return one(cwd);
      case "below a writable folder":
        await mkdir(join(folder, "between", "work"), { recursive: true });
        return one(join(folder, "between", "work"), isSubject ? [] : [folder]);
      case "beside the home":
        await mkdir(cwd);
        return one(cwd, isSubject ? [] : [this.rooted]);
    }
  }

  /** All that is outside of a workspace's writable folders: types, modes, contents. */
  async around({ writable, folder }: Workspace): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const walk = async (path: string): Promise<void> => {
      // What the host itself writes. Its settings are looked at.
      if (path === this.home) return void found.set(path, await readFile(join(path, "config.toml"), "utf8"));
      const isWritable = writable.some((root) => `${path}/`.startsWith(`${root}/`));
      if (isWritable && path !== this.rooted) return;
      // What git itself changes when it commits in a worktree or a submodule.
      if (path.startsWith(folder) && OWN_OF_GIT.test(relative(folder, path))) return;
      const stats = await lstat(path);
      if (stats.isDirectory()) {
        found.set(path, `folder ${stats.mode}`);
        for (const name of await readdir(path)) await walk(join(path, name));
      } else if (stats.isSymbolicLink()) found.set(path, `link ${await readlink(path)}`);
      else found.set(path, `file ${stats.mode} ${await readFile(path, "latin1")}`);
    };
    await walk(this.base);
    return found;
  }

  async remove({ folder }: Workspace): Promise<void> {
    await rm(folder, { recursive: true, force: true });
  }
}

const OWN_OF_GIT =
  /(^|\/)\.git\/(.*\/)?(objects|refs|logs|index|index\.lock|HEAD|HEAD\.lock|ORIG_HEAD|COMMIT_EDITMSG|packed-refs|AUTO_MERGE|gc\.log|gc\.pid|FETCH_HEAD|sharedindex\..*|worktrees|worktrees\/(?!work(\/|$)).*)$/;
