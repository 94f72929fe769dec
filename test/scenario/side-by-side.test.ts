// Hosts side by side on one home, which all want the same threads, and of which some are killed.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { checkJournals, type Texts } from "../model/journals.ts";
import { Ledger } from "../model/ledger.ts";
import { Random } from "../simulation/random.ts";
import { expectIndexLikeRebuilt, restarted, SOCKET } from "../support/after-crash.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import type { WireClient } from "../support/wire-client.ts";

const FULL = process.env.BOBBIN_FULL === "1";
const ROUNDS = FULL ? 25 : 2;
const HOSTS = 3;
const ASKS = 30;

const seed = Number(process.env.BOBBIN_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** All that may stand in the way where others are at work. */
const REFUSALS: ReadonlySet<string> = new Set(
  "heldElsewhere threadNotFound threadNotLoaded noRollout archived notArchived".split(" "),
);

const METHODS = [
  ...["thread/start", "thread/resume", "thread/resume", "thread/resume", "turn/start", "turn/start"],
  ...["thread/name/set", "thread/name/set", "thread/unload", "thread/unload", "thread/read"],
  ...["thread/archive", "thread/unarchive", "thread/delete", "thread/list"],
];

/** What clients of all hosts know of. */
class Crowd {
  readonly ledger = new Ledger();
  readonly refusals: string[] = [];
  readonly #random: Random;
  readonly #threads: string[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** Asks for one thing after the other, until it has had enough or its host is gone. */
  async act(client: WireClient): Promise<void> {
    let gone = false;
    void client.closed.then(() => {
      gone = true;
    });
    for (let left = ASKS; left > 0 && !gone; left--) {
      await this.#ask(client).catch((cause: Error) => {
        if (!gone) throw cause;
      });
    }
  }

  async #ask(client: WireClient): Promise<void> {
    const random = this.#random;
    const threadId = this.#threads.length > 0 ? random.pick(this.#threads.slice(-6)) : undefined;
    const method = threadId === undefined ? "thread/start" : random.pick(METHODS);
    const name = `name ${random.uint32()}`;
    if (method === "thread/delete") this.ledger.deleting(threadId!);
    const { result, error } = await client.request(method, params(method, threadId, name));
    if (error !== undefined && !REFUSALS.has(error.data.code))
      this.refusals.push(`${method}: ${error.message}`);
    if (result === undefined) return;
    if (method === "thread/start") this.#threads.push(result.thread.id);
    if (method === "thread/delete") this.ledger.deleted(threadId!);
    if (method === "thread/name/set") this.ledger.promise(threadId!, `"name":"${name}"`, true);
    if (method !== "turn/start") return;
    this.ledger.promise(threadId!, `"turnStarted","turnId":"${result.turn.id}"`, true);
    // Or not: then what comes next meets it in the middle.
    if (random.chance(0.5)) await wait(random.between(0, 60));
  }
}

function params(method: string, threadId: string | undefined, name: string): object {
  switch (method) {
    case "thread/start":
    case "thread/list":
      return {};
    case "turn/start":
      return { threadId, input: [{ type: "text", text: `common words of ${name}` }] };
    case "thread/unload":
      return { threadId, interrupt: true };
    case "thread/name/set":
      return { threadId, name };
    default:
      return { threadId };
  }
}

function filesOf(home: string): Texts {
  const entries = readdirSync(home, { recursive: true, withFileTypes: true });
  return {
    // A claim is a link to nowhere.
    paths: entries.filter((one) => !one.isDirectory()).map((one) => join(one.parentPath, one.name)),
    text: (path) => readFileSync(path, "utf8"),
  };
}

it(`[FAULT-15] hosts that want the same threads write each of them one at a time, in ${ROUNDS} rounds (seed ${seed})`, {
  timeout: FULL ? 900_000 : 120_000,
}, async () => {
  process.stderr.write(`side by side: ${ROUNDS} rounds, BOBBIN_SEED=${seed}\n`);
  const home = await freshFolder();
  const random = new Random(seed);
  const crowd = new Crowd(random);
  const start = () => spawnHost({ args: SOCKET, home });
  for (let round = 0; round < ROUNDS; round++) {
    const hosts = await Promise.all(Array.from({ length: HOSTS }, start));
    const work = async (host: HostProcess) =>
      crowd.act(await host.join(undefined, { experimentalApi: true }));
    const [first, ...others] = hosts;
    const dies = async (host: HostProcess) => {
      const working = work(host).catch(() => {});
      await wait(random.between(20, 400));
      await host.kill();
      await working;
      // Another one in its place, while the others are at work.
      const next = await start();
      hosts.push(next);
      await work(next);
    };
    await Promise.all([dies(first!), ...others.flatMap((host) => [work(host), work(host)])]);
    expect(crowd.refusals).toEqual([]);
    for (const host of hosts.slice(1)) {
      host.signal("SIGTERM");
      expect(await host.exited).toEqual({ code: 0, signal: null });
      expect(host.stderr).not.toMatch(/"level":"error"/);
    }
    const { host, client } = await restarted(home);
    await expectIndexLikeRebuilt(client, home);
    host.signal("SIGTERM");
    await host.exited;
    checkJournals(filesOf(home));
    crowd.ledger.check(filesOf(home));
  }
});
