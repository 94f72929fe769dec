// Creates thousands of stored threads in seconds, in the format of each program: the program writes one thread itself,
// and this module copies its file with other ids and times.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startMockModel } from "./mock-model.mjs";
import { rotate } from "./rotate-subjects.mjs";
import { withHomes } from "./subjects.mjs";
import { runTurn } from "./threads.mjs";

const FILE = /^rollout-.{19}-([0-9a-f-]{36})\.jsonl$/;
const LONGEST_TEXT = 400;
/** Pause after the start of a process, so that its own startup work is not measured. */
const SETTLE_MS = 500;

/**
 * @typedef {object} Template a thread as its program stored it
 * @property {string} id
 * @property {string[]} lines
 */

/**
 * Lets the program create a thread with some turns, reads its file, and removes it from the home directory.
 * @param {import("./subjects.mjs").Home} home
 * @param {{ cwd: string, turns: number }} options
 * @returns {Promise<Template>}
 */
export async function makeTemplate(home, { cwd, turns }) {
  const server = home.stdio();
  let id = "";
  try {
    await server.initialize();
    id = (await server.request("thread/start", { cwd })).thread.id;
    for (let i = 0; i < turns; i++) await runTurn(server, id, "Say a few words.");
  } finally {
    await server.close();
  }
  const path = storedFiles(join(home.path, "sessions")).find((one) => one.includes(id));
  if (path === undefined) throw new Error(`${home.name} stored no file for its thread`);
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean).map(shorten);
  // Also removes the program's index, so that it is built again from the copies.
  for (const name of readdirSync(home.path)) {
    if (name === "sessions" || name === "live" || name.includes(".sqlite"))
      rmSync(join(home.path, name), { recursive: true });
  }
  return { id, lines };
}

/**
 * Stores copies of a thread, each a second older than the one before.
 * @param {import("./subjects.mjs").Home} home
 * @param {Template} template
 * @param {number} from
 * @param {number} to
 */
export function storeCopies(home, { id, lines }, from, to) {
  const text = `${lines.join("\n")}\n`;
  const folders = new Set();
  for (let n = from; n < to; n++) {
    const copy = shifted(text, n * 1000);
    const path = pathOf(home, shifted(id, n * 1000));
    if (!folders.has(dirname(path))) mkdirSync(dirname(path), { recursive: true });
    folders.add(dirname(path));
    writeFileSync(path, copy, { mode: 0o600 });
  }
}

/**
 * Stores a thread with `turns` turns: the template's last turn, repeated with new ids.
 * @param {import("./subjects.mjs").Home} home
 * @param {Template} template with at least two turns, because the first one may differ
 * @param {number} turns
 */
export function storeLong(home, { id, lines }, turns) {
  const starts = lines.flatMap((line, i) => (/"turnStarted"|"task_started"/.test(line) ? [i] : []));
  const begin = starts.at(-1) ?? lines.length;
  const closing = lines.findIndex((line, i) => i > begin && /"type":"closed"/.test(line));
  const end = closing < 0 ? lines.length : closing;
  const turn = lines.slice(begin, end).join("\n");
  const all = lines.slice(0, begin);
  for (let n = starts.length - 1; n < turns; n++) {
    const again = renamed(turn, id, n).split("\n");
    all.push(...again);
  }
  const lastTurn = [...renamed(turn, id, turns - 1).matchAll(/"turn(?:Id|_id)":"([^"]+)"/g)].at(-1)?.[1];
  const oldTurn = [...turn.matchAll(/"turn(?:Id|_id)":"([^"]+)"/g)].at(-1)?.[1];
  for (const line of lines.slice(end)) all.push(line.replaceAll(oldTurn ?? "-", lastTurn ?? "-"));
  const path = pathOf(home, id);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${all.map(renumbered).join("\n")}\n`, { mode: 0o600 });
  return id;
}

/**
 * Samples each subject on a stored thread with `turns` turns, each time in a fresh process.
 * @param {import("./subjects.mjs").Subject[]} subjects
 * @param {{ turns: number, runs: number, atMostMs: number, onRound: (round: number, of: number) => void }} options
 * @param {(server: import("./server-process.mjs").StdioServer, threadId: string, home: import("./subjects.mjs").Home) => Promise<number>} sample
 */
export async function onStoredThread(subjects, { turns, ...options }, sample) {
  const model = await startMockModel();
  try {
    const modelFor = (/** @type {string} */ who) => (who === "peer" ? { modelUrl: model.url } : {});
    return await withHomes(subjects, modelFor, (homes) => {
      /** @type {Map<string, string>} */
      const stored = new Map();
      return rotate(homes, { ...options, warmups: 1 }, async (home) => {
        const threadId =
          stored.get(home.name) ??
          storeLong(home, await makeTemplate(home, { cwd: home.path, turns: 3 }), turns);
        stored.set(home.name, threadId);
        const server = home.stdio();
        try {
          await server.initialize();
          await sleep(SETTLE_MS);
          return await sample(server, threadId, home);
        } finally {
          await server.close();
        }
      });
    });
  } finally {
    model.close();
  }
}

/** @param {string} folder @returns {string[]} */
function storedFiles(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => FILE.test(name.split("/").at(-1) ?? ""))
    .map((name) => join(folder, name));
}

/** Truncates long texts such as prompts, which would fill the disk in thousands of copies. @param {string} line */
function shorten(line) {
  return JSON.stringify(
    JSON.parse(line, (_, value) =>
      typeof value === "string" && value.length > LONGEST_TEXT ? value.slice(0, LONGEST_TEXT) : value,
    ),
  );
}

const UUID = /\b([0-9a-f]{8})-([0-9a-f]{4})(-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})\b/g;

/**
 * Moves all times, and all ids (UUIDv7 begin with a time), `ms` into the past.
 * @param {string} text
 * @param {number} ms
 */
function shifted(text, ms) {
  return text
    .replace(UUID, (_, high, low, rest) => {
      const time = (Number.parseInt(high + low, 16) - ms).toString(16).padStart(12, "0");
      return `${time.slice(0, 8)}-${time.slice(8)}${rest}`;
    })
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (at) => new Date(Date.parse(at) - ms).toISOString())
    .replace(/\b1[5-9]\d{11}\b/g, (at) => String(Number(at) - ms));
}

/** Replaces all ids of a turn except the thread's. @param {string} turn @param {string} id @param {number} n */
function renamed(turn, id, n) {
  const count = n.toString(16).padStart(12, "0");
  return turn
    .replace(UUID, (uuid) => (uuid === id ? uuid : `${uuid.slice(0, 24)}${count}`))
    .replaceAll('"msg_1"', `"msg_${n + 1}"`)
    .replaceAll('"resp_1"', `"resp_${n + 1}"`);
}

/** Renumbers a line: `seq` in Bobbin's format, `ordinal` in the Codex CLI's. @param {string} line @param {number} i */
function renumbered(line, i) {
  return line
    .replace(/^\{"seq":\d+,"epoch":(\d+),"prev":\d+,/, `{"seq":${i + 1},"epoch":$1,"prev":${i},`)
    .replace(/"ordinal":\d+/, `"ordinal":${i}`);
}

/** @param {import("./subjects.mjs").Home} home @param {string} id */
function pathOf(home, id) {
  const stamp = new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString().slice(0, 19);
  const [year, month, day] = stamp.split(/[-T]/);
  return join(home.path, "sessions", year, month, day, `rollout-${stamp.replaceAll(":", "-")}-${id}.jsonl`);
}
