import assert from "node:assert/strict";
import type { Random } from "../simulation/random.ts";
import { workedMs } from "../support/patience.ts";
import { type Act, type Bookmark, CLIENT_KINDS, choose, type Step } from "./acts.ts";
import type { RealClient, RealHost } from "./real-host.ts";
import { Reference } from "./reference.ts";
import type { Told } from "./reference-thread.ts";
import { forReference, Names, type Worded, worded } from "./wording.ts";

type Expected = ReadonlyMap<string, ReadonlyMap<string, readonly Told[]>>;

const LONG_SECS = 3600;
/** Makes the built-in model answer for half a minute, which is longer than any schedule. */
const SLOWLY = `slowly${" on".repeat(200)}`;

/**
 * Runs the acts and the reference of `sequential.ts` against a process with real files and sockets. Not compared,
 * because they need a controlled clock and model: the model's texts and their deltas, token counts, failing turns,
 * and unloads after a delay.
 */
export class RealSchedule {
  readonly #host: RealHost;
  readonly #random: Random;
  readonly #reference = new Reference();
  readonly #names = new Names();
  readonly #clients = new Map<string, RealClient>();
  readonly #bookmarks: Bookmark[] = [];
  /** Follows no thread and never disconnects, so that it gets all notifications for everyone. */
  #observer!: RealClient;
  #connected = 0;
  readonly done: string[] = [];

  constructor(host: RealHost, random: Random) {
    this.#host = host;
    this.#random = random;
  }

  async run(plan: readonly Step[]): Promise<void> {
    const random = this.#random;
    await this.#enter();
    for (const step of plan) {
      const act = choose(step, this.#reference, this.#bookmarks);
      if (act !== undefined) await this.#do(act);
    }
    await this.#readEverything();
    if (random.chance(0.25)) {
      await this.#do({ do: random.pick(["restart", "kill"] as const) });
      await this.#readEverything();
    }
    await this.#cleanUp();
  }

  /** The host is used for other schedules, too, so nothing of this one may be left running. */
  async #cleanUp(): Promise<void> {
    for (const { id, deleted } of this.#reference.threads.values()) {
      if (!deleted) await this.#ask("thread/delete", { threadId: id });
    }
    for (const client of this.#clients.keys()) await this.#do({ do: "leave", client });
    await this.#observer.wire.close();
    await this.#host.knows(0);
  }

  async #readEverything(): Promise<void> {
    for (const threadId of this.#reference.threads.keys()) {
      await this.#ask("thread/read", { threadId, includeTurns: true });
    }
    await this.#ask("thread/loaded/list", {});
  }

  #ask(method: string, params: Record<string, unknown>): Promise<void> {
    return this.#do({ do: "request", client: this.#observer.name, method, params });
  }

  async #do(act: Act): Promise<void> {
    switch (act.do) {
      case "jump":
      // The built-in model asks no questions.
      case "answer":
        return;
      case "connect":
        this.#note(act);
        await this.#join(act.kind.capabilities, act.kind.delayMs === 0 ? 0 : LONG_SECS);
        break;
      case "request":
        await this.#request(act);
        break;
      case "leave":
      case "cut":
        if (act.client === this.#observer.name) return;
        this.#note(act);
        await this.#leave(act);
        break;
      case "restart":
      case "kill":
        this.#note(act);
        return this.#again(act.do);
    }
    await this.#told();
    if (act.do === "request" && act.params.threadId !== undefined) {
      await this.#shows(act.params.threadId as string);
    }
  }

  #note(act: object): void {
    this.done.push(JSON.stringify(act).replace(SLOWLY, "slowly"));
  }

  /** Starts with several clients, because a schedule is too short to wait until they connect by chance. */
  async #enter(): Promise<void> {
    this.#observer = await this.#join({}, LONG_SECS);
    await this.#told();
    for (const at of [0, 2]) {
      await this.#do({ do: "connect", kind: CLIENT_KINDS[this.#random.chance(0.7) ? at : at + 1]! });
    }
  }

  async #join(capabilities: object, delaySecs: number): Promise<RealClient> {
    const name = `client${++this.#connected}`;
    const client = await this.#host.connect(name, { ...capabilities, threadUnloadDelaySecs: delaySecs });
    this.#clients.set(name, client);
    const experimental = "experimentalApi" in capabilities;
    const cursors = "eventCursor" in capabilities;
    this.#reference.connect({ name, delayMs: delaySecs * 1000, experimental, cursors });
    return client;
  }

  async #leave({ do: how, client: name }: { do: "leave" | "cut"; client: string }): Promise<void> {
    const { wire } = this.#clients.get(name)!;
    await (how === "leave" ? wire.close() : wire.cut());
    this.#clients.delete(name);
    this.#reference.disconnect(name);
    await this.#host.knows(this.#clients.size);
  }

  async #again(how: "restart" | "kill"): Promise<void> {
    await (how === "restart" ? this.#host.stop() : this.#host.kill());
    await Promise.all([...this.#clients.values()].map(({ wire }) => wire.closed));
    if (how === "restart") this.#reference.close();
    else this.#reference.kill();
    this.#compare(this.#reference.take());
    this.#clients.clear();
    await this.#host.start();
    await this.#enter();
  }

  async #request(act: Extract<Act, { do: "request" }>): Promise<void> {
    const { client, method } = act;
    const params = playable(act.params);
    this.#note({ ...act, params });
    const { result } = await this.#clients.get(client)!.request(method, this.#names.real(params));
    if (result !== undefined) this.#names.learn({ method, params }, result);
    this.#reference.request(client, method, forReference(params));
  }

  /**
   * Waits for the expected frames, and then for a reply on every connection: any unexpected frame would come before
   * it.
   */
  async #told(): Promise<void> {
    const expected = this.#reference.take();
    try {
      for (const [name, client] of this.#clients) {
        const owed = [...(expected.get(name)?.values() ?? [])].flat().filter(isCompared).length;
        await client.wire.until(() => client.fresh.length >= owed, `${owed} frames for ${name}`);
      }
      for (const client of this.#clients.values()) {
        const method = "thread/loaded/list";
        const reply = await client.peek(method, {});
        const { what } = worded(reply, () => ({ method, params: {} }), this.#names);
        assert.equal(what, `reply ${this.#reference.loaded.join(" ")}`, "threads that are loaded");
      }
    } catch (cause) {
      // The frames that came instead are more useful than the message that one is missing.
      this.#compare(expected);
      throw cause;
    }
    this.#compare(expected);
  }

  /**
   * What `thread/read` shows of a thread. For a thread without followers, this is the only way to see how far its
   * turn is.
   */
  async #shows(threadId: string): Promise<void> {
    const asked = { method: "thread/read", params: { threadId, includeTurns: true } };
    const { name } = this.#observer;
    this.#reference.request(name, asked.method, asked.params);
    const [expected] = this.#reference.take().get(name)!.get(threadId)!;
    const end = workedMs() + 10_000;
    for (;;) {
      const reply = await this.#observer.peek(asked.method, this.#names.real(asked.params));
      const { what } = worded(reply, () => asked, this.#names);
      const moves = this.#reference.threads.get(threadId)!.load?.running !== undefined;
      if (comparable(what) === comparable(expected!.what)) return;
      if (!moves || workedMs() > end)
        assert.equal(comparable(what), comparable(expected!.what), `${threadId} as it is read`);
    }
  }

  #compare(told: Expected): void {
    for (const [name, client] of this.#clients) {
      const frames = client.look().map((frame) => worded(frame, (id) => client.asked(id), this.#names));
      const expected = told.get(name) ?? new Map<string, readonly Told[]>();
      for (const thread of new Set([...expected.keys(), ...frames.map((frame) => frame.thread)])) {
        const here = frames.filter((frame) => frame.thread === thread);
        this.#compareThread(name, thread, here, (expected.get(thread) ?? []).filter(isCompared));
      }
    }
  }

  #compareThread(client: string, thread: string, frames: readonly Worded[], expected: readonly Told[]): void {
    const words = frames.map(
      ({ what, cursor }) => comparable(what) + (cursor === undefined ? "" : " (cursor)"),
    );
    const owed = expected.map(
      ({ what, feedAt }) => comparable(what) + (feedAt === undefined ? "" : " (cursor)"),
    );
    assert.deepEqual(words, owed, `${client} was told this about ${thread || "the host"}, not that`);
    frames.forEach(({ cursor }, at) => {
      if (cursor === undefined) return;
      const feedAt = expected[at]!.feedAt!;
      const known = this.#bookmarks.find((one) => one.thread === thread && one.feedAt === feedAt);
      if (known === undefined) this.#bookmarks.push({ thread, cursor, feedAt });
      else assert.equal(cursor, known.cursor, `the cursor of ${thread} ${feedAt}`);
    });
  }
}

/** The built-in model answers at once or talks for long. It neither waits before it answers nor fails. */
function playable(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const [input] = (params.input ?? []) as readonly { readonly text: string }[];
  if (input === undefined) return params;
  const [mood, number] = input.text.split(" ");
  const text = mood === "slow" || mood === "hang" ? `hang ${number} ${SLOWLY}` : `quick ${number}`;
  return { ...params, input: [{ type: "text", text }] };
}

function isCompared({ what }: Told): boolean {
  return !what.startsWith("text ");
}

function comparable(what: string): string {
  return what
    .replaceAll(/agent (?:quick|hang)[a-z0-9 ]* under (?:nothing|rules \d+)/g, "agent ")
    .replaceAll(SLOWLY, "slowly")
    .replace(/^usage \d+$/, "usage");
}
