import { constants, existsSync, openSync, readdirSync, readFileSync } from "node:fs";

/** A value of Node's `stdio` option for one descriptor. */
type Stdio = "pipe" | "ignore" | "inherit" | number;

const CLOSE_ON_EXEC = 0o2000000;
const BASH = ["/bin/bash", "/usr/bin/bash"];
const ENV = "/usr/bin/env";
/** Variables that a shell sets, changes or removes before it executes another program. */
const SHELL_VARIABLES = "PS1 PS2 PS4 IFS OPTIND PPID SHLVL OLDPWD PWD _ BASHOPTS SHELLOPTS".split(" ");

/**
 * Descriptors of this process that a child process would inherit by accident. Node opens its own descriptors with
 * close-on-exec. Two kinds remain: descriptors that this process inherited from its parent, and the PTYs of other
 * programs, which the native addon opens. A program that holds another program's PTY can type into it.
 */
const inheritable = new Set<number>();
let parentScanned = false;
let devNull: number | undefined;

/** Registers a descriptor that child processes would inherit; the returned function removes it again. */
export function registerInheritable(descriptor: number): () => void {
  inheritable.add(descriptor);
  return () => inheritable.delete(descriptor);
}

function inheritableDescriptors(): ReadonlySet<number> {
  // Scanned once, before the first child process starts: all inheritable descriptors that are open at that time come
  // from the parent.
  if (!parentScanned) for (const descriptor of descriptorsFromParent()) inheritable.add(descriptor);
  parentScanned = true;
  return inheritable;
}

function* descriptorsFromParent(): Iterable<number> {
  if (process.platform !== "linux") return;
  for (const name of readdirSync("/proc/self/fdinfo")) {
    if (Number(name) <= 2) continue;
    try {
      const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, "utf8"))?.[1];
      if (flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0) yield Number(name);
    } catch {
      // The descriptor that `readdirSync` itself used is closed by now.
    }
  }
}

/** Extends a child's `stdio` so that every descriptor it would inherit by accident is replaced by /dev/null. */
export function withoutInherited(stdio: readonly Stdio[]): Stdio[] {
  const all = [...stdio];
  for (const descriptor of inheritableDescriptors()) {
    if (descriptor < stdio.length) continue;
    while (all.length <= descriptor) all.push("ignore");
    devNull ??= openSync("/dev/null", constants.O_RDWR);
    all[descriptor] = devNull;
  }
  return all;
}

/**
 * Builds a shell command line that opens `files` as descriptors 3, 4 and so on, then the two ends of `channel` (one
 * to read, one to write) and the `held` files and folders, removes the folder of `files`, closes the inherited
 * descriptors, and then executes the program. The folder is removed at once because a host that is killed could not
 * remove it later. Returns undefined if no shell on this machine can close the descriptors. `env` is the program's
 * environment; the program gets it unchanged.
 */
export function commandOpeningFiles(
  { argv, env }: { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> },
  files: readonly string[],
  {
    channel = [],
    held = [],
  }: { readonly channel?: readonly string[]; readonly held?: readonly string[] } = {},
): readonly string[] | undefined {
  const paths = [...files, ...channel, ...held];
  const closed = [...inheritableDescriptors()].filter((descriptor) => descriptor >= 3 + paths.length);
  if (paths.length + closed.length === 0) return argv;
  // Only bash can redirect descriptors above 9. `-p` keeps it from running the startup file that the environment
  // names.
  const isHigh = paths.length > 7 || closed.some((descriptor) => descriptor > 9);
  const bash = isHigh ? BASH.find(existsSync) : "/bin/sh";
  if (bash === undefined) return undefined;
  const written = channel.length === 0 ? -1 : files.length + 1;
  const opens = paths.map((_, nth) => `${3 + nth}${nth === written ? ">" : "<"}"\${${nth + 1}}"`);
  const closes = closed.map((descriptor) => `${descriptor}>&-`);
  const remove = files.length + channel.length === 0 ? "" : `command -p rm -rf -- "\${1%/*}" 2>/dev/null; `;
  const script = `exec ${[...opens, ...closes].join(" ")}; ${remove}shift ${paths.length}; exec "$@"`;
  return [
    bash,
    ...(bash === "/bin/sh" ? [] : ["-p"]),
    "-c",
    script,
    "sh",
    ...paths,
    ...withEnvironment(env, argv),
  ];
}

/** A command line with `env` that restores the variables that the shell changed. */
function withEnvironment(env: Readonly<Record<string, string>>, argv: readonly string[]): readonly string[] {
  // `env` would take a program name with an equals sign for a variable.
  if (argv[0]!.includes("=") || !existsSync(ENV)) return argv;
  const removed = SHELL_VARIABLES.filter((name) => env[name] === undefined).flatMap((name) => ["-u", name]);
  const set = SHELL_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [`${name}=${env[name]}`]));
  return [ENV, ...removed, ...set, ...argv];
}
