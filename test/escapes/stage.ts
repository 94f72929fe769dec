import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { SandboxPolicy } from "@bobbin/protocol";
import { pinoLog } from "../../packages/host/src/observe/log.ts";
import { Supervisor } from "../../packages/host/src/observe/supervise.ts";
import { nodePlatform } from "../../packages/host/src/platform/node.ts";
import type { ByteStream, Dial, Platform, ProgramStart } from "../../packages/host/src/platform/platform.ts";
import { CommandNetwork } from "../../packages/host/src/sandbox/network/command-network.ts";
import { createSandbox, type Sandbox } from "../../packages/host/src/sandbox/sandbox.ts";
import type { Setting } from "./attempt.ts";

const POLICIES: Readonly<Record<Setting, { readonly policy: SandboxPolicy; readonly gitWritable: boolean }>> =
  {
    "read-only": { policy: { type: "readOnly", networkAccess: false }, gitWritable: false },
    "workspace-write": { policy: workspaceWrite({}), gitWritable: false },
    "with network": { policy: workspaceWrite({ networkAccess: true }), gitWritable: false },
    "network by host": { policy: workspaceWrite({ networkAccess: true }), gitWritable: false },
    "as a git command": { policy: workspaceWrite({}), gitWritable: true },
  };

/** Without /tmp, where the stage is. */
export function workspaceWrite(
  more: Partial<Extract<SandboxPolicy, { type: "workspaceWrite" }>>,
): Extract<SandboxPolicy, { type: "workspaceWrite" }> {
  return {
    type: "workspaceWrite",
    writableRoots: [],
    networkAccess: false,
    excludeSlashTmp: true,
    excludeTmpdirEnvVar: true,
    ...more,
  };
}

/** How the proxy of a command with the network by host behaves. Every host that may be allowed is allowed. */
export interface ProxyBehaviour {
  /** Hosts that are listed themselves. */
  readonly listed?: readonly string[];
  readonly dial?: Dial;
}

export interface Ran {
  readonly code: number | null;
  readonly output: string;
  readonly notices: readonly string[];
}

interface RunOptions {
  readonly policy?: SandboxPolicy;
  readonly gitWritable?: boolean;
  readonly roots?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly sandbox?: Sandbox;
  /** On a terminal. */
  readonly tty?: boolean;
  /** Runs when the script has printed "ready", which then reads a line. */
  readonly meanwhile?: (pid: number) => Promise<void>;
  readonly proxy?: ProxyBehaviour;
}

/** A workspace, a world around it that is worth breaking into, and a sandbox between them, all of one user. */
export class Stage {
  readonly folder: string;
  readonly uid: number;
  readonly env: Readonly<Record<string, string>>;
  readonly platform: Platform;
  readonly sandbox: Sandbox;
  readonly #byHost: Sandbox;
  #world: ChildProcess | undefined;

  private constructor(
    folder: string,
    uid: number,
    platform: Platform,
    env: Readonly<Record<string, string>>,
  ) {
    this.folder = folder;
    this.uid = uid;
    this.platform = platform;
    this.env = env;
    const ports = { platform, home: join(folder, "home") };
    this.sandbox = createSandbox(ports);
    this.#byHost = createSandbox({ ...ports, networkHosts: () => ({ domains: [], socks: true }) });
  }

  static async build(uid: number): Promise<Stage> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "bobbin-escapes-")));
    const at = (...names: readonly string[]): string => join(folder, ...names);
    const mark = folder.split("/").at(-1)!;
    await chmod(folder, 0o755);
    const folders = [
      "work/.codex",
      "outside",
      "home",
      "sockets",
      "user/.cache",
      `tmux/tmux-${uid}`,
      "runtime",
    ];
    for (const name of folders) await mkdir(at(name), { recursive: true });
    await writeFile(at("home/auth.json"), "secret");
    for (const name of ["victim", "movable", "removable"]) await writeFile(at("outside", name), "old");
    await writeFile(at("user/.profile"), "");
    await writeFile(at(`tmux/tmux-${uid}/default`), "");
    await writeFile(at("runtime/bus"), "");
    await writeFile(at("work/i386"), EXIT_ON_I386, { mode: 0o755 });
    const real = nodePlatform();
    const platform: Platform = {
      ...real,
      machine: { ...real.machine, uid, userHome: at("user") },
      env: { ...process.env, TMPDIR: undefined, TMUX_TMPDIR: at("tmux"), XDG_RUNTIME_DIR: at("runtime") },
    };
    const stage = new Stage(folder, uid, platform, {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: at("user"),
      WORK: at("work"),
      OUTSIDE: at("outside"),
      HOST_HOME: at("home"),
      USER_HOME: at("user"),
      SOCKETS: at("sockets"),
      TMUX_FOLDER: at("tmux", `tmux-${uid}`),
      RUNTIME_FOLDER: at("runtime"),
      MARK: mark,
      SHM_KEY: String(1 + Math.floor(Math.random() * 0x7ffffffe)),
      GIT_CONFIG_NOSYSTEM: "1",
    });
    await stage.own();
    stage.#git();
    await stage.#startWorld();
    return stage;
  }

  /** Runs a script in the sandbox. */
  async confined(setting: Setting, script: string, options: RunOptions = {}): Promise<Ran> {
    const cwd = options.cwd ?? join(this.folder, "work");
    const byHost = setting === "network by host";
    const found = await (options.sandbox ?? (byHost ? this.#byHost : this.sandbox)).confine({
      byHost,
      ...POLICIES[setting],
      program: {
        argv: ["/bin/sh", "-c", script],
        cwd,
        env: { ...this.env, ...options.env },
        stdin: "open",
        tty: options.tty ? { cols: 80, rows: 24 } : undefined,
      },
      roots: options.roots ?? [join(this.folder, "work")],
      ...(options.policy === undefined ? {} : { policy: options.policy }),
    });
    if (found.kind === "unavailable") throw new Error(found.reason);
    await this.own();
    const ran = await this.#run(this.#asUser(found.program), options);
    return { ...ran, notices: await found.release() };
  }

  /** Runs a script as the same user, outside of the sandbox. */
  async outside(script: string): Promise<Ran> {
    const program: ProgramStart = {
      argv: ["/bin/sh", "-c", script],
      cwd: join(this.folder, "work"),
      env: this.env,
      stdin: "closed",
    };
    return { ...(await this.#run(this.#asUser(program))), notices: [] };
  }

  /** What is outside of the workspace, to see whether something changed. */
  async outsideState(): Promise<string> {
    const names = await readdir(join(this.folder, "outside"));
    const texts = await Promise.all(
      names
        .sort()
        .map(async (name) => `${name}: ${await readFile(join(this.folder, "outside", name), "utf8")}`),
    );
    return texts.join("\n");
  }

  async close(): Promise<void> {
    this.#world?.stdin?.end();
    if (this.#world !== undefined && this.#world.exitCode === null) await once(this.#world, "exit");
    await this.sandbox.close();
    await this.#byHost.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #run(program: ProgramStart, { meanwhile, proxy }: RunOptions = {}): Promise<Omit<Ran, "notices">> {
    const running = await this.platform.spawn(program);
    const network = running.channel && this.#serve(running.channel, proxy);
    if (meanwhile === undefined) running.endInput();
    let output = "";
    let waits = meanwhile !== undefined;
    for await (const { bytes } of running.output) {
      output += new TextDecoder().decode(bytes);
      if (!waits || !output.includes("ready\n")) continue;
      waits = false;
      await meanwhile!(running.pid);
      await running.write(new TextEncoder().encode("go\n")).catch(() => {});
    }
    const { code } = await running.exited;
    network?.close();
    return { code, output };
  }

  #serve(channel: ByteStream, { listed = [], dial }: ProxyBehaviour = {}): CommandNetwork {
    return new CommandNetwork(
      {
        platform: dial === undefined ? this.platform : { ...this.platform, dial: async () => dial },
        supervisor: new Supervisor(pinoLog({ level: "silent", format: "text", write() {} })),
        socks: true,
        judge: async () => ({ kind: "allow" }),
        isListed: async (host) => listed.includes(host),
        refused() {},
      },
      channel,
    );
  }

  #asUser(program: ProgramStart): ProgramStart {
    if (this.uid === process.getuid!()) return program;
    const id = String(this.uid);
    const argv = [
      "/usr/bin/setpriv",
      "--reuid",
      id,
      "--regid",
      id,
      "--clear-groups",
      ...program.argv,
    ] as const;
    return { ...program, argv };
  }

  /** Gives all that is on the stage to its user. */
  async own(): Promise<void> {
    if (this.uid !== process.getuid!())
      execFileSync("chown", ["-RhP", `${this.uid}:${this.uid}`, this.folder]);
  }

  #git(): void {
    const script = `
      set -e
      cd "$WORK"
      git init -q -b main . && git config user.name Ann && git config user.email ann@example.org
      git config extensions.worktreeConfig true
      git -c core.hooksPath=/dev/null commit -q --allow-empty -m one
      git worktree add -q "$OUTSIDE/../tree"
      git init -q "$OUTSIDE/../library" && git -C "$OUTSIDE/../library" -c user.name=A -c user.email=a@b commit -q --allow-empty -m l
      git -c protocol.file.allow=always submodule --quiet add "$OUTSIDE/../library" sub
      mkdir .husky && git config core.hooksPath .husky
      echo '#!/bin/sh' > .git/hooks/pre-commit
      mkdir -p .git/info && : > .git/info/attributes`;
    const [file, ...args] = this.#asUser({
      argv: ["/bin/sh", "-c", script],
      cwd: "/",
      env: {},
      stdin: "closed",
    }).argv;
    execFileSync(file, args, { env: this.env, cwd: this.folder, stdio: ["ignore", "ignore", "inherit"] });
  }

  /** A process outside with everything that attempts try to reach. */
  async #startWorld(): Promise<void> {
    const program = {
      argv: ["perl", "-MSocket", "-e", WORLD, this.env.MARK!] as const,
      cwd: "/",
      env: {},
      stdin: "open",
    } as const;
    const [file, ...args] = this.#asUser(program).argv;
    this.#world = spawn(file, args, { env: this.env, stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: this.#world.stdout! });
    const [line] = (await once(lines, "line")) as [string];
    Object.assign(this.env, { PORT: line.trim(), OTHER_PID: String(this.#world.pid) });
  }
}

const WORLD = `
$| = 1;
socket(A, AF_UNIX, SOCK_STREAM, 0) && bind(A, pack_sockaddr_un("$ENV{SOCKETS}/stream")) && listen(A, 99) or die "stream: $!";
socket(B, AF_UNIX, SOCK_STREAM, 0) && bind(B, pack_sockaddr_un("\\0$ENV{MARK}")) && listen(B, 99) or die "abstract: $!";
socket(C, AF_UNIX, SOCK_DGRAM, 0) && bind(C, pack_sockaddr_un("$ENV{SOCKETS}/datagram")) or die "datagram: $!";
socket(D, AF_UNIX, SOCK_STREAM, 0) && bind(D, pack_sockaddr_un("$ENV{HOST_HOME}/host.sock")) && listen(D, 99) or die "host: $!";
socket(E, AF_INET, SOCK_STREAM, 0) && bind(E, pack_sockaddr_in(0, INADDR_LOOPBACK)) && listen(E, 99) or die "tcp: $!";
my $memory = shmget($ENV{SHM_KEY}, 16, 01600) // die "shared memory: $!";
open(F, ">", "/dev/shm/$ENV{MARK}") or die "shared memory file: $!";
print((unpack_sockaddr_in(getsockname(E)))[0], "\\n");
<STDIN>;
shmctl($memory, 0, 0);
unlink("/dev/shm/$ENV{MARK}");
`;

/** A program for 32-bit x86 that does nothing but exit(0), by int 0x80. */
const EXIT_ON_I386 = Buffer.from(
  "7f454c46010101000000000000000000" + // ELF, 32 bits
    "02000300010000005480040834000000" +
    "00000000000000003400200001000000" +
    "00000000" +
    "01000000000000000080040800800408" + // one segment
    "60000000600000000500000000100000" +
    "b80100000031dbcd80909090", // mov eax, 1; xor ebx, ebx; int 0x80
  "hex",
);
