import { arch } from "node:process";
import {
  EMULATED_AS_MISSING,
  INSPECTED,
  MODE_CALLS,
  NETWORK,
  type Numbers,
  numberOn,
  REFUSED,
} from "../../packages/host/src/sandbox/syscalls.ts";
import type { Stage } from "./stage.ts";

/** The sandbox that an attempt is made in. All but the first can write to the workspace. */
export type Setting =
  | "read-only"
  | "workspace-write"
  | "with network"
  | "network by host"
  | "as a git command";

/** One way out of the sandbox, which must not work. */
export interface Attempt {
  /** Unique; in docs/security.md as well. */
  readonly id: string;
  /** What it tries, for people. */
  readonly tries: string;
  readonly setting: Setting;
  readonly how: Script | Scene;
}

/** A shell script that ends with 0 if it got out. */
export interface Script {
  readonly script: string;
  /**
   * Who gets 0 for it outside of the sandbox. Every attempt is made there as well, to show that it is the sandbox that
   * refuses it; `nobody` for those that would harm this machine, or that need a kernel that may be another one.
   */
  readonly worksFor: "everybody" | "root" | "nobody";
}

/** More than a script: resolves with whether it got out. */
export interface Scene {
  play(stage: Stage): Promise<boolean>;
}

const CALLS: Readonly<Record<string, Numbers>> = {
  ...REFUSED,
  ...EMULATED_AS_MISSING,
  ...NETWORK,
  ...INSPECTED,
  ...Object.fromEntries(Object.entries(MODE_CALLS).map(([name, { numbers }]) => [name, numbers])),
};

/** A script that ends with 0 if a system call succeeds. Arguments are Perl. */
export function succeeds(call: string, ...args: readonly (string | number)[]): string {
  // Not literals: the kernel could write to them, so Perl takes variables only.
  return perl(`my @a = (${args.join(", ")}); exit(syscall(${numberOf(call)}, @a) == -1 ? 1 : 0)`);
}

/** A script that ends with 0 if a system call is more than refused: its arguments may still be wrong. */
export function reachesKernel(call: string, ...args: readonly (string | number)[]): string {
  const made = `my @a = (${args.join(", ")}); $! = 0; syscall(${numberOf(call)}, @a)`;
  return perl(`${made}; exit($!{EPERM} || $!{ENOSYS} ? 1 : 0)`);
}

export function perl(program: string): string {
  return `perl -MErrno -MSocket -e '${program.replaceAll("'", "'\\''")}'`;
}

export function numberOf(call: string): number {
  const numbers = CALLS[call];
  if (numbers === undefined) throw new Error(`no number for ${call}`);
  // -1 is no system call: ENOSYS.
  return numberOn(arch === "arm64" ? "arm64" : "x64", numbers) ?? -1;
}
