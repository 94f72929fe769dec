import type { ProgramStart } from "../platform/platform.ts";
import { type Access, isWithin } from "./access.ts";
import { withBridge, withNode } from "./network/bridged-program.ts";
import { seccompFilter } from "./seccomp.ts";
import type { Arch } from "./syscalls.ts";

/** In memory, so it has a bound. */
const OWN_TEMPORARY = ["--perms", "1777", "--size", String(512 * 1024 * 1024), "--tmpfs", "/tmp"];

/** What is the same for every command. */
const NAMESPACES = [
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--die-with-parent",
  // Root stays root inside: with capabilities it could mount everything anew.
  "--cap-drop",
  "ALL",
] as const;

/** The command line that starts a program inside of bubblewrap. */
export function bubblewrapped(
  bwrap: string,
  arch: Arch,
  program: ProgramStart,
  access: Access,
): ProgramStart {
  const inputs = program.inputs ?? [];
  const [options, filter] = [3 + inputs.length, 4 + inputs.length];
  const hosts = access.network === "byHost" ? (access.hosts ?? null) : null;
  const isBridged = hosts !== null;
  const started = isBridged ? withBridge(program, hosts, 5 + inputs.length) : program;
  const args = [
    ...NAMESPACES,
    ...(access.network === "all" ? [] : ["--unshare-net"]),
    ...mountOptions(isBridged ? withNode(access) : access, program.cwd),
    "--chdir",
    program.cwd,
    // Not in the environment of bubblewrap itself, which runs outside: LD_PRELOAD would load a library there.
    "--clearenv",
    ...Object.entries({ ...terminalEnv(program), ...started.env, PWD: program.cwd }).flatMap(
      ([name, value]) => ["--setenv", name, value],
    ),
    "--seccomp",
    String(filter),
  ];
  return {
    ...program,
    // Whether a folder exists is not to be learned by starting in it.
    cwd: access.ownTemporary ? "/" : program.cwd,
    argv: [bwrap, "--args", String(options), "--", ...started.argv],
    env: {},
    inputs: [...inputs, nulEnded(args), seccompFilter(arch, { network: access.network !== "none" })],
    channel: isBridged,
  };
}

/** What a terminal sets, which the command would not see: it has none of bubblewrap's own environment. */
function terminalEnv({ tty }: ProgramStart): Readonly<Record<string, string>> {
  return tty === undefined ? {} : { TERM: "xterm-256color" };
}

/** In the order in which they are made: a later one covers a part of an earlier one. */
function mountOptions(
  { writable, protected: kept, hidden, readable, readOnly, ownTemporary = false }: Access,
  cwd: string,
): readonly string[] {
  const mounts = [
    ...(ownTemporary ? [{ path: "/tmp", options: OWN_TEMPORARY }] : []),
    ...(readOnly ?? []).map((path) => ({ path, options: ["--ro-bind-try", path, path] })),
    ...writable.map((path) => ({ path, options: ["--bind-try", path, path] })),
    ...kept.map((path) => ({ path, options: ["--ro-bind-try", path, path] })),
    ...hidden.map(({ path, kind }) => ({
      path,
      options: kind === "folder" ? ["--perms", "0755", "--tmpfs", path] : ["--ro-bind", "/dev/null", path],
    })),
    ...readable.map((path) => ({ path, options: ["--ro-bind-try", path, path] })),
  ].sort((a, b) => depth(a.path) - depth(b.path));
  const folders = hidden.filter(({ kind }) => kind === "folder").map(({ path }) => path);
  return [
    ...(readOnly === null ? ["--ro-bind", "/", "/"] : ["--tmpfs", "/"]),
    ...mounts.filter(({ path }) => path === "/").flatMap(({ options }) => options),
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--ro-bind",
    "/proc/sys",
    "/proc/sys",
    ...mounts.filter(({ path }) => path !== "/").flatMap(({ options }) => options),
    // A working folder that is not visible is an empty one.
    ...(readOnly !== null || folders.some((folder) => isWithin(cwd, folder)) ? ["--dir", cwd] : []),
    ...[...folders, ...(readOnly === null ? [] : ["/"])].flatMap((path) => ["--remount-ro", path]),
  ];
}

function depth(path: string): number {
  return path === "/" ? 0 : path.split("/").length;
}

function nulEnded(args: readonly string[]): Uint8Array {
  const wrong = args.find((arg) => arg.includes("\0"));
  if (wrong !== undefined) throw new Error("a path or variable contains a NUL character");
  return new TextEncoder().encode(args.map((arg) => `${arg}\0`).join(""));
}
