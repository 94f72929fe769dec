import type { ProgramStart } from "../platform/platform.ts";
import type { Access } from "./access.ts";

/** The command line that starts a program inside of macOS's own sandbox. */
export function seatbelted(program: ProgramStart, access: Access): ProgramStart {
  return {
    ...program,
    argv: ["/usr/bin/sandbox-exec", "-p", seatbeltProfile(access), "--", ...program.argv],
  };
}

/** A profile in the language of `sandbox-exec`. Of two rules for the same thing the later one counts. */
export function seatbeltProfile({
  writable,
  protected: kept,
  hidden,
  readable,
  readOnly,
  network,
}: Access): string {
  const rules = [
    "(version 1)",
    "(deny default)",
    "(allow process-exec)",
    "(allow process-fork)",
    "(allow process-info* (target same-sandbox))",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    "(allow ipc-posix-sem)",
    "(allow pseudo-tty)",
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    ...(readOnly === null
      ? ["(allow file-read*)"]
      : [
          "(allow file-read-metadata)",
          ...[...readOnly, ...writable].map((path) => `(allow file-read* ${subpath(path)})`),
        ]),
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))',
    '(allow file-ioctl (literal "/dev/tty") (regex #"^/dev/ttys[0-9]+$"))',
    ...writable.map((path) => `(allow file-write* ${subpath(path)})`),
    ...kept.map((path) => `(deny file-write* ${subpath(path)})`),
    ...hidden.map(({ path }) => `(deny file-read* file-write* ${subpath(path)})`),
    ...readable.map((path) => `(allow file-read* ${subpath(path)})`),
    ...writable
      .filter((path) => hidden.some((one) => path.startsWith(`${one.path}/`)))
      .map((path) => `(allow file-read* file-write* ${subpath(path)})`),
    // By host there is none: nothing on this system keeps a program to the proxy.
    ...(network === "all" ? NETWORK : []),
  ];
  return `${rules.join("\n")}\n`;
}

/** Internet only: Unix sockets of the machine stay closed. */
const NETWORK = [
  '(allow network-outbound (remote ip "*:*"))',
  '(allow network-inbound (local ip "*:*"))',
  '(allow network-bind (local ip "*:*"))',
  "(allow system-socket)",
  '(allow mach-lookup (global-name "com.apple.SystemConfiguration.DNSConfiguration") (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.trustd.agent") (global-name "com.apple.networkd"))',
  '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
];

function subpath(path: string): string {
  return `(subpath ${JSON.stringify(path)})`;
}
