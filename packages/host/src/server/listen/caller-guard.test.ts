import { expect, it } from "vitest";
import type { Peer } from "../../platform/socket-peers.ts";
import { CallerGuard } from "./caller-guard.ts";

/** The code with which a process that the system does not identify is refused; undefined if it is accepted. */
async function outcome(options: { mark: string | undefined; refuseUnknown?: boolean }) {
  let warned = 0;
  const { mark, ...more } = options;
  const guard = new CallerGuard({
    peers: {
      find: async (): Promise<Peer> => ({ kind: "unknown" }),
      socketsOfOwn: async () => ({ mayHave: () => true }),
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
