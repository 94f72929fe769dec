import type { Link, LinkEvents } from "@bobbin/rpc";
import { afterEach, describe, expect, it } from "vitest";
import { compose } from "../../packages/host/src/compose.ts";
import { readConfig } from "../../packages/host/src/config/config.ts";
import type { Host } from "../../packages/host/src/host.ts";
import type { ModelEvent, ModelStream } from "../../packages/host/src/model/model.ts";
import { pinoLog } from "../../packages/host/src/observe/log.ts";
import { nodePlatform } from "../../packages/host/src/platform/node.ts";
import { freshFolder } from "../support/folder.ts";
import { mockHost } from "../support/mock-host.ts";
import { endless, sse } from "../support/mock-model.ts";

const MiB = 1024 * 1024;
const DONE: ModelEvent = {
  type: "done",
  usage: {
    totalTokens: 1,
    inputTokens: 1,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: 0,
    reasoningOutputTokens: 0,
  },
  contextWindow: null,
};

const hosts: Host[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

/** A host in this process; its model, if it is given one, waits for nothing. */
async function hostHere(stream?: () => ModelStream): Promise<Host> {
  const { host } = compose({
    ...(stream && { providers: [{ id: "offline", models: async () => [], stream }] }),
    home: await freshFolder(),
    cwd: "/",
    config: readConfig({ model_answer_max_calls: 10_000 }),
    platform: nodePlatform(),
    log: pinoLog({ level: "silent", format: "text", write() {} }),
  });
  hosts.push(host);
  return host;
}

/** A client in the host's own process: what it sends in one breath is there in one breath. */
class NearClient {
  readonly #events: LinkEvents;
  readonly #answered: (client: NearClient) => void;
  // biome-ignore lint/suspicious/noExplicitAny: whatever came.
  readonly #waiting = new Map<number, (result: any) => void>();
  #lastId = 0;
  /** The ids of the requests that were answered, in that order. */
  readonly replies: number[] = [];
  /** How many turns have ended. */
  ended = 0;

  constructor(host: Host, answered: (client: NearClient) => void = () => {}) {
    this.#answered = answered;
    const link: Link = {
      backlog: 0,
      send: ({ messages }) => {
        for (const text of messages) this.#receive(text);
      },
      pause() {},
      resume() {},
      close: async () => this.#events.closed(),
    };
    this.#events = host.accept(link, { transport: "stdio", principal: { kind: "local" } });
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  request(method: string, params: object = {}): Promise<any> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#events.message(JSON.stringify({ id, method, params }));
    });
  }

  initialize(): Promise<void> {
    return this.request("initialize", { clientInfo: { name: "near", version: "1" } });
  }

  #receive(text: string): void {
    const { id, method, result } = JSON.parse(text) as { id?: number; method?: string; result?: unknown };
    if (method === "turn/completed") this.ended++;
    if (id === undefined) return;
    this.replies.push(id);
    this.#answered(this);
    this.#waiting.get(id)?.(result);
  }

  /** Starts a turn in a thread of its own. */
  async startTurn(): Promise<void> {
    const { thread } = await this.request("thread/start");
    await this.request("turn/start", { threadId: thread.id, input: [{ type: "text", text: "go" }] });
  }
}

/** Asks for something again and again, with a turn of the loop in between as it takes on any wire; how often. */
async function askUntil(client: NearClient, over: () => boolean): Promise<number> {
  let asked = 0;
  for (; !over(); asked++) {
    await client.request("model/list");
    await new Promise(setImmediate);
  }
  return asked;
}

describe("a host with much to do", () => {
  it("[LOAD-9] serves one client between the hundreds of requests of another, whose order is kept", async () => {
    const host = await hostHere();
    const order: NearClient[] = [];
    const [busy, other] = [0, 1].map(() => new NearClient(host, (client) => order.push(client))) as [
      NearClient,
      NearClient,
    ];
    await Promise.all([busy.initialize(), other.initialize()]);
    await busy.request("model/list");
    order.length = 0;
    const crowd = Array.from({ length: 500 }, () => busy.request("model/list"));
    await other.request("model/list");
    // Some of the crowd begin at once; from then on the two take turns.
    expect(order.indexOf(other)).toBeLessThan(30);
    await Promise.all(crowd);
    expect(busy.replies).toEqual(Array.from({ length: 502 }, (_, nth) => nth + 1));
  });

  it("[LOAD-10] answers clients while a model streams as fast as it can", async () => {
    let pieces = 0;
    const text = "and so on ".repeat(10);
    const host = await hostHere(async function* () {
      yield [{ type: "messageStarted", itemId: "m" }];
      for (; ; pieces++) yield [{ type: "messageDelta", itemId: "m", text }];
    });
    const [busy, other] = [new NearClient(host), new NearClient(host)];
    await Promise.all([busy.initialize(), other.initialize()]);
    await busy.startTurn();
    const asked = await askUntil(other, () => busy.ended > 0);
    // It ended at its limit, and never had the host for itself.
    expect(pieces).toBeGreaterThan(20_000);
    expect(asked).toBeGreaterThan(20);
  });

  it("[LOAD-10] answers clients while a model calls thousands of tools", async () => {
    const calls = Array.from({ length: 5000 }, (_, nth): ModelEvent => {
      const call = { callId: `c${nth}`, name: "update_plan", namespace: null, arguments: '{"plan":[]}' };
      return { type: "toolCall", call: { ...call, kind: "function" } };
    });
    let answers = 0;
    const host = await hostHere(async function* () {
      yield answers++ === 0 ? [...calls, DONE] : [DONE];
    });
    const [busy, other] = [new NearClient(host), new NearClient(host)];
    await Promise.all([busy.initialize(), other.initialize()]);
    await busy.startTurn();
    const asked = await askUntil(other, () => busy.ended > 0);
    expect(answers).toBe(2);
    expect(asked).toBeGreaterThan(20);
  });

  it("[MODEL-12] interrupts a turn whose model streams without end", async () => {
    const start = { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "m" } };
    const piece = { type: "response.output_text.delta", item_id: "m", delta: "and so on ".repeat(10) };
    const flood = endless(sse([start]), sse([piece]).repeat(200));
    const limits = [`model_item_max_bytes = ${32 * MiB}`, `model_answer_max_bytes = ${256 * MiB}`];
    const { client, threadId } = await mockHost([flood], limits);
    const turnId = await client.say(threadId, "hi");
    await client.waitFor(({ method }) => method === "item/agentMessage/delta", "a delta");
    await client.call("turn/interrupt", { threadId, turnId });
    const { params } = await client.turnCompleted(turnId);
    expect(params.turn.status).toBe("interrupted");
    const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
    const said = thread.turns[0].items.find(({ type }: { type: string }) => type === "agentMessage");
    // What came until then, and what was on its way: far from the limit.
    expect(said.text.length).toBeLessThan(16 * MiB);
  });
});
