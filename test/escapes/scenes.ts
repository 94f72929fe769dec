import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSandbox } from "../../packages/host/src/sandbox/sandbox.ts";
import { eventually } from "../support/eventually.ts";
import type { Attempt, Setting } from "./attempt.ts";
import { isServed, KNOCK } from "./listener-attempts.ts";
import { answersItself } from "./own-host.ts";
import { type Stage, workspaceWrite } from "./stage.ts";

const scene = (
  id: string,
  tries: string,
  setting: Setting,
  play: (stage: Stage) => Promise<boolean>,
): Attempt => ({
  id,
  tries,
  setting,
  how: { play },
});

/** Attempts that take more than one command, or somebody outside. */
export const SCENES: readonly Attempt[] = [
  scene(
    "exchange-root",
    "exchange a writable folder for a link between two commands",
    "workspace-write",
    async (stage) => {
      const root = join(stage.folder, "work", "nested");
      const policy = workspaceWrite({ writableRoots: [root] });
      await stage.confined("workspace-write", 'mkdir -p nested && mkdir -p "$WORK/nested"', { policy });
      await stage.confined("workspace-write", "touch nested/a", { policy });
      // In a command whose root is the workspace alone, the folder is not mounted and can be exchanged.
      await stage.confined("workspace-write", 'mv nested nested.old && ln -s "$OUTSIDE" nested');
      await stage.confined("workspace-write", "echo x > nested/exchanged", { policy });
      // The next host knows nothing of where it was.
      const sandbox = createSandbox({ platform: stage.platform, home: join(stage.folder, "home") });
      await stage.confined("workspace-write", "echo x > nested/exchanged", { policy, sandbox });
      return (await readdir(join(stage.folder, "outside"))).includes("exchanged");
    },
  ),
  scene(
    "home-in-workspace",
    "read the home of the host where the workspace is around it",
    "workspace-write",
    async (stage) => {
      const { output } = await stage.confined("workspace-write", 'cat "$HOST_HOME/auth.json"', {
        roots: [stage.folder],
      });
      return output.includes("secret");
    },
  ),
  scene(
    "temporary-folder",
    "name any folder as TMPDIR, to be able to write to it",
    "workspace-write",
    async (stage) => {
      const policy = workspaceWrite({ excludeTmpdirEnvVar: false });
      const env = { TMPDIR: stage.env.OUTSIDE! };
      const { code } = await stage.confined("workspace-write", 'echo x > "$OUTSIDE/temporary"', {
        policy,
        env,
      });
      return code === 0;
    },
  ),
  scene(
    "preload",
    "have a library loaded into the sandbox's own program (LD_PRELOAD)",
    "workspace-write",
    async (stage) => {
      const env = { LD_PRELOAD: join(stage.folder, "work", "missing.so") };
      const { output } = await stage.confined("workspace-write", "exec true", { env });
      // The loader complains once for sh and once for true. It would before, for the sandbox's own program.
      return (output.match(/cannot be preloaded/g) ?? []).length > 2;
    },
  ),
  scene(
    "library-path",
    "have other libraries loaded into it (LD_LIBRARY_PATH)",
    "workspace-write",
    async (stage) => {
      const libraries = join(stage.folder, "work", "libraries");
      await mkdir(libraries, { recursive: true });
      for (const name of ["libcap.so.2", "libselinux.so.1"])
        await writeFile(join(libraries, name), "no library");
      const { code, output } = await stage.confined("workspace-write", "echo started", {
        env: { LD_LIBRARY_PATH: libraries },
      });
      return code !== 0 || output !== "started\n";
    },
  ),
  scene(
    "own-sandbox-program",
    "put another program in place of the sandbox's, by PATH",
    "workspace-write",
    async (stage) => {
      const bin = join(stage.folder, "work", "bin");
      await mkdir(bin, { recursive: true });
      await writeFile(join(bin, "bwrap"), '#!/bin/sh\necho x > "$OUTSIDE/own"\n', { mode: 0o755 });
      const { code } = await stage.confined("workspace-write", 'bwrap; test -e "$OUTSIDE/own"', {
        env: { PATH: `${bin}:${stage.env.PATH}` },
      });
      return code === 0;
    },
  ),
  scene(
    "environment-arguments",
    "end the sandbox's arguments with a value of the environment",
    "workspace-write",
    async (stage) => {
      const env = { EVIL: "x\n--bind\n/\n/\n", "--bind": "/" };
      const { code } = await stage.confined("workspace-write", 'echo x > "$OUTSIDE/arguments"', { env });
      return code === 0;
    },
  ),
  scene("outlive-session", "leave a process behind in a session of its own", "workspace-write", (stage) =>
    outlives(stage, "setsid sleep 1234 & exit 0"),
  ),
  scene(
    "outlive-daemon",
    "leave a process behind that forked twice and ignores signals",
    "workspace-write",
    (stage) =>
      outlives(stage, "(trap '' HUP TERM INT; (setsid nohup sleep 1234 >/dev/null 2>&1 &) &) ; exit 0"),
  ),
  scene("outlive-kill", "go on when the sandbox's outer process is killed", "workspace-write", (stage) =>
    outlives(
      stage,
      "setsid sleep 1234 & echo ready; read go; sleep 1234",
      async (pid) => void process.kill(pid, "SIGKILL"),
    ),
  ),
  scene(
    "own-listener",
    "connect to the host that runs the command, to start programs and answer its own approval",
    "with network",
    (stage) => reachesOwnHost(stage, ""),
  ),
  scene(
    "own-listener-hidden",
    "the same from a process that keeps the host from seeing what it has open",
    "with network",
    (stage) =>
      reachesOwnHost(
        stage,
        `syscall(${process.arch === "arm64" ? 167 : 157}, 4, 0, 0, 0, 0) == 0 or die "prctl: $!";`,
      ),
  ),
  scene(
    "own-approval",
    "from a background terminal, start a program by process/spawn, and answer the question of its own thread",
    "with network",
    answersItself,
  ),
  scene(
    "terminal-input-tty",
    "type into the terminal that the command itself runs on",
    "workspace-write",
    async (stage) => {
      const script = `perl -e 'exit(ioctl(STDIN, 0x5412, "x") ? 0 : 1)' && echo typed`;
      return (await stage.confined("workspace-write", script, { tty: true })).output.includes("typed");
    },
  ),
  scene(
    "other-terminal",
    "type into the terminal of another command, by a descriptor of the host",
    "workspace-write",
    async (stage) => {
      const other = await stage.platform.spawn({
        argv: ["cat"],
        cwd: "/",
        env: { PATH: stage.env.PATH! },
        stdin: "open",
        tty: { cols: 80, rows: 24 },
      });
      const script = "ls -l /proc/self/fd; echo listed";
      try {
        const runs = [
          await stage.confined("workspace-write", script),
          await stage.confined("workspace-write", script, { tty: true }),
        ];
        return runs.some(({ output }) => !output.includes("listed") || output.includes("ptmx"));
      } finally {
        other.signal("SIGKILL");
        await other.exited;
        other.stopReading();
      }
    },
  ),
  scene(
    "git-detached",
    "write where a read-only mount came off, because somebody renamed a file over it, and go on unnoticed",
    "as a git command",
    async (stage) => {
      const git = join(stage.folder, "work", ".git");
      const config = await readFile(join(git, "config"), "utf8");
      const sandbox = createSandbox({ platform: stage.platform, home: join(stage.folder, "home") });
      const { notices } = await stage.confined(
        "as a git command",
        "echo ready; read go; echo evil > .git/hooks/post-checkout; echo evil >> .git/config",
        {
          sandbox,
          meanwhile: async () => {
            await rename(join(git, "hooks"), join(git, "hooks.old"));
            await mkdir(join(git, "hooks"), { mode: 0o777 });
            await writeFile(join(git, "copy"), config);
            await rename(join(git, "copy"), join(git, "config"));
            await stage.own();
          },
        },
      );
      const { code } = await stage.confined("as a git command", "touch .git/opened", { sandbox });
      await writeFile(join(git, "config"), config);
      await rm(join(git, "hooks"), { recursive: true });
      await rename(join(git, "hooks.old"), join(git, "hooks"));
      return code === 0 || !notices.some((notice) => notice.includes(join(git, "hooks", "post-checkout")));
    },
  ),
  scene(
    "git-folder-link",
    "exchange a folder of .git that contains protected files for a link",
    "as a git command",
    async (stage) => {
      const { code } = await stage.confined(
        "as a git command",
        'mv .git/modules/sub .git/modules/old && ln -s "$OUTSIDE" .git/modules/sub',
      );
      return code === 0;
    },
  ),
  scene(
    "git-renamed",
    "rename a repository below the workspace and leave a link to another folder, as a hook may",
    "as a git command",
    async (stage) => {
      const cwd = join(stage.folder, "work", "renamed");
      await stage.outside(`git init -q renamed`);
      const { code } = await stage.confined(
        "as a git command",
        'cd .. && mv renamed renamed.old && ln -s "$OUTSIDE" renamed',
        { cwd },
      );
      await rm(cwd, { recursive: true });
      return code === 0;
    },
  ),
  scene(
    "rename-on-the-way",
    "rename a folder between a writable folder and the workspace, or the home of the host",
    "workspace-write",
    async (stage) => {
      const outer = join(stage.folder, "outer");
      const root = join(outer, "a", "b", "project");
      const home = join(outer, "c", "home");
      for (const path of [join(root, ".git"), home]) await mkdir(path, { recursive: true });
      await writeFile(join(root, ".git", "HEAD"), "ref: refs/heads/main\n");
      await writeFile(join(home, "auth.json"), "secret");
      await stage.own();
      // Not mv, which copies where it cannot rename.
      const script = `cd ${outer}; for path in a a/b a/b/project a/b/project/.git c c/home; do
        perl -e 'rename($ARGV[0], "$ARGV[0].moved") and print "renamed\n"' $path; done; touch a/made || exit 1
        cat c.moved/home/auth.json c/home/auth.json`;
      const { output } = await stage.confined("workspace-write", script, {
        sandbox: createSandbox({ platform: stage.platform, home }),
        cwd: root,
        roots: [root],
        policy: workspaceWrite({ writableRoots: [outer] }),
      });
      await rm(outer, { recursive: true });
      return /secret|renamed/.test(output);
    },
  ),
  scene(
    "git-file",
    "have another repository opened by a .git file that names it",
    "as a git command",
    (stage) => opensOther(stage, "direct", (victim) => `gitdir: ${victim}/.git\n`),
  ),
  scene(
    "git-file-crafted",
    "the same by a forged repository that leads back and shares another's files",
    "as a git command",
    (stage) => opensOther(stage, "crafted", (_, work) => `gitdir: ${work}/fake\n`),
  ),
  scene(
    "git-link",
    "have another repository opened by a link named .git",
    "as a git command",
    async (stage) => {
      const folder = join(stage.folder, "work", "linked");
      await mkdir(folder);
      await symlink(join(stage.folder, "library", ".git"), join(folder, ".git"));
      const script = `touch "${stage.folder}/library/.git/opened"`;
      return (await stage.confined("as a git command", script, { cwd: folder })).code === 0;
    },
  ),
];

/** Whether a command gets a WebSocket of the host that runs it. The Perl code `first` is run before. */
const reachesOwnHost = (stage: Stage, first: string): Promise<boolean> =>
  isServed(stage, `${first} ${KNOCK}`, false);

/** Whether a process is left when a command has ended, and stays. */
async function outlives(
  stage: Stage,
  script: string,
  meanwhile?: (pid: number) => Promise<void>,
): Promise<boolean> {
  const mark = `${stage.env.MARK}-outlive`;
  await stage.confined("workspace-write", script, {
    env: { OUTLIVE: mark },
    ...(meanwhile && { meanwhile }),
  });
  const isGone = async (): Promise<boolean> => {
    const found = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const all = await Promise.all(found.map((id) => readFile(`/proc/${id}/environ`, "utf8").catch(() => "")));
    return !all.some((environment) => environment.includes(`OUTLIVE=${mark}`));
  };
  // The kernel ends them on its own time.
  await eventually(isGone, "no process is left");
  return false;
}

async function opensOther(
  stage: Stage,
  name: string,
  link: (victim: string, work: string) => string,
): Promise<boolean> {
  const victim = join(stage.folder, "library");
  const work = join(stage.folder, "work");
  await mkdir(join(work, name));
  await mkdir(join(work, "fake"), { recursive: true });
  await writeFile(join(work, name, ".git"), link(victim, work));
  await writeFile(join(work, "fake", "gitdir"), `${work}/${name}/.git\n`);
  await writeFile(join(work, "fake", "commondir"), `${victim}/.git\n`);
  const script = `touch "${victim}/.git/opened"`;
  return (await stage.confined("as a git command", script, { cwd: join(work, name) })).code === 0;
}
