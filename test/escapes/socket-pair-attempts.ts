import { type Attempt, perl, type Setting } from "./attempt.ts";

/** Types of sockets, with flags: Linux makes a datagram socket of a raw one. */
const TYPES = { raw: 3, "raw-flags": 3 | 0o2000000 | 0o4000, datagram: 2 | 0o2000000 } as const;
const SETTINGS: Readonly<Record<string, Setting>> = {
  "": "workspace-write",
  "-network": "with network",
  "-read-only": "read-only",
};
const TRIES = {
  raw: "send to a Unix socket from one of a pair of raw sockets",
  "raw-flags": "the same with flags in the type",
  datagram: "send to a Unix socket from one of a pair of datagram sockets with flags in the type",
} as const;

/** Pairs of sockets that can send to any socket of the machine by its name. */
export const SOCKET_PAIR_ATTEMPTS: readonly Attempt[] = Object.entries(SETTINGS).flatMap(
  ([suffix, setting]) =>
    (Object.keys(TYPES) as (keyof typeof TYPES)[]).map((name): Attempt => {
      const script = perl(
        `socketpair(A, B, AF_UNIX, ${TYPES[name]}, 0) && send(A, "x", 0, pack_sockaddr_un("$ENV{SOCKETS}/datagram")) or exit 1; exit 0`,
      );
      return {
        id: `unix-pair-with-${name}${suffix}`,
        tries: TRIES[name],
        setting,
        // Nobody reads from the socket, and it holds few messages.
        how: { script, worksFor: suffix === "" ? "everybody" : "nobody" },
      };
    }),
);
