import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { leave } from "../lib/socket-server.mjs";
import { commandOf, Subject, withHomes } from "../lib/subjects.mjs";

export const name = "socket-start";
export const about = "from spawn to the reply to initialize, on a WebSocket";

/** Interval of the connection attempts. With a longer one, the client would measure its own waiting. */
const TRY_EVERY_MS = 1;

/**
 * The host looks its callers up in the kernel's table of connections, which the measures before this one have filled
 * with closed ones: 3,000 of them take 8 ms. The kernel drops them after a minute.
 */
const FEW_CONNECTIONS = 500;
const KERNEL_FORGETS_MS = 70_000;

function connectionCount() {
  try {
    return readFileSync("/proc/net/tcp", "latin1").split("\n").length;
  } catch {
    return 0;
  }
}

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 20, onRound }) {
  const deadline = performance.now() + KERNEL_FORGETS_MS;
  while (connectionCount() > FEW_CONNECTIONS && performance.now() < deadline) await sleep(1_000);
  const floor = new Subject("floor", commandOf("node bench/floor-socket.cjs"));
  return withHomes([...subjects("ours", "peer"), floor], {}, async (homes) => {
    const samples = await rotate(homes, { runs, warmups: 3, onRound }, async (home) => {
      const { server, client, tookMs } = await home.socket({ tryEveryMs: TRY_EVERY_MS });
      try {
        await leave(client);
        return tookMs;
      } finally {
        await server.close();
      }
    });
    const bar = [
      { of: "ours/floor", max: 1.3 },
      { of: "ours/peer", max: 1 },
    ];
    return result({ name, unit: "ms", samples, bar });
  });
}
