import type { ProgramStart } from "../platform/platform.ts";
import type { Access } from "./access.ts";

/** Wraps a program so that it runs inside macOS's sandbox. */
export function withSeatbelt(program: ProgramStart, access: Access): ProgramStart {
  return {
    ...program,
    argv: ["/usr/bin/sandbox-exec", "-p", seatbeltProfile(access), "--", ...program.argv],
  };
}

/** A profile in the language of `sandbox-exec`. Of two rules that match, the later one counts. */
export function seatbeltProfile({
  writable,
  protected: protectedPaths,
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
    ...protectedPaths.map((path) => `(deny file-write* ${subpath(path)})`),
    // A writable folder inside another one could otherwise be renamed together with the protected paths in it.
    ...writable
      .filter((path) => writable.some((other) => path.startsWith(`${other}/`)))
      .map((path) => `(deny file-write-unlink (literal ${JSON.stringify(path)}))`),
    ...hidden.map(({ path }) => `(deny file-read* file-write* ${subpath(path)})`),
    ...readable.map((path) => `(allow file-read* ${subpath(path)})`),
    ...writable
      .filter((path) => hidden.some((one) => path.startsWith(`${one.path}/`)))
      .map((path) => `(allow file-read* file-write* ${subpath(path)})`),
    // With `byHost` there is no network: macOS cannot force a program to use the proxy.
    ...(network === "all" ? NETWORK : []),
  ];
  return `${rules.join("\n")}\n`;
}

/** Internet sockets only: the machine's Unix sockets stay closed. */
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
