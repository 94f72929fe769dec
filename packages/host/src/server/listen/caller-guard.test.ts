import { expect, it } from "vitest";
import type { Holder, Peer } from "../../platform/socket-peers.ts";
import { CallerGuard } from "./caller-guard.ts";

/** The code with which a process that the system does not identify is refused; undefined if it is accepted. */
async function outcome(options: { mark: string | undefined; refuseUnknown?: boolean }) {
  let warned = 0;
  const { mark, ...more } = options;
  const guard = new CallerGuard({
    peers: {
      find: async (): Promise<Peer> => ({ kind: "unknown" }),
      holderOf: async () => "command",
    },
    mark: () => mark,
    blind: () => warned++,
    ...more,
  });
  const refusal = await guard.check({ kind: "unix", fd: 0 }, true);
  return { code: refusal?.code, warned };
}

it("[OWN-1] a process that cannot be identified is accepted with a warning, or refused if asked to", async () => {
  expect(await outcome({ mark: "m" })).toEqual({ code: undefined, warned: 1 });
  expect(await outcome({ mark: "m", refuseUnknown: true })).toEqual({ code: "callerUnknown", warned: 0 });
  // Without own processes nothing has to be kept out.
  expect(await outcome({ mark: undefined, refuseUnknown: true })).toEqual({ code: undefined, warned: 0 });
});

const TCP = {
  kind: "tcp",
  localAddress: "127.0.0.1",
  localPort: 1,
  remoteAddress: "127.0.0.1",
  remotePort: 2,
} as const;
const UNIX = { kind: "unix", fd: 0 } as const;

/** The code with which a caller is refused whose socket has such a holder. */
async function codeFor(
  holder: Holder,
  how: {
    socket?: typeof TCP | typeof UNIX;
    isOpen?: boolean;
    refuseUnknown?: boolean;
    isOtherUser?: boolean;
  },
) {
  const { socket = TCP, isOpen = true, isOtherUser = false, ...more } = how;
  const guard = new CallerGuard({
    peers: {
      find: async () => ({ kind: "here", socket: 1, isOtherUser }),
      holderOf: async () => holder,
    },
    mark: () => "m",
    blind: () => {},
    ...more,
  });
  return (await guard.check(socket, isOpen))?.code;
}

it("[OWN-1] commands are refused everywhere, and the user's own processes nowhere", async () => {
  for (const how of [{}, { isOpen: false }, { socket: UNIX, isOpen: false, refuseUnknown: true }]) {
    expect(await codeFor("command", how)).toBe("ownProcess");
    expect(await codeFor("user", how)).toBeUndefined();
  }
});

it("[OWN-1] a process that cannot be judged is refused without a token, and on the socket for bobbin commands", async () => {
  expect(await codeFor("unknown", {})).toBe("callerUnknown");
  expect(await codeFor("unknown", { isOpen: false })).toBeUndefined();
  expect(await codeFor("unknown", { isOpen: false, isOtherUser: true })).toBeUndefined();
  expect(await codeFor("unknown", { socket: UNIX, isOpen: false })).toBeUndefined();
  expect(await codeFor("unknown", { socket: UNIX, isOpen: false, refuseUnknown: true })).toBe(
    "callerUnknown",
  );
});

it("[OWN-1] a host that has started nothing refuses the commands of others on TCP", async () => {
  const guard = new CallerGuard({
    peers: {
      find: async () => ({ kind: "here", socket: 1, isOtherUser: false }),
      holderOf: async () => "command",
    },
    mark: () => undefined,
    blind: () => {},
  });
  for (const isOpen of [true, false]) expect((await guard.check(TCP, isOpen))?.code).toBe("ownProcess");
});
