// Several hosts on one home are asked for the same threads at once, and some of them are killed.
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { checkJournals } from "../model/journals.ts";
import { Random } from "../simulation/random.ts";
import { expectIndexLikeRebuilt, restarted, SOCKET } from "../support/after-crash.ts";
import { Crowd } from "../support/crowd.ts";
import { freshFolder, textsBelow } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { times } from "../support/long-form.ts";
import { STUCK_MS } from "../support/patience.ts";

const ROUNDS = times(2, 6);
const HOSTS = 3;
const ASKS = 30;

const seed = Number(process.env.BOBBIN_SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`[FAULT-15] hosts that want the same threads write each of them one at a time, in ${ROUNDS} rounds (seed ${seed})`, {
  timeout: STUCK_MS,
}, async () => {
  process.stderr.write(`side by side: ${ROUNDS} rounds, BOBBIN_SEED=${seed}\n`);
  const home = await freshFolder();
  const random = new Random(seed);
  const crowd = new Crowd(random);
  const start = () => spawnHost({ args: SOCKET, home });
  for (let round = 0; round < ROUNDS; round++) {
    const hosts = await Promise.all(Array.from({ length: HOSTS }, start));
    const work = async (host: HostProcess) => {
      let left = ASKS;
      await crowd.act(await host.join(undefined, { experimentalApi: true }), () => left-- > 0);
    };
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
    const texts = textsBelow(home);
    checkJournals(texts);
    crowd.ledger.check(texts);
  }
});
