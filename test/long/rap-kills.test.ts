// A host is killed at random moments of call, result and the model's next word: a result has its effect once, a call
// that may not be sent again is not, and no closing is told twice.
import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { Random } from "../simulation/random.ts";
import { eventually } from "../support/eventually.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { times } from "../support/long-form.ts";
import { type Asked, MockModel, type Reply, responses } from "../support/mock-model.ts";
import { STUCK_MS } from "../support/patience.ts";
import { call, EXPERIMENTAL, rapHome, SOCKET, say } from "../support/rap-stage.ts";
import { AGAIN, type JournalRecord, ONCE, resultOf, ToolLedger } from "../support/tool-ledger.ts";
import { type Behave, FakeToolServer, postBack } from "../support/tool-server.ts";
import type { WireClient } from "../support/wire-client.ts";

const KILLS = times(6, 50);
const THREADS = 3;
const CALLS_A_TURN = 3;
const DEADLINE_SECS = 8;

const seed = Number(process.env.BOBBIN_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Calls tools until it has enough results, then says so. Knows nothing but what it is shown. */
class Caller {
  /** What each call was shown to have come to, in all the words that ever were. */
  readonly shown = new Map<string, Set<string>>();
  readonly #random: Random;
  #calls = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  readonly reply: Reply = (response, asked) => this.#next(asked)(response, asked);

  #next({ body: { input } }: Asked): Reply {
    let results = 0;
    for (const { type, role, call_id, output } of input) {
      if (role === "user") results = 0;
      if (type !== "function_call_output") continue;
      results++;
      const seen = this.shown.get(call_id) ?? new Set();
      this.shown.set(call_id, seen.add(JSON.stringify(output)));
    }
    if (results >= CALLS_A_TURN) return say("Done");
    const count = this.#random.pick([1, 1, 2]);
    return call(
      ...Array.from({ length: count }, () =>
        responses.call(this.#random.pick([AGAIN, ONCE]), "{}", `call_${++this.#calls}`),
      ),
    );
  }
}

/** Takes every call, works a little, and tries to get rid of the result until someone has taken or refused it. */
function working(ledger: ToolLedger, random: Random, over: AbortSignal): Behave {
  const deliver = async (url: string, message: object, callId: string): Promise<void> => {
    while (!over.aborted) {
      const status = await postBack(url, message).catch(() => 599);
      if (status === 200) ledger.taken(callId, Date.now());
      if (status < 500) return;
      await wait(20);
    }
  };
  return async (response, { body: { id, group_id, callback_url, operation } }) => {
    ledger.invoked(group_id, id, operation);
    const message = { type: "tool_result", id, group_id, text: resultOf(id) };
    // Some are quicker with the result than with saying that they took the call.
    if (random.chance(0.2)) await deliver(callback_url, message, id);
    await wait(random.pick([0, 0, 5]));
    response.writeHead(200).end();
    await wait(random.pick([0, 0, 10, 60]));
    // Some tell it twice.
    for (let times = random.pick([1, 1, 2]); times > 0; times--) await deliver(callback_url, message, id);
  };
}

async function records(path: string): Promise<JournalRecord[]> {
  const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
  return lines.flatMap((line) => JSON.parse(line).records);
}

it(`[RAPR-62] results have their effect once over ${KILLS} kills of their host (seed ${seed})`, {
  timeout: STUCK_MS,
}, async () => {
  process.stderr.write(`tool results: ${KILLS} kills, BOBBIN_SEED=${seed}\n`);
  const random = new Random(seed);
  const caller = new Caller(new Random(random.uint32()));
  const ledger = new ToolLedger();
  const over = new AbortController();
  const model = await MockModel.start(caller.reply);
  const desk = await FakeToolServer.start({ [AGAIN]: { annotations: { idempotent: true } }, [ONCE]: {} });
  desk.on.set("/invoke", working(ledger, random, over.signal));
  desk.on.set("/close_thread", (response, { body }) => {
    ledger.closed(body.thread_id);
    response.writeHead(200).end();
  });
  // A call that was lost on its way is waited for so long, and not ten minutes.
  const lines = [`call_deadline_secs = ${DEADLINE_SECS}`];
  const { home, cwd } = await rapHome(model.url, { servers: { desk }, lines });

  const live = async (): Promise<{ host: HostProcess; client: WireClient }> => {
    const host = await spawnHost({ home, args: SOCKET });
    return { host, client: await host.join(undefined, EXPERIMENTAL) };
  };
  const threads: string[] = [];
  const act = async (client: WireClient, threadId: string): Promise<void> => {
    try {
      for (;;) {
        await client.call("thread/resume", { threadId });
        await client.turnCompleted(await client.say(threadId, "work"));
        if (random.chance(0.3)) await client.call("thread/unload", { threadId });
      }
    } catch (cause) {
      if (!/the wire ended|active turn|in progress/.test(String(cause))) throw cause;
    }
  };

  let { host, client } = await live();
  for (let left = THREADS; left > 0; left--) threads.push(await client.startThread({ cwd }));
  // A thread of which nothing was said yet is none that a kill leaves.
  for (const threadId of threads) await client.turn(threadId, "hello");
  for (let kill = 0; kill < KILLS; kill++) {
    const acting = threads.map((threadId) => act(client, threadId));
    await wait(random.between(1, 300));
    await host.kill();
    await Promise.all(acting);
    ({ host, client } = await live());
  }
  for (const threadId of threads) await client.call("thread/resume", { threadId });
  await eventually(async () => {
    const states = threads.map((threadId) => client.call("thread/read", { threadId }));
    return (await Promise.all(states)).every(({ thread }) => thread.status.type === "idle");
  }, "all turns have ended");
  const paths: string[] = [];
  for (const threadId of threads) {
    const { thread } = await client.call("thread/read", { threadId });
    paths.push(thread.path);
    await client.turn(threadId, "and again");
  }
  host.signal("SIGTERM");
  expect(await host.exited).toEqual({ code: 0, signal: null });
  over.abort();
  for (const [at, threadId] of threads.entries()) {
    const written = await records(paths[at]!);
    ledger.check(threadId, written, caller.shown);
    expect(written.filter(({ type }) => type === "toolAnswered").length).toBeGreaterThan(0);
  }
});
