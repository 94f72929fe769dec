import type { ProgramStart } from "../platform/platform.ts";
import { type Access, isWithin } from "./access.ts";
import type { Mount } from "./held-mounts.ts";
import { withBridge } from "./network/bridge-launch.ts";
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

/** Wraps a program so that it runs inside bubblewrap. `mounts`: what `holdMounts` opened for the access. */
export function withBubblewrap(
  bwrap: string,
  arch: Arch,
  program: ProgramStart,
  access: Access,
  mounts: readonly Mount[],
): ProgramStart {
  const inputs = program.inputs ?? [];
  const [options, filter] = [3 + inputs.length, 4 + inputs.length];
  const hosts = access.network === "byHost" ? (access.hosts ?? null) : null;
  const isBridged = hosts !== null;
  const descriptors = mounts.flatMap(({ descriptor }) => descriptor ?? []);
  const firstDescriptor = 5 + inputs.length + (isBridged ? 2 : 0);
  const numberOf = (descriptor: number): number => firstDescriptor + descriptors.indexOf(descriptor);
  const started = isBridged ? withBridge(program, hosts, 5 + inputs.length) : program;
  const args = [
    ...NAMESPACES,
    ...(access.network === "all" ? [] : ["--unshare-net"]),
    ...mountOptions(access, mounts, numberOf, program.cwd),
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
    descriptors,
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
  { hidden, readOnly, ownTemporary = false }: Access,
  mounts: readonly Mount[],
  numberOf: (descriptor: number) => number,
  cwd: string,
): readonly string[] {
  const all = [
    ...(ownTemporary ? [{ path: "/tmp", options: OWN_TEMPORARY }] : []),
    ...mounts.map(({ path, writable, descriptor }) => ({
      path,
      options:
        descriptor === null
          ? [writable ? "--bind-try" : "--ro-bind-try", path, path]
          : // Bubblewrap ends with an error if it mounts anything else than what the descriptor holds.
            [writable ? "--bind-fd" : "--ro-bind-fd", String(numberOf(descriptor)), path],
    })),
    ...hidden.map(({ path, kind }) => ({
      path,
      options: kind === "folder" ? ["--perms", "0755", "--tmpfs", path] : ["--ro-bind", "/dev/null", path],
    })),
  ].sort((a, b) => depth(a.path) - depth(b.path));
  const folders = hidden.filter(({ kind }) => kind === "folder").map(({ path }) => path);
  return [
    ...(readOnly === null ? ["--ro-bind", "/", "/"] : ["--tmpfs", "/"]),
    ...all.filter(({ path }) => path === "/").flatMap(({ options }) => options),
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--ro-bind",
    "/proc/sys",
    "/proc/sys",
    ...all.filter(({ path }) => path !== "/").flatMap(({ options }) => options),
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
