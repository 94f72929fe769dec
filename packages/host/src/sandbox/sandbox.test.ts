import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxPolicy } from "@bobbin/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasSandbox } from "../../../../test/support/sandbox-here.ts";
import { nodePlatform } from "../platform/node.ts";
import type { Platform } from "../platform/platform.ts";
import { type ConfinedCommand, createSandbox, type Sandbox } from "./sandbox.ts";

const READ_ONLY: SandboxPolicy = { type: "readOnly", networkAccess: false };
/** Excludes /tmp, because the test's own folders are there. */
const WRITE: SandboxPolicy = {
  type: "workspaceWrite",
  writableRoots: [],
  networkAccess: false,
  excludeSlashTmp: true,
  excludeTmpdirEnvVar: true,
};

let folder: string;
let home: string;
let workspace: string;
let platform: Platform;
let sandbox: Sandbox;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "bobbin-sandbox-")));
  [home, workspace] = [join(folder, "home"), join(folder, "workspace")];
  await mkdir(home);
  await mkdir(workspace);
  await writeFile(join(home, "auth.json"), "secret");
  platform = nodePlatform();
  sandbox = createSandbox({ platform, home });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs a shell script in the sandbox. */
async function run(
  script: string,
  policy: SandboxPolicy,
  more: Partial<ConfinedCommand> & { env?: Record<string, string>; in?: Sandbox } = {},
): Promise<{ code: number | null; signal: string | null; output: string }> {
  const env = { PATH: process.env.PATH!, HOME: folder, ...more.env };
  const confined = await (more.in ?? sandbox).confine({
    program: { argv: ["/bin/sh", "-c", script], cwd: workspace, env, stdin: "closed" },
    policy,
    roots: [workspace],
    gitWritable: false,
    ...more,
  });
  if (confined.kind === "unavailable") throw new Error(confined.reason);
  const running = await platform.spawn(confined.program);
  let output = "";
  for await (const { bytes } of running.output) output += new TextDecoder().decode(bytes);
  const exit = await running.exited;
  await confined.release();
  return { ...exit, output };
}

describe.runIf(hasSandbox)("a folder that is exchanged for a link", () => {
  const read = "cat sub/.git/auth.json; echo evil > sub/.git/auth.json";

  /** Puts a link to the host's home in the place of a nested repository. */
  async function exchange(): Promise<void> {
    await rename(join(workspace, "sub", ".git"), join(workspace, "old"));
    await symlink(home, join(workspace, "sub", ".git"));
  }

  async function nested(): Promise<ConfinedCommand> {
    const cwd = join(workspace, "sub");
    await mkdir(join(cwd, ".git"), { recursive: true });
    await writeFile(join(cwd, ".git", "HEAD"), "ref: refs/heads/main\n");
    const program = {
      argv: ["/bin/sh", "-c", `cd ..; ${read}`] as const,
      cwd,
      env: { PATH: process.env.PATH! },
    };
    return {
      program: { ...program, stdin: "closed" },
      policy: WRITE,
      roots: [workspace],
      gitWritable: false,
    };
  }

  it.each([false, true])(
    "[SANDBOX-10] between the check and the mount shows nothing, git: %s",
    async (gitWritable) => {
      let exchanged = false;
      const hold = async (path: string) => {
        if (path.endsWith("/.git") && !exchanged) {
          exchanged = true;
          await exchange();
        }
        return platform.workspace.hold(path);
      };
      const racing = createSandbox({
        platform: { ...platform, workspace: { ...platform.workspace, hold } },
        home,
      });
      const { output } = await run("", WRITE, { ...(await nested()), gitWritable, in: racing });
      expect(exchanged).toBe(true);
      expect(output).not.toContain("secret");
      expect(await readFile(join(home, "auth.json"), "utf8")).toBe("secret");
    },
  );

  it.each([false, true])(
    "[SANDBOX-10] just before the mount ends the command, git: %s",
    async (gitWritable) => {
      const confined = await sandbox.confine({ ...(await nested()), gitWritable });
      if (confined.kind === "unavailable") throw new Error(confined.reason);
      await exchange();
      const running = await platform.spawn(confined.program);
      let output = "";
      for await (const { bytes } of running.output) output += new TextDecoder().decode(bytes);
      expect((await running.exited).code).not.toBe(0);
      await confined.release();
      expect(output).toMatch(/^bwrap: /);
      expect(output).not.toContain("secret");
      expect(await readFile(join(home, "auth.json"), "utf8")).toBe("secret");
    },
  );

  it("[SANDBOX-10] leaves no descriptor in the command, on pipes and on a terminal", async () => {
    await mkdir(join(workspace, ".git"));
    for (const tty of [undefined, { cols: 80, rows: 24 }]) {
      const program = {
        argv: [
          "/bin/sh",
          "-c",
          "for fd in /proc/self/fd/*; do readlink $fd; done; touch made; ls -d made",
        ] as const,
        cwd: workspace,
        env: { PATH: process.env.PATH! },
        stdin: "open" as const,
        tty,
      };
      const confined = await sandbox.confine({
        program,
        policy: WRITE,
        roots: [workspace],
        gitWritable: false,
      });
      if (confined.kind === "unavailable") throw new Error(confined.reason);
      const running = await platform.spawn(confined.program);
      let output = "";
      for await (const { bytes } of running.output) output += new TextDecoder().decode(bytes);
      await running.exited;
      await confined.release();
      expect(output).toContain("made");
      expect(output).not.toContain(folder);
    }
  });
});

describe.runIf(hasSandbox)("a confined command", () => {
  it("[SANDBOX-1] reads everything and writes nothing under read-only", async () => {
    await writeFile(join(workspace, "a.txt"), "old");
    const { output, code } = await run("cat a.txt; echo new > a.txt; touch b.txt /tmp/x", READ_ONLY);
    expect(code).not.toBe(0);
    expect(output).toMatch(/^old/);
    expect(output.match(/Read-only file system/g)).toHaveLength(3);
    expect(await readFile(join(workspace, "a.txt"), "utf8")).toBe("old");
  });

  it("[SANDBOX-3] runs where somebody has put a file or a link in the place of tmux's folder", async () => {
    const name = `tmux-${process.getuid?.()}`;
    const env = { ...platform.env, TMUX_TMPDIR: folder };
    const confining = createSandbox({ platform: { ...platform, env }, home });
    for (const target of ["/etc/hostname", "/etc", join(folder, "nowhere")]) {
      await symlink(target, join(folder, name));
      const { code } = await run("test -e /etc/passwd", WRITE, { in: confining });
      expect([target, code]).toEqual([target, 0]);
      await rm(join(folder, name));
    }
    await writeFile(join(folder, name), "");
    expect((await run("true", WRITE, { in: confining })).code).toBe(0);
    await rm(join(folder, name));
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, "socket"), "");
    expect((await run(`ls -A ${folder}/${name}`, WRITE, { in: confining })).output).toBe("");
  });

  it("[SANDBOX-1] writes to its workspace, and to nothing else, under workspace-write", async () => {
    const other = join(folder, "other");
    await mkdir(other);
    const { output } = await run(`echo new > a.txt; touch ${other}/b.txt`, WRITE);
    expect(output).toContain("Read-only file system");
    expect(await readFile(join(workspace, "a.txt"), "utf8")).toBe("new\n");
    expect(await readdir(other)).toEqual([]);
    await run(`touch ${other}/b.txt`, { ...WRITE, writableRoots: [other] });
    expect(await readdir(other)).toEqual(["b.txt"]);
  });

  it("writes temporary files unless that is excluded", async () => {
    const temporary = join(folder, "temporary");
    await mkdir(temporary);
    const named = createSandbox({
      platform: { ...platform, env: { ...platform.env, TMPDIR: temporary } },
      home,
    });
    const script = `touch ${temporary}/a && echo written; f=$(mktemp /tmp/bobbin-XXXXXX) && rm $f && echo made`;
    const policy = { ...WRITE, excludeSlashTmp: false, excludeTmpdirEnvVar: false };
    expect((await run(script, policy, { in: named })).output).toBe("written\nmade\n");
    const refused = await run(script, WRITE, { in: named });
    expect(refused.output).not.toMatch(/written|made/);
  });

  it("does not let a command name its own temporary folder", async () => {
    const [own, other] = [join(folder, "own"), join(folder, "other")];
    for (const path of [own, other]) await mkdir(path);
    const sandbox = createSandbox({ platform: { ...platform, env: { ...platform.env, TMPDIR: own } }, home });
    const policy = { ...WRITE, excludeTmpdirEnvVar: false };
    const { output } = await run(`touch ${other}/a`, policy, { env: { TMPDIR: other }, in: sandbox });
    expect(output).toContain("Read-only file system");
  });

  it("[SANDBOX-2] does not see the home of the host, but for what is made readable", async () => {
    const blobs = join(home, "threads", "t1");
    await mkdir(blobs, { recursive: true });
    await writeFile(join(blobs, "out.txt"), "all of it");
    const script = `ls -A ${home}; cat ${home}/auth.json ${blobs}/out.txt; touch ${home}/x ${blobs}/x`;
    for (const policy of [READ_ONLY, WRITE]) {
      const hidden = await run(script, policy, { roots: [] });
      expect(hidden.output).not.toMatch(/auth\.json\n|secret|all of it/);
      const shown = await run(script, policy, { roots: [], readable: [blobs] });
      expect(shown.output).toContain("threads\n");
      expect(shown.output).toContain("all of it");
      expect(shown.output).not.toContain("secret");
    }
    // Also if the workspace contains it.
    const around = await run(script, WRITE, { roots: [folder] });
    expect(around.output).not.toContain("secret");
    expect(await readdir(home)).toEqual(["auth.json", "sandbox-caches", "sandbox-masks", "threads"]);
    expect(await readdir(blobs)).toEqual(["out.txt"]);
  });

  it("has no capabilities, no way to new ones, and a filter", async () => {
    const { output } = await run(
      "grep -E '^(CapEff|CapPrm|NoNewPrivs|Seccomp):' /proc/self/status",
      READ_ONLY,
    );
    expect(output.replaceAll("\t", " ")).toBe(
      "CapPrm: 0000000000000000\nCapEff: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n",
    );
  });

  it("keeps the environment it is given, and none of it is used by the sandbox itself", async () => {
    const { output, code } = await run('echo "$GREETING"; env | grep -c LD_PRELOAD', READ_ONLY, {
      env: { GREETING: "hello\nworld", LD_PRELOAD: "/does/not/exist.so" },
    });
    expect(code).toBe(0);
    expect(output).toContain("hello\nworld\n");
    // One warning each from sh, env and grep: bubblewrap, which runs outside the sandbox, did not try to load the
    // library.
    expect(output.match(/cannot be preloaded/g)).toHaveLength(3);
  });

  it("protects what decides over later programs: .git and folders of settings", async () => {
    for (const name of [".git", ".codex", ".bobbin"]) await mkdir(join(workspace, name));
    const { output } = await run(
      "for f in .git .codex .bobbin; do touch $f/x; mv $f $f.old; rmdir $f; done; mkdir .agents && echo made",
      WRITE,
    );
    expect(output.match(/Read-only file system/g)).toHaveLength(3);
    expect(output).toContain("made");
    expect((await readdir(workspace)).sort()).toEqual([".agents", ".bobbin", ".codex", ".git"]);
  });

  it("stops counting a root that a command has exchanged for a link", async () => {
    const [nested, target] = [join(workspace, "nested"), join(folder, "target")];
    await mkdir(nested);
    await mkdir(target);
    const policy = { ...WRITE, writableRoots: [nested] };
    await run("touch nested/a", policy);
    await rename(nested, `${nested}.old`);
    await symlink(target, nested);
    for (const confining of [sandbox, createSandbox({ platform, home })])
      expect((await run("touch nested/b", policy, { in: confining })).output).toContain("Read-only");
    expect(await readdir(target)).toEqual([]);
  });

  it("follows a root that is a link in a folder which no command can write", async () => {
    const link = join(folder, "link");
    await symlink(workspace, link);
    const { code } = await run("touch a", WRITE, { roots: [link] });
    expect(code).toBe(0);
    expect(await readdir(workspace)).toEqual(["a"]);
  });

  it("installs into caches of its own, which no program outside uses", async () => {
    await mkdir(join(folder, ".cache", "browsers"), { recursive: true });
    await writeFile(join(folder, ".cache", "browsers", "one"), "found");
    const at = { ...platform, machine: { ...platform.machine, userHome: folder } };
    const confining = createSandbox({ platform: at, home });
    const script =
      'mkdir -p "$XDG_CACHE_HOME/tool" && touch "$XDG_CACHE_HOME/tool/a" && cat "$XDG_CACHE_HOME/browsers/one"; printenv CARGO_HOME || echo none';
    const off = await run(script, WRITE, { in: confining });
    expect(off.output).toBe("foundnone\n");
    const on = await run(script, { ...WRITE, networkAccess: true }, { in: confining });
    expect(on.output).toMatch(/^found.*\/sandbox-caches\/\w+\/files\/cargo\n$/);
    expect(await readdir(join(folder, ".cache"))).toEqual(["browsers"]);
  });

  it("installs a package with npm, without network", async () => {
    const library = join(workspace, "library");
    await mkdir(library);
    await writeFile(join(library, "package.json"), '{"name": "library", "version": "1.0.0"}');
    await writeFile(join(workspace, "package.json"), '{"name": "app", "version": "1.0.0"}');
    const script = "npm pack ./library && npm install --no-audit --no-fund ./library-1.0.0.tgz";
    const { code, output } = await run(script, WRITE);
    expect([code, await readdir(join(workspace, "node_modules"))], output).toEqual([
      0,
      expect.arrayContaining(["library"]),
    ]);
  });

  it("ends with everything that it started", async () => {
    const { output } = await run("sleep 1000 & echo $$; exit 3", READ_ONLY);
    expect(output).toMatch(/^\d+\n$/);
  });

  it("handles Ctrl-C itself, on a terminal that it finds set up", async () => {
    const perl = `perl -e '$SIG{INT} = sub { print "caught\\n"; exit 5 }; $| = 1; print "ready\\n"; sleep 1 for 1..60'`;
    const confined = await sandbox.confine({
      program: {
        argv: ["/bin/sh", "-c", `trap : INT; ${perl}; echo "after $?, $TERM"`],
        cwd: workspace,
        env: { PATH: process.env.PATH! },
        stdin: "open",
        tty: { cols: 80, rows: 24 },
      },
      policy: READ_ONLY,
      roots: [],
      gitWritable: false,
    });
    if (confined.kind === "unavailable") throw new Error(confined.reason);
    const running = await platform.spawn(confined.program);
    let output = "";
    for await (const { bytes } of running.output) {
      if (!output.includes("ready") && new TextDecoder().decode(bytes).includes("ready"))
        await running.write(Uint8Array.of(3));
      output += new TextDecoder().decode(bytes);
    }
    await confined.release();
    expect(output).toContain("caught\r\nafter 5, xterm-256color\r\n");
    expect(await running.exited).toEqual({ code: 0, signal: null });
  });

  it("is given back as it is under full access and in a sandbox of somebody else", async () => {
    const program = { argv: ["true"] as const, cwd: "/", env: {}, stdin: "closed" } as const;
    for (const policy of [
      { type: "dangerFullAccess" },
      { type: "externalSandbox", networkAccess: "restricted" },
    ] as const) {
      const confined = await sandbox.confine({ program, policy, roots: [], gitWritable: false });
      expect(confined).toMatchObject({ kind: "program", program });
    }
  });
});
