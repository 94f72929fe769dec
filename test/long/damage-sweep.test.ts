// Whatever is in a journal: the host lives, answers, and serves every other thread as before.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sessionPath } from "../../packages/host/src/store/files/journal-paths.ts";
import { Random } from "../simulation/random.ts";
import { damaged, ODD_FILES } from "../support/damage.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { GOLDEN_ID, goldenLines } from "../support/journal-home.ts";
import { times } from "../support/long-form.ts";
import { MockModel, responses, stream } from "../support/mock-model.ts";
import { STUCK_MS } from "../support/patience.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const seed = Number(process.env.BOBBIN_SEED ?? Date.now() % 1_000_000);
/** Each round has a host and a home of its own. The long form damages 2,000 journals. */
const ROUNDS = times(1, 50);
const DAMAGED = 40;

/** The golden journal as one of threads that can be run here. */
const LINES = (await goldenLines()).map((line) =>
  line.replaceAll('"modelProvider":"openai"', '"modelProvider":"mock"'),
);
/** The commit behind which its thread is unloaded. */
const UNLOADED = 60;

const idOf = (nth: number): string => `01a1e11e-8538-7000-8000-${nth.toString(16).padStart(12, "0")}`;

/** The children of the golden journal. No two threads have the same ones. */
const GOLDEN_CHILDREN = /01a1e11f-00(09|a1|b1|c1)-7000-8000-0000000000\1/g;
const childOf = (child: string, nth: number): string =>
  `01a1e11f-00${child}-7000-8001-${nth.toString(16).padStart(12, "0")}`;

function pathOf(home: string, nth: number): string {
  const path = sessionPath(home, idOf(nth));
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

function put(home: string, nth: number, text: string): string {
  const id = idOf(nth);
  // What flipped bits left may be no UTF-8: each character is a byte.
  const own = text
    .replaceAll(GOLDEN_ID, id)
    .replaceAll(GOLDEN_CHILDREN, (_, child: string) => childOf(child, nth));
  writeFileSync(pathOf(home, nth), own, "latin1");
  return id;
}

/** As a host leaves it that was killed while it had the thread. */
function claim(home: string, id: string): void {
  mkdirSync(join(home, "live"), { recursive: true });
  symlinkSync("01a1e11f-2a04-703d-bc4c-5e1865efdf63", join(home, "live", id));
}

async function homeWithModel(modelUrl: string): Promise<string> {
  const home = await freshFolder();
  const provider = `base_url = "${modelUrl}"\nwire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0`;
  const config = `model_provider = "mock"\nmodel = "m"\n[model_providers.mock]\nname = "Mock"\n${provider}\n`;
  await writeFile(join(home, "config.toml"), config);
  return home;
}

/** All that clients do with a thread. What is refused is refused with a code of its own. */
async function use(client: WireClient, host: HostProcess, threadId: string, what: string): Promise<void> {
  const ask = async (method: string, params: object = {}): Promise<Received> => {
    const reply = await client.request(method, { threadId, ...params });
    if (reply.error?.data.code === "internal")
      throw new Error(`${what}: ${method} → ${reply.text}\n${host.stderr.slice(-3000)}`);
    return reply;
  };
  await ask("thread/read", { includeTurns: true });
  await ask("thread/turns/list", { limit: 2 });
  await ask("thread/turns/list", { limit: 2, sortDirection: "asc" });
  await ask("thread/items/list", { limit: 3 });
  await ask("thread/resume");
  const { result } = await ask("turn/start", { input: [{ type: "text", text: "Go on." }] });
  await ask("thread/name/set", { name: "Damaged" });
  await ask("thread/queue/list");
  await ask("thread/goal/get");
  const forked = await ask("thread/fork");
  if (forked.result !== undefined) await ask("thread/unload", { threadId: forked.result.thread.id });
  if (result !== undefined) await ask("turn/interrupt", { turnId: result.turn.id });
  await ask("thread/unload", { interrupt: true });
  await ask("thread/archive");
}

/** A thread that is whole does what it always does. */
async function isWell(client: WireClient, threadId: string, turns: number): Promise<void> {
  const read = await client.call("thread/read", { threadId, includeTurns: true });
  expect(read.thread.turns).toHaveLength(turns);
  await client.call("thread/resume", { threadId });
  await client.turn(threadId, "Are you well?");
  await client.call("thread/unload", { threadId });
}

async function round(roundSeed: number): Promise<void> {
  const random = new Random(roundSeed);
  const model = await MockModel.start(stream(responses.stream(responses.message("An answer."))));
  const home = await homeWithModel(model.url);
  const well = put(home, 1, `${LINES.slice(0, UNLOADED).join("\n")}\n`);
  const ill = Array.from({ length: DAMAGED }, (_, nth) => {
    // Also threads of hosts that were killed in the middle of something.
    const length = random.chance(0.3) ? LINES.length : random.between(1, LINES.length);
    const { what, text } = damaged(`${LINES.slice(0, length).join("\n")}\n`, random);
    const id = put(home, 100 + nth, text);
    if (random.chance(0.3)) claim(home, id);
    return { id, what: `${what} (seed ${roundSeed}, thread ${nth}, ${length} commits)` };
  });
  for (const [nth, [what, create]] of Object.entries(ODD_FILES).entries()) {
    create(pathOf(home, 10 + nth));
    const id = idOf(10 + nth);
    if (random.chance(0.5)) claim(home, id);
    ill.push({ id, what: `${what} (seed ${roundSeed})` });
  }
  const host = await spawnHost({ home, args: ["--stdio"] });
  const client = host.stdio();
  await client.initialize({ experimentalApi: true });
  const list = async (): Promise<string[]> => {
    const { data } = await client.call("thread/list", { limit: 100 });
    return data.map(({ id }: { id: string }) => id);
  };
  expect(await list()).toContain(well);
  await Promise.all([isWell(client, well, 2), ...ill.map(({ id, what }) => use(client, host, id, what))]);
  await isWell(client, well, 3);
  expect(await list()).toContain(well);
  host.signal("SIGTERM");
  expect(await host.exited, host.stderr.slice(-3000)).toEqual({ code: 0, signal: null });
  // Few lines for each finding, and none about a fault of ours.
  const log = host.stderr.trim().split("\n");
  // What is meant for clients has a code.
  const known = /"cause":\{"type":"Fault"/;
  expect(log.filter((line) => line.includes('"level":"error"') && !known.test(line))).toEqual([]);
  expect(log.length).toBeLessThan(ill.length * 6);
  // And the next host finds nothing worse.
  const next = await spawnHost({ home, args: ["--stdio"] });
  await next.stdio().initialize({ experimentalApi: true });
  await isWell(next.stdio(), well, 4);
  next.signal("SIGTERM");
  expect(await next.exited).toEqual({ code: 0, signal: null });
  expect(readFileSync(sessionPath(home, well), "utf8")).toContain("Are you well?");
  await model.close();
}

describe(`damaged journals (BOBBIN_SEED=${seed})`, () => {
  it.each(Array.from({ length: ROUNDS }, (_, nth) => seed + nth))(
    "[DAMAGE-3] of seed %i neither end the host nor hurt another thread",
    round,
    STUCK_MS,
  );
});
