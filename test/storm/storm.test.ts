// Three hosts on one home, twenty clients, and a host that is killed every few seconds, for as long as one likes:
// `npm run storm -- --minutes 60`. Nothing that was acknowledged may be missing afterwards.
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { checkJournals } from "../model/journals.ts";
import { Random } from "../simulation/random.ts";
import { expectIndexLikeRebuilt, restarted, SOCKET } from "../support/after-crash.ts";
import { Crowd } from "../support/crowd.ts";
import { freshFolder, textsBelow } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";

const HOSTS = 3;
const CLIENTS = 20;
/** Between two checks of everything that was acknowledged. */
const ROUND_MS = 60_000;

const minutes = Number(process.env.BOBBIN_STORM_MINUTES);
const seed = Number(process.env.BOBBIN_SEED ?? Math.floor(Math.random() * 2 ** 31));

class Storm {
  readonly crowd: Crowd;
  kills = 0;
  readonly #random: Random;
  readonly #home: string;
  #hosts: HostProcess[] = [];

  constructor(home: string, random: Random) {
    this.#home = home;
    this.#random = random;
    this.crowd = new Crowd(random);
  }

  /** Ends with every host stopped in good order. */
  async round(ms: number): Promise<void> {
    const end = Date.now() + ms;
    const more = () => Date.now() < end;
    this.#hosts = await Promise.all(Array.from({ length: HOSTS }, () => this.#start()));
    const clients = Array.from({ length: CLIENTS }, () => this.#client(more));
    await Promise.all([this.#killNowAndThen(more), ...clients]);
    for (const host of this.#hosts) {
      // One that has just been started may not heed signals yet.
      await host.urls();
      host.signal("SIGTERM");
      expect(await host.exited).toEqual({ code: 0, signal: null });
      expect(host.stderr).not.toMatch(/"level":"error"/);
    }
  }

  #start(): Promise<HostProcess> {
    return spawnHost({ args: SOCKET, home: this.#home });
  }

  /** One client: whenever its host dies it goes to another. */
  async #client(more: () => boolean): Promise<void> {
    while (more()) {
      const client = await this.#random
        .pick(this.#hosts)
        .join(undefined, { experimentalApi: true })
        .catch(() => undefined);
      if (client === undefined) await wait(50);
      else await this.crowd.act(client, more);
    }
  }

  async #killNowAndThen(more: () => boolean): Promise<void> {
    while (more()) {
      await wait(this.#random.between(500, 8_000));
      const at = this.#random.below(HOSTS);
      await this.#hosts[at]!.kill();
      this.kills++;
      this.#hosts[at] = await this.#start();
    }
  }
}

it(`[FAULT-16] ${HOSTS} hosts that are killed under ${CLIENTS} clients lose nothing (seed ${seed})`, {
  timeout: minutes * 60_000 * 4 + 600_000,
}, async () => {
  const home = await freshFolder();
  const storm = new Storm(home, new Random(seed));
  process.stderr.write(`storm: ${minutes} minutes, BOBBIN_SEED=${seed}\n`);
  for (let left = minutes * 60_000; left > 0; left -= ROUND_MS) {
    await storm.round(Math.min(left, ROUND_MS));
    expect(storm.crowd.refusals).toEqual([]);
    const { host, client } = await restarted(home);
    await expectIndexLikeRebuilt(client, home);
    host.signal("SIGTERM");
    await host.exited;
    const texts = textsBelow(home);
    checkJournals(texts);
    storm.crowd.ledger.check(texts);
    const { replies, turns } = storm.crowd;
    process.stderr.write(
      `storm: ${storm.kills} kills, ${replies} replies, ${turns} acknowledged turns, none lost\n`,
    );
  }
  expect(storm.kills).toBeGreaterThan(0);
});
