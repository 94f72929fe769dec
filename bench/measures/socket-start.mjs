import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate.mjs";
import { leave } from "../lib/socket.mjs";
import { commandOf, Subject, withHomes } from "../lib/subjects.mjs";

export const name = "socket-start";
export const about = "from spawn to the reply to initialize, on a WebSocket";

/** A client that waits longer between its attempts would measure its own waiting. */
const TRY_EVERY_MS = 1;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 20, onRound }) {
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
