import type { ProgramStart } from "../platform/platform.ts";
import { type Access, isWithin } from "./access.ts";
import { withBridge, withNodeVisible } from "./network/bridge-launch.ts";
import { seccompFilter } from "./seccomp.ts";
import type { Arch } from "./syscalls.ts";

/** A private /tmp. Its size is limited, because it is in memory. */
const OWN_TEMPORARY = ["--perms", "1777", "--size", String(512 * 1024 * 1024), "--tmpfs", "/tmp"];

/** Options that are the same for every command. */
const NAMESPACES = [
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--die-with-parent",
  // Root is still root inside the sandbox. With its capabilities it could mount everything again.
  "--cap-drop",
  "ALL",
] as const;

/** Wraps a program so that it runs inside bubblewrap. */
export function withBubblewrap(
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
    ...mountOptions(isBridged ? withNodeVisible(access) : access, program.cwd),
    "--chdir",
    program.cwd,
    // The variables are set by options. The environment of bubblewrap itself is empty, because it runs outside of the
    // sandbox, where LD_PRELOAD would load a library.
    "--clearenv",
    ...Object.entries({ ...terminalEnv(program), ...started.env, PWD: program.cwd }).flatMap(
      ([name, value]) => ["--setenv", name, value],
    ),
    "--seccomp",
    String(filter),
  ];
  return {
    ...program,
    // If bubblewrap started in the folder, the result would reveal whether the folder exists.
    cwd: access.ownTemporary ? "/" : program.cwd,
    argv: [bwrap, "--args", String(options), "--", ...started.argv],
    env: {},
    inputs: [...inputs, nulTerminated(args), seccompFilter(arch, { network: access.network !== "none" })],
    channel: isBridged,
  };
}

/**
 * Variables that a PTY sets. They are passed explicitly, because the command gets nothing of bubblewrap's
 * environment.
 */
function terminalEnv({ tty }: ProgramStart): Readonly<Record<string, string>> {
  return tty === undefined ? {} : { TERM: "xterm-256color" };
}

/** Mount options in the order of mounting. A later mount covers a part of an earlier one. */
function mountOptions(
  { writable, protected: protectedPaths, hidden, readable, readOnly, ownTemporary = false }: Access,
  cwd: string,
): readonly string[] {
  const mounts = [
    ...(ownTemporary ? [{ path: "/tmp", options: OWN_TEMPORARY }] : []),
    ...(readOnly ?? []).map((path) => ({ path, options: ["--ro-bind-try", path, path] })),
    ...writable.map((path) => ({ path, options: ["--bind-try", path, path] })),
    ...protectedPaths.map((path) => ({ path, options: ["--ro-bind-try", path, path] })),
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
    // A working folder that is not visible is created as an empty one.
    ...(readOnly !== null || folders.some((folder) => isWithin(cwd, folder)) ? ["--dir", cwd] : []),
    ...[...folders, ...(readOnly === null ? [] : ["/"])].flatMap((path) => ["--remount-ro", path]),
  ];
}

function depth(path: string): number {
  return path === "/" ? 0 : path.split("/").length;
}

function nulTerminated(args: readonly string[]): Uint8Array {
  const wrong = args.find((arg) => arg.includes("\0"));
  if (wrong !== undefined) throw new Error("a path or variable contains a NUL character");
  return new TextEncoder().encode(args.map((arg) => `${arg}\0`).join(""));
}
