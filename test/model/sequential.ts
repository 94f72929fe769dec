import assert from "node:assert/strict";
import { readConfig } from "../../packages/host/src/config/config.ts";
import type { SimClient } from "../simulation/sim-client.ts";
import type { SimHost } from "../simulation/sim-host.ts";
import type { World } from "../simulation/world.ts";
import { type Act, type Bookmark, choose, type Step } from "./acts.ts";
import { Reference } from "./reference.ts";
import type { Told } from "./reference-thread.ts";
import { byMood } from "./scripts.ts";
import { forReference, Names, type Worded, withTextJoined, worded } from "./wording.ts";

/** Performs one act after the other, and compares every frame of every client with the reference. */
export class Sequential {
  readonly #world: World;
  readonly #reference = new Reference();
  readonly #names = new Names();
  readonly #clients = new Map<string, SimClient>();
  /** The number of compared frames per client. */
  readonly #seen = new Map<string, number>();
  readonly #bookmarks: Bookmark[] = [];
  readonly #maxResident: number;
  #host!: SimHost;
  /** The performed acts, for people. */
  readonly done: string[] = [];

  constructor(world: World) {
    this.#world = world;
    this.#maxResident = world.random.pick([1, 2, 256]);
    // Only jumps move the clock, because the reference does not know how long a step takes.
    world.scheduler.pace = 0;
    world.model.scripts = byMood;
  }

  async run(plan: readonly Step[]): Promise<void> {
    await this.#start();
    for (const step of plan) {
      const act = choose(step, this.#reference, this.#bookmarks);
      if (act !== undefined) await this.#do(act);
    }
    await this.#readEverything();
    await this.#do({ do: "restart" });
    await this.#readEverything();
    await this.#host.close();
  }

  async #readEverything(): Promise<void> {
    const client = await this.#connect({ transport: "stdio", delayMs: 0, capabilities: {} });
    for (const threadId of this.#reference.threads.keys()) {
      const params = { threadId, includeTurns: true };
      await this.#do({ do: "request", client, method: "thread/read", params });
    }
    await this.#do({ do: "request", client, method: "thread/loaded/list", params: {} });
    await this.#do({ do: "leave", client });
  }

  async #do(act: Act): Promise<void> {
    this.done.push(act.do === "request" ? `${act.client} ${act.method} ${json(act.params)}` : json(act));
    switch (act.do) {
      case "connect":
        await this.#connect(act.kind);
        break;
      case "request":
        await this.#request(act);
        break;
      case "leave":
      case "cut":
        this.#clients.get(act.client)![act.do]();
        this.#reference.disconnect(act.client);
        break;
      case "jump":
        await this.#world.sleep(act.ms);
        this.#reference.jump(act.ms);
        break;
      case "answer":
        this.#answer(act);
        break;
      case "restart":
        await this.#host.close();
        this.#reference.close();
        this.#compare();
        await this.#start();
        break;
      case "kill":
        this.#host.crash("kill");
        await this.#start();
        this.#reference.kill();
        break;
    }
    await this.#world.scheduler.quiet();
    this.#compare();
  }

  async #start(): Promise<void> {
    const config = readConfig({
      max_resident_threads: this.#maxResident,
      server_request_deadline_secs: 100_000_000,
    });
    this.#host = await this.#world.start({ config });
    await this.#world.scheduler.quiet();
  }

  async #connect({ transport, delayMs, capabilities }: Extract<Act, { do: "connect" }>["kind"] | Plain) {
    const client = this.#host.connect({ transport });
    client.rules.onlyReplies = true;
    await client.initialize(capabilities);
    const { name } = client;
    this.#clients.set(name, client);
    this.#seen.set(name, client.frames.length);
    const experimental = "experimentalApi" in capabilities;
    const cursors = "eventCursor" in capabilities;
    this.#reference.connect({ name, delayMs, experimental, cursors });
    return name;
  }

  async #request({ client, method, params }: Extract<Act, { do: "request" }>): Promise<void> {
    const outcome = await this.#clients.get(client)!.request(method, this.#names.real(params));
    await this.#world.scheduler.quiet();
    assert("reply" in outcome, `${client}: ${method} got no reply`);
    const { result } = outcome.reply;
    if (result !== undefined) this.#names.learn({ method, params }, result);
    this.#reference.request(client, method, forReference(params));
  }

  /** Any client may answer, with the request's ID, which is the same on every connection. */
  #answer({ client, thread }: Extract<Act, { do: "answer" }>): void {
    const threadId = this.#names.id(thread);
    const asked = this.#world.clients
      .flatMap(({ frames }) => frames)
      .findLast(
        ({ method, params }) => method === "item/tool/requestUserInput" && params!.threadId === threadId,
      );
    // There may have been no client to send the request to.
    const id = asked?.id ?? 1;
    this.#clients.get(client)!.answer(id, { result: { answers: { q: { answers: ["A"] } } } });
    if (asked !== undefined) this.#reference.answer(client, thread);
  }

  #compare(): void {
    const told = this.#reference.take();
    for (const [name, client] of this.#clients) {
      const asked = (id: number) => client.asked.get(id)!;
      const fresh = client.frames.slice(this.#seen.get(name)!);
      this.#seen.set(name, client.frames.length);
      const frames = fresh.map((frame) => worded(frame, asked, this.#names));
      const expected = told.get(name) ?? new Map<string, readonly Told[]>();
      const threads = new Set([...expected.keys(), ...frames.map(({ thread }) => thread)]);
      for (const thread of threads) {
        const here = withTextJoined(frames.filter((frame) => frame.thread === thread));
        this.#compareThread(name, thread, here, expected.get(thread) ?? []);
      }
    }
  }

  #compareThread(client: string, thread: string, frames: readonly Worded[], expected: readonly Told[]): void {
    const told = frames.map(({ what, cursor }) => `${what}${cursor === undefined ? "" : " (cursor)"}`);
    const owed = expected.map(({ what, feedAt }) => `${what}${feedAt === undefined ? "" : " (cursor)"}`);
    assert.deepEqual(told, owed, `${client} was told this about ${thread || "the host"}, not that`);
    frames.forEach(({ cursor }, at) => {
      const feedAt = expected[at]!.feedAt;
      if (cursor !== undefined) this.#bookmark({ thread, cursor, feedAt: feedAt! });
    });
  }

  /** A cursor always means the same position, whichever client gets it, and whenever. */
  #bookmark(bookmark: Bookmark): void {
    const { thread, cursor, feedAt } = bookmark;
    const known = this.#bookmarks.find((one) => one.thread === thread && one.feedAt === feedAt);
    if (known === undefined) this.#bookmarks.push(bookmark);
    else assert.equal(cursor, known.cursor, `the cursor of ${thread} ${feedAt}`);
  }
}

interface Plain {
  readonly transport: "stdio";
  readonly delayMs: number;
  readonly capabilities: Record<string, unknown>;
}

function json(value: unknown): string {
  return JSON.stringify(value);
}
