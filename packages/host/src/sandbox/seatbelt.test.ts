import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxPolicy } from "@bobbin/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodePlatform } from "../platform/node.ts";
import type { Platform, RunningProgram } from "../platform/platform.ts";
import { createSandbox } from "./sandbox.ts";
import { seatbeltProfile, withSeatbelt } from "./seatbelt.ts";

const nothing = {
  writable: [],
  protected: [],
  hidden: [],
  readable: [],
  readOnly: null,
  network: "none" as const,
};

describe("a profile for sandbox-exec", () => {
  it("denies by default and lets everything be read", () => {
    expect(seatbeltProfile(nothing)).toMatchInlineSnapshot(`
      "(version 1)
      (deny default)
      (allow process-exec)
      (allow process-fork)
      (allow process-info* (target same-sandbox))
      (allow signal (target same-sandbox))
      (allow sysctl-read)
      (allow ipc-posix-sem)
      (allow pseudo-tty)
      (allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
      (allow file-read*)
      (allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))
      (allow file-ioctl (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))
      "
    `);
  });

  it("puts narrower rules behind wider ones, since the last one that matches counts", () => {
    const profile = seatbeltProfile({
      writable: ["/Users/ann/work", "/Users/ann/.bobbin/sandbox-caches/1/files"],
      protected: ["/Users/ann/work/.git"],
      hidden: [{ path: "/Users/ann/.bobbin", kind: "folder" }],
      readable: ["/Users/ann/.bobbin/threads/1"],
      readOnly: null,
      network: "all",
    });
    const rules = profile
      .split("\n")
      .filter((rule) => rule.includes("/Users/ann") || rule.includes("network"));
    expect(rules).toMatchInlineSnapshot(`
      [
        "(allow file-write* (subpath "/Users/ann/work"))",
        "(allow file-write* (subpath "/Users/ann/.bobbin/sandbox-caches/1/files"))",
        "(deny file-write* (subpath "/Users/ann/work/.git"))",
        "(deny file-read* file-write* (subpath "/Users/ann/.bobbin"))",
        "(allow file-read* (subpath "/Users/ann/.bobbin/threads/1"))",
        "(allow file-read* file-write* (subpath "/Users/ann/.bobbin/sandbox-caches/1/files"))",
        "(allow network-outbound (remote ip "*:*"))",
        "(allow network-inbound (local ip "*:*"))",
        "(allow network-bind (local ip "*:*"))",
        "(allow mach-lookup (global-name "com.apple.SystemConfiguration.DNSConfiguration") (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.trustd.agent") (global-name "com.apple.networkd"))",
        "(allow network-outbound (literal "/private/var/run/mDNSResponder"))",
      ]
    `);
  });

  it("quotes paths, so that none ends its own rule", () => {
    const writable = ['/tmp/a") (allow file-write*) ("'];
    const rules = seatbeltProfile({ ...nothing, writable }).split("\n");
    expect(rules).toContain('(allow file-write* (subpath "/tmp/a\\") (allow file-write*) (\\""))');
  });

  it("starts the program with its arguments behind the profile", () => {
    const program = { argv: ["ls", "-p"] as const, cwd: "/", env: {}, stdin: "closed" } as const;
    expect(withSeatbelt(program, nothing).argv).toEqual([
      "/usr/bin/sandbox-exec",
      "-p",
      seatbeltProfile(nothing),
      "--",
      "ls",
      "-p",
    ]);
  });
});

describe("a policy on macOS", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "seatbelt-")));
    for (const name of ["home", "work", "tmp", "lib"]) await mkdir(join(folder, name));
    await writeFile(join(folder, "work", "a.txt"), "");
    execFileSync("git", ["init", "-q"], { cwd: join(folder, "work") });
    await mkdir(join(folder, "work", ".codex"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** The rules for paths and the network of a command's profile, with `F` for the folder of the test. */
  async function rulesOf(policy: SandboxPolicy, gitWritable = false): Promise<string[]> {
    const real = nodePlatform();
    const exited = Promise.resolve({ code: 0, signal: null });
    const platform = {
      ...real,
      machine: { ...real.machine, os: "darwin", userHome: folder },
      env: { TMPDIR: join(folder, "tmp"), PATH: process.env["PATH"] },
      spawn: async () =>
        ({ output: (async function* () {})(), exited, stopReading() {} }) as Partial<RunningProgram>,
    } as unknown as Platform;
    const sandbox = createSandbox({ platform, home: join(folder, "home") });
    const cwd = join(folder, "work");
    const program = { argv: ["ls"] as const, cwd, env: {}, stdin: "closed" } as const;
    const confined = await sandbox.confine({ program, policy, roots: [cwd], gitWritable });
    if (confined.kind !== "program") throw new Error(confined.reason);
    const [wrapper, , profile = ""] = confined.program.argv;
    await confined.release();
    await sandbox.close();
    if (wrapper !== "/usr/bin/sandbox-exec") return [confined.program.argv.join(" ")];
    return (
      profile
        .replaceAll(folder, "F")
        .replaceAll(/sandbox-caches\/\w+/g, "sandbox-caches/ID")
        .split("\n")
        // Other hidden paths depend on this machine.
        .filter((rule) => /F\/|network/.test(rule))
    );
  }

  const workspace = (more: object = {}): SandboxPolicy => ({
    type: "workspaceWrite",
    writableRoots: [join(folder, "lib")],
    networkAccess: false,
    excludeSlashTmp: true,
    excludeTmpdirEnvVar: false,
    ...more,
  });

  it("gives nothing to write for read-only", async () => {
    expect(await rulesOf({ type: "readOnly", networkAccess: false })).toMatchInlineSnapshot(`
      [
        "(deny file-read* file-write* (subpath "F/home"))",
      ]
    `);
  });

  it("gives the workspace without its settings, its roots and temporary folders for workspace-write", async () => {
    expect(await rulesOf(workspace())).toMatchInlineSnapshot(`
      [
        "(allow file-write* (subpath "F/work"))",
        "(allow file-write* (subpath "F/lib"))",
        "(allow file-write* (subpath "F/tmp"))",
        "(allow file-write* (subpath "F/home/sandbox-caches/ID/files"))",
        "(deny file-write* (subpath "F/work/.git"))",
        "(deny file-write* (subpath "F/work/.codex"))",
        "(deny file-write* (subpath "F/lib/.git"))",
        "(deny file-read* file-write* (subpath "F/home"))",
        "(allow file-read* file-write* (subpath "F/home/sandbox-caches/ID/files"))",
      ]
    `);
  });

  it("opens a repository for plain git commands, but for what names programs, and the network if asked to", async () => {
    expect(await rulesOf(workspace({ networkAccess: true }), true)).toMatchInlineSnapshot(`
      [
        "(allow file-write* (subpath "F/work"))",
        "(allow file-write* (subpath "F/lib"))",
        "(allow file-write* (subpath "F/tmp"))",
        "(allow file-write* (subpath "F/work/.git"))",
        "(allow file-write* (subpath "F/home/sandbox-caches/ID/files"))",
        "(deny file-write* (subpath "F/work/.codex"))",
        "(deny file-write* (subpath "F/work/.git/config"))",
        "(deny file-write* (subpath "F/work/.git/hooks"))",
        "(deny file-write* (subpath "F/work/.git/commondir"))",
        "(deny file-write* (subpath "F/lib/.git"))",
        "(deny file-write-unlink (literal "F/work/.git"))",
        "(deny file-read* file-write* (subpath "F/home"))",
        "(allow file-read* file-write* (subpath "F/home/sandbox-caches/ID/files"))",
        "(allow network-outbound (remote ip "*:*"))",
        "(allow network-inbound (local ip "*:*"))",
        "(allow network-bind (local ip "*:*"))",
        "(allow mach-lookup (global-name "com.apple.SystemConfiguration.DNSConfiguration") (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.trustd.agent") (global-name "com.apple.networkd"))",
        "(allow network-outbound (literal "/private/var/run/mDNSResponder"))",
      ]
    `);
  });

  it("does not confine what has no sandbox", async () => {
    expect(await rulesOf({ type: "dangerFullAccess" })).toEqual(["ls"]);
    expect(await rulesOf({ type: "externalSandbox", networkAccess: "restricted" })).toEqual(["ls"]);
  });
});
