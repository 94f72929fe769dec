import { describe, expect, it } from "vitest";
import type { Platform, ProgramStart, RunningProgram } from "../platform/platform.ts";
import { createSandbox } from "./sandbox.ts";

interface Machine {
  readonly os?: string;
  readonly arch?: string;
  /** The existing files, with their texts. */
  readonly files?: Readonly<Record<string, string>>;
  /** The error output of bubblewrap; null if it works. */
  fails?: string | null;
  /** The code of the error with which no program can be started. */
  lacks?: string;
}

/** A sandbox on a fake machine. */
function on(machine: Machine) {
  const starts: ProgramStart[] = [];
  let now = 0;
  const files = machine.files ?? { "/usr/bin/bwrap": "" };
  const platform = {
    machine: { os: machine.os ?? "linux", arch: machine.arch ?? "x64", uid: 1000, userHome: "/home/ann" },
    env: { PATH: "relative:/home/ann/bin:/usr/bin" },
    clock: { now: () => now, monotonic: () => now },
    files: {
      exists: async (path: string) => path in files,
      readText: async (path: string) => files[path],
      realPath: async (path: string) => path,
    },
    workspace: { hold: async () => undefined },
    spawn: async (start: ProgramStart): Promise<Partial<RunningProgram>> => {
      starts.push(start);
      if (machine.lacks !== undefined) throw Object.assign(new Error("spawn"), { code: machine.lacks });
      const said = machine.fails ?? null;
      return {
        output: (async function* () {
          if (said !== null) yield { stream: "stderr" as const, bytes: new TextEncoder().encode(said) };
        })(),
        exited: Promise.resolve({ code: said === null ? 0 : 1, signal: null }),
      };
    },
  } as unknown as Platform;
  const sandbox = createSandbox({ platform, home: "/home/ann/.bobbin" });
  const pass = (ms: number): void => {
    now += ms;
  };
  return { sandbox, starts, pass };
}

describe("the probe of the sandbox", () => {
  it("starts one confined program, and remembers that it worked", async () => {
    const { sandbox, starts, pass } = on({});
    expect(await Promise.all([sandbox.problem(), sandbox.problem()])).toEqual([null, null]);
    pass(1e9);
    expect(await sandbox.problem()).toBeNull();
    expect(starts).toHaveLength(1);
    expect(starts[0]!.argv).toEqual(["/usr/bin/bwrap", "--args", "3", "--", "true"]);
  });

  it("is tried again at once if no program could be started", async () => {
    const machine: { lacks?: string } = { lacks: "EMFILE" };
    const { sandbox } = on(machine);
    expect((await sandbox.problem())?.reason).toContain("cannot start a program now");
    delete machine.lacks;
    expect(await sandbox.problem()).toBeNull();
  });

  it("prefers the system's bubblewrap to one in a folder that its user can write", async () => {
    const { sandbox, starts } = on({
      files: { "/home/ann/bin/bwrap": "", "/usr/bin/bwrap": "", "relative/bwrap": "" },
    });
    await sandbox.problem();
    expect(starts[0]!.argv[0]).toBe("/usr/bin/bwrap");
  });

  it("tries again after a while where it failed: somebody may have followed the advice", async () => {
    const machine: Machine = { fails: "bwrap: no\nmore" };
    const { sandbox, starts, pass } = on(machine);
    expect(await sandbox.problem()).toMatchObject({
      reason: "/usr/bin/bwrap cannot confine a program: bwrap: no",
    });
    machine.fails = null;
    expect(await sandbox.problem()).not.toBeNull();
    pass(10_000);
    expect(await sandbox.problem()).toBeNull();
    expect(starts).toHaveLength(2);
  });

  it.each<[string, Machine, { reason: string; advice: string }]>([
    [
      "no bubblewrap",
      { files: {} },
      { reason: "bubblewrap is not installed", advice: "apt install bubblewrap" },
    ],
    [
      "AppArmor, as on Ubuntu 24.04",
      {
        fails: "bwrap: setting up uid map: Permission denied",
        files: { "/usr/bin/bwrap": "", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n" },
      },
      { reason: "setting up uid map: Permission denied", advice: "bwrap-userns-restrict" },
    ],
    [
      "a container without user namespaces",
      {
        fails: "bwrap: No permissions to creating new namespace",
        files: { "/usr/bin/bwrap": "", "/.dockerenv": "" },
      },
      { reason: "No permissions", advice: "--cap-add SYS_ADMIN" },
    ],
    [
      "a container whose /proc cannot be mounted",
      {
        fails: "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
        files: { "/usr/bin/bwrap": "", "/run/.containerenv": "" },
      },
      { reason: "Can't mount proc", advice: "systempaths=unconfined" },
    ],
    [
      "a kernel without user namespaces",
      { fails: "bwrap: no", files: { "/usr/bin/bwrap": "", "/proc/sys/user/max_user_namespaces": "0\n" } },
      { reason: "bwrap: no", advice: "sysctl user.max_user_namespaces" },
    ],
    ["an unknown processor", { arch: "riscv64" }, { reason: "riscv64", advice: "x86-64" }],
    ["an unknown system", { os: "win32" }, { reason: "no sandbox for win32", advice: "WSL" }],
  ])("[SANDBOX-3] gives a reason and advice: %s", async (_, machine, expected) => {
    const { sandbox } = on(machine);
    const problem = await sandbox.problem();
    expect(problem?.reason).toContain(expected.reason);
    expect(problem?.advice).toContain(expected.advice);
    const program = { argv: ["true"] as const, cwd: "/", env: {}, stdin: "closed" } as const;
    const policy = { type: "readOnly", networkAccess: false } as const;
    expect(await sandbox.confine({ program, policy, roots: [], gitWritable: false })).toEqual({
      kind: "unavailable",
      ...problem,
    });
  });
});
