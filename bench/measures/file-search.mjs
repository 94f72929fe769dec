import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BusyClient } from "../lib/busy-client.mjs";
import { removeFolder, temporaryFolder } from "../lib/cleanup.mjs";
import { startProber } from "../lib/request-prober.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { within } from "../lib/server-process.mjs";
import { percentile, summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "file-search";
export const about =
  "a search among 50,000 files: its first results, its end, and response times of another client";

const FOLDERS = 500;
const FILES = 100;
const QUERY = "module499";
const AT_MOST_MS = 60_000;
/** Number of searches, one after the other, while another client is measured. */
const SEARCHES = 20;
const BAR_MS = 100;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 15, onRound }) {
  const folder = temporaryFolder();
  try {
    makeFiles(folder);
    return await withHomes(subjects("ours", "peer"), {}, async (homes) => {
      /** @type {Map<import("../lib/subjects.mjs").Home, BusyClient>} */
      const clients = new Map();
      const servers = await Promise.all(homes.map((home) => home.socket()));
      try {
        for (const [nth, home] of homes.entries())
          clients.set(home, await BusyClient.connect(servers[nth].url));
        const options = { runs, warmups: 3, onRound };
        /** @type {Record<string, number[]>} */
        const first = { ours: [], peer: [] };
        const whole = await rotate(homes, options, async (home) => {
          const times = await session(/** @type {BusyClient} */ (clients.get(home)), folder);
          first[home.name].push(times.first);
          return times.end;
        });
        const ours = homes.findIndex((home) => home.name === "ours");
        const others = await probed(servers[ours].url, homes[ours].path, folder);
        return [
          result({ name: "file-search", unit: "ms", samples: whole, bar: [{ of: "ours/peer", max: 1.5 }] }),
          result({
            name: "file-search first",
            unit: "ms",
            samples: Object.fromEntries(
              homes.map(({ name: of }) => [of, { summary: summarize(first[of].slice(3)) }]),
            ),
            bar: [{ of: "ours/peer", max: 1 }],
          }),
          result({
            name: "file-search others",
            unit: "ms",
            samples: { ours: { summary: summarize([percentile(others, 0.99)]) } },
            bar: [{ of: "ours", max: BAR_MS }],
            notes: [`the slowest of ${others.length} requests: ${Math.max(...others).toFixed(1)} ms`],
          }),
        ];
      } finally {
        for (const client of clients.values()) client.close();
        for (const { server, client } of servers) {
          client.terminate();
          await server.close();
        }
      }
    });
  } finally {
    removeFolder(folder);
  }
}

/** @param {string} folder */
function makeFiles(folder) {
  for (let nth = 0; nth < FOLDERS; nth++) {
    const at = join(folder, `package-${nth}`, "src");
    mkdirSync(at, { recursive: true });
    for (let file = 0; file < FILES; file++) writeFileSync(join(at, `module-${nth}-${file}.ts`), "");
  }
}

let sessions = 0;

/**
 * Runs a search session with one query. Resolves with the times to its first results and to its end.
 * @param {BusyClient} client
 * @param {string} folder
 */
async function session(client, folder) {
  const sessionId = `session ${++sessions}`;
  const start = performance.now();
  let first = 0;
  const end = new Promise((resolve) => {
    let isAsked = false;
    client.on("fuzzyFileSearch/sessionUpdated", ({ sessionId: of, query, files }) => {
      if (of !== sessionId || query !== QUERY) return;
      isAsked = true;
      if (first === 0 && files.length > 0) first = performance.now() - start;
    });
    client.on("fuzzyFileSearch/sessionCompleted", ({ sessionId: of }) => {
      if (of === sessionId && isAsked && first > 0) resolve(performance.now() - start);
    });
  });
  await client.request("fuzzyFileSearch/sessionStart", { sessionId, roots: [folder] });
  await client.request("fuzzyFileSearch/sessionUpdate", { sessionId, query: QUERY });
  const took = await within(AT_MOST_MS, "the search did not end", end);
  await client.request("fuzzyFileSearch/sessionStop", { sessionId });
  return { first, end: took };
}

/**
 * Response times of another client while searches run one after the other.
 * @param {string} url
 * @param {string} cwd
 * @param {string} folder
 */
async function probed(url, cwd, folder) {
  const client = await BusyClient.connect(url);
  const other = await startProber(url, cwd);
  try {
    for (let nth = 0; nth < SEARCHES; nth++)
      await client.request("fuzzyFileSearch", { query: QUERY, roots: [folder] }, AT_MOST_MS);
    return await other.stop();
  } finally {
    client.close();
  }
}
