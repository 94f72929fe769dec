import { constants, existsSync, openSync, readdirSync, readFileSync } from "node:fs";

/** What Node takes for one of a program's descriptors. */
type Stdio = "pipe" | "ignore" | "inherit" | number;

const CLOSE_ON_EXEC = 0o2000000;
const BASH = ["/bin/bash", "/usr/bin/bash"];

/**
 * Descriptors of this process that a program would get although nobody gave it any. Node opens all of its own so that
 * programs do not get them. Two kinds are left: those that this process has from its parent, and the terminals of other
 * programs, which the native part opens. Who has one of those can type into it.
 */
const exposed = new Set<number>();
let hasLooked = false;
let nothing: number | undefined;

/** Notes a descriptor that was opened for programs to inherit; the returned function forgets it. */
export function noteExposed(descriptor: number): () => void {
  exposed.add(descriptor);
  return () => exposed.delete(descriptor);
}

function exposedDescriptors(): ReadonlySet<number> {
  // Once, before the first program: what is open then and open to programs comes from the parent.
  if (!hasLooked) for (const descriptor of fromParent()) exposed.add(descriptor);
  hasLooked = true;
  return exposed;
}

function* fromParent(): Iterable<number> {
  if (process.platform !== "linux") return;
  for (const name of readdirSync("/proc/self/fdinfo")) {
    if (Number(name) <= 2) continue;
    try {
      const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, "utf8"))?.[1];
      if (flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0) yield Number(name);
    } catch {
      // The one that the folder was read by.
    }
  }
}

/** The descriptors of a program that Node starts, with nothing in place of those that it would inherit. */
export function covered(stdio: readonly Stdio[]): Stdio[] {
  const all = [...stdio];
  for (const descriptor of exposedDescriptors()) {
    if (descriptor < stdio.length) continue;
    while (all.length <= descriptor) all.push("ignore");
    nothing ??= openSync("/dev/null", constants.O_RDWR);
    all[descriptor] = nothing;
  }
  return all;
}

/**
 * The command line that opens files as descriptors 3, 4 and so on, behind them those of a channel (one to read from, one
 * to write to), removes their folder, closes what the program would inherit, and then becomes the program. The folder goes at once, because a host that is killed could not remove it later. Undefined where no shell here can close them.
 */
export function openingOnly(
  argv: readonly string[],
  files: readonly string[],
  channel: readonly string[] = [],
): readonly string[] | undefined {
  const paths = [...files, ...channel];
  const closed = [...exposedDescriptors()].filter((descriptor) => descriptor >= 3 + paths.length);
  if (paths.length + closed.length === 0) return argv;
  // Of descriptors with two digits other shells know nothing. `-p`: without files that the environment names.
  const bash = closed.some((descriptor) => descriptor > 9) ? BASH.find(existsSync) : "/bin/sh";
  if (bash === undefined) return undefined;
  const opens = paths.map((_, nth) => `${3 + nth}${nth === files.length + 1 ? ">" : "<"}"$${nth + 1}"`);
  const closes = closed.map((descriptor) => `${descriptor}>&-`);
  const remove = paths.length === 0 ? "" : `command -p rm -rf -- "\${1%/*}" 2>/dev/null; `;
  const script = `exec ${[...opens, ...closes].join(" ")}; ${remove}shift ${paths.length}; exec "$@"`;
  return [bash, ...(bash === "/bin/sh" ? [] : ["-p"]), "-c", script, "sh", ...paths, ...argv];
}
