import { Frame, type MemoryLink, memoryPair } from "@bobbin/rpc";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Bobbin } from "./bobbin.ts";
import { overLink } from "./client-over-link.ts";
import { type ConnectOptions, connect } from "./connect.ts";

type Message = Record<string, unknown> & {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
};

/** A host that the test plays. Requests without an answer here get an empty result. */
class Host {
  readonly asked: Message[] = [];
  /** Answers by method, each for one request. The last one stays. */
  readonly replies = new Map<string, ((params: Record<string, unknown>) => object | undefined)[]>();
  links: MemoryLink[] = [];
  #watchers: { readonly method: string; readonly done: (message: Message) => void }[] = [];

  reply(method: string, ...replies: ((params: Record<string, unknown>) => object | undefined)[]): this {
    this.replies.set(method, replies);
    return this;
  }

  async connect(options: ConnectOptions = {}): Promise<Bobbin> {
    return await connect(async () => overLink(this.open()), { retry: { firstMs: 1, maxMs: 1 }, ...options });
  }

  say(...messages: object[]): void {
    this.links.at(-1)!.send(new Frame(...messages.map((message) => JSON.stringify(message))));
  }

  /** The next request of a method that has not come yet. */
  next(method: string): Promise<Message> {
    return new Promise((done) => this.#watchers.push({ method, done }));
  }

  cut(): void {
    this.links.at(-1)!.cut();
  }

  /** Cuts the connection, and waits for the next one. */
  async lose(bobbin: Bobbin): Promise<void> {
    const again = new Promise<void>((resolve) => {
      const stop = bobbin.onConnection(({ state }) => {
        if (state !== "connected") return;
        stop();
        resolve();
      });
    });
    this.cut();
    await again;
  }

  open(): MemoryLink {
    const [ours, theirs] = memoryPair();
    this.links.push(
      theirs.attach({
        message: (text) => this.#receive(JSON.parse(text) as Message),
        oversized() {},
        undecodable() {},
        drained() {},
        closed() {},
      }),
    );
    return ours;
  }

  #receive(message: Message): void {
    this.asked.push(message);
    const { id, method = "", params = {} } = message;
    if (message.method !== undefined && id !== undefined) {
      const replies = this.replies.get(method) ?? [];
      const reply = replies.length > 1 ? replies.shift() : replies[0];
      const answer = reply === undefined ? { result: {} } : reply(params);
      if (answer !== undefined) this.say({ id, ...answer });
    }
    const found = this.#watchers.filter((one) => one.method === (message.method ?? "answer"));
    this.#watchers = this.#watchers.filter((one) => !found.includes(one));
    for (const { done } of found) done(message);
  }
}

const loaded =
  (more: object = {}, turns: object[] = []) =>
  () => ({
    result: { thread: { id: "t", name: null, status: { type: "idle" }, turns }, model: "m", ...more },
  });
const queue = () => ({ result: { data: [], nextCursor: null } });

/** A host with one thread. */
function hostWithThread(): Host {
  return new Host()
    .reply("thread/start", loaded())
    .reply("thread/resume", loaded())
    .reply("thread/queue/list", queue);
}

const started = (cursor: string) => ({
  method: "turn/started",
  params: { threadId: "t", cursor, turn: { id: "turn", status: "inProgress", items: [] } },
});
const completed = (cursor: string) => ({
  method: "turn/completed",
  params: { threadId: "t", cursor, turn: { id: "turn", status: "completed", items: [], error: null } },
});

describe("connect", () => {
  it("asks for cursors and the experimental API", async () => {
    const host = new Host();
    const bobbin = await host.connect({ name: "me", version: "2" });
    expect(host.asked[0]).toMatchObject({
      method: "initialize",
      params: {
        clientInfo: { name: "me", version: "2" },
        capabilities: { experimentalApi: true, eventCursor: true },
      },
    });
    expect(bobbin.connection).toEqual({ state: "connected" });
    await bobbin.close();
    await bobbin.close();
    expect(bobbin.connection.state).toBe("closed");
    await expect(bobbin.request("model/list", {})).rejects.toThrow("the client was closed");
  });

  it("rejects if the first connection fails, and goes on trying if it may wait", async () => {
    let attempts = 0;
    const host = new Host();
    const open = async (): Promise<never> => {
      attempts++;
      throw new Error(`no host (${attempts})`);
    };
    await expect(connect(open)).rejects.toThrow("no host (1)");
    attempts = 0;
    const patient = await connect(async () => (attempts < 3 ? await open() : overLink(host.open())), {
      waitForHost: true,
      retry: { firstMs: 1, maxMs: 1 },
    });
    expect(patient.connection.state).toBe("connected");
    await patient.close();
  });

  it("follows its threads again after a loss, behind the last cursor, and tells who listens", async () => {
    const host = hostWithThread().reply("thread/resume", loaded({ replay: { gap: false } }));
    const bobbin = await host.connect();
    const states: string[] = [];
    bobbin.onConnection(({ state }) => states.push(state));
    const gaps: string[] = [];
    bobbin.onGap(({ threadId }) => gaps.push(threadId));
    const thread = await bobbin.startThread();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { method } of thread) {
        seen.push(method);
        if (method === "turn/completed") return;
      }
    })();
    host.say(started("1.1.1"));
    await bobbin.request("model/list", {});
    const resumed = host.next("thread/resume");
    host.cut();
    expect((await resumed).params).toEqual({ threadId: "t", afterCursor: "1.1.1", excludeTurns: true });
    await bobbin.connected();
    host.say(completed("1.2.1"));
    await reading;
    expect(seen).toEqual(["turn/started", "turn/completed"]);
    expect(states).toEqual(["connecting", "connected"]);
    expect(gaps).toEqual([]);
    expect(thread.state).toMatchObject({ cursor: "1.2.1", turns: [{ id: "turn", status: "completed" }] });
    await bobbin.close();
  });

  it("reports a gap, reads the thread again, and gives the result of a turn that ended meanwhile", async () => {
    const turn = { id: "turn", status: "completed", items: [], error: null };
    const host = hostWithThread()
      .reply("turn/start", () => ({ result: { turn: { id: "turn", status: "inProgress", items: [] } } }))
      .reply("thread/resume", loaded({ replay: { gap: true } }), loaded({}, [turn]));
    const bobbin = await host.connect();
    const gap = new Promise((resolve) => bobbin.onGap(resolve));
    const thread = await bobbin.startThread();
    const running = await thread.startTurn("hi");
    host.say(started("1.1.1"));
    await bobbin.request("model/list", {});
    host.cut();
    expect(await gap).toEqual({ threadId: "t" });
    expect(await running.result()).toMatchObject({ turnId: "turn", status: "completed" });
    // The loop ends, too, although the turn's last notification is among those that are missing.
    const seen: string[] = [];
    for await (const { method } of running) seen.push(method);
    expect(seen).toEqual(["turn/started"]);
    await bobbin.close();
  });

  it("repeats what may be repeated, with the same id, and rejects what may not", async () => {
    const host = hostWithThread();
    const bobbin = await host.connect();
    const lost = () => {
      host.cut();
      return undefined;
    };
    host.reply("thread/start", lost, loaded());
    await bobbin.startThread();
    const starts = host.asked.filter(({ method }) => method === "thread/start");
    expect(starts).toHaveLength(2);
    expect(starts[0]!.params!.idempotencyKey).toMatch(/^[0-9a-f]{32}$/);
    expect(starts[1]!.params).toEqual(starts[0]!.params);
    host.reply("thread/archive", lost);
    await expect(bobbin.request("thread/archive", { threadId: "t" })).rejects.toMatchObject({
      name: "NoAnswerError",
      reason: "closed",
    });
    const overloaded = () => ({ error: { code: -32001, message: "later", data: { code: "overloaded" } } });
    host.reply("thread/archive", overloaded, () => ({ result: {} }));
    await bobbin.request("thread/archive", { threadId: "t" });
    await bobbin.close();
  });

  it("ends a thread that the host does not have any more", async () => {
    const host = hostWithThread().reply("thread/resume", () => ({
      error: { code: -32600, message: "thread not found: t", data: { code: "threadNotFound" } },
    }));
    const bobbin = await host.connect();
    const thread = await bobbin.startThread();
    const reading = thread[Symbol.asyncIterator]().next();
    const ends: unknown[] = [];
    thread.subscribe(() => ends.push(thread.ended?.error));
    expect(thread.ended).toBeUndefined();
    host.cut();
    await expect(reading).rejects.toThrow("thread not found: t");
    expect(ends.at(-1)).toMatchObject({ message: "thread not found: t" });
    expect(bobbin.threads.size).toBe(0);
    await bobbin.close();
  });

  it("gives listeners each notification once, when the state has its effect", async () => {
    const host = hostWithThread().reply("thread/resume", loaded({ replay: { gap: false } }));
    const bobbin = await host.connect();
    const thread = await bobbin.startThread();
    const seen: unknown[] = [];
    const stop = thread.onNotification(({ method, params }) => {
      seen.push("delta" in params ? params.delta : method, thread.state.running.get("i")?.text);
    });
    const item = { type: "agentMessage", id: "i", text: "", startedAtMs: 1, completedAtMs: null };
    const says = (delta: string) => ({
      method: "item/agentMessage/delta",
      params: { threadId: "t", turnId: "turn", itemId: "i", delta },
    });
    host.say(started("1.1.1"));
    host.say({ method: "item/started", params: { threadId: "t", turnId: "turn", cursor: "1.2.1", item } });
    host.say(says("One "));
    await bobbin.request("model/list", {});
    await host.lose(bobbin);
    // On a new connection the host sends a running text from its beginning.
    host.say(says("One two "));
    host.say(says("three"));
    await bobbin.request("model/list", {});
    stop();
    host.say(completed("1.3.1"));
    await bobbin.request("model/list", {});
    expect(seen).toEqual([
      ...["turn/started", undefined, "item/started", "", "One ", "One "],
      ...["two ", "One two ", "three", "One two three"],
    ]);
    await bobbin.close();
  });

  it("reports a gap of a thread that is loaded again after an unload", async () => {
    const host = hostWithThread().reply("thread/resume", loaded({ replay: { gap: true } }), loaded());
    const bobbin = await host.connect();
    const thread = await bobbin.startThread();
    const gaps: string[] = [];
    bobbin.onGap(({ threadId }) => gaps.push(threadId));
    const status = { type: "notLoaded" };
    host.say({ method: "thread/status/changed", params: { threadId: "t", cursor: "1.1.1", status } });
    await bobbin.request("model/list", {});
    expect(thread.isUnloaded).toBe(true);
    await bobbin.reload(thread);
    expect(gaps).toEqual(["t"]);
    await bobbin.close();
  });

  it("closes a connection that is being prepared when the client is closed", async () => {
    const host = new Host().reply("initialize", () => undefined);
    let client!: ReturnType<typeof overLink>;
    const closing = new AbortController();
    const asked = host.next("initialize");
    const connecting = connect(
      async () => {
        client = overLink(host.open());
        return client;
      },
      { signal: closing.signal },
    );
    await asked;
    const closed = new Promise((resolve) => client.onClosed(resolve));
    closing.abort(new Error("no more"));
    await expect(connecting).rejects.toThrow("no more");
    await closed;
  });

  it("keeps a callback's question open over a loss, and sends the one answer again until it is confirmed", async () => {
    const host = hostWithThread().reply("thread/resume", loaded({ replay: { gap: false } }));
    let answer!: (decision: "accept") => void;
    const asked: string[] = [];
    let aborted = false;
    const bobbin = await host.connect({
      answers: {
        command: ({ itemId }, { signal }) => {
          asked.push(itemId);
          signal.addEventListener("abort", () => {
            aborted = true;
          });
          return new Promise<"accept">((resolve) => {
            answer = resolve;
          });
        },
      },
    });
    const thread = await bobbin.startThread();
    host.say(started("1.1.1"));
    const ask = {
      id: 7,
      method: "item/commandExecution/requestApproval",
      params: { threadId: "t", itemId: "i" },
    };
    host.say(ask);
    await bobbin.request("model/list", {});
    expect(thread.state.requests).toMatchObject([{ id: 7 }]);
    await host.lose(bobbin);
    host.say(ask);
    await bobbin.request("model/list", {});
    let answered = host.next("answer");
    answer("accept");
    expect(await answered).toEqual({ id: 7, result: { decision: "accept" } });
    answered = host.next("answer");
    await host.lose(bobbin);
    host.say(ask);
    expect(await answered).toEqual({ id: 7, result: { decision: "accept" } });
    expect([asked, aborted]).toEqual([["i"], false]);
    host.say({ method: "serverRequest/resolved", params: { threadId: "t", requestId: 7 } });
    await bobbin.request("model/list", {});
    expect([thread.state.requests, aborted]).toEqual([[], true]);
    await bobbin.close();
  });

  it("refuses questions without a callback, unless they are answered by hand", async () => {
    const ask = {
      id: 7,
      method: "item/fileChange/requestApproval",
      params: { threadId: "t", itemId: "i" },
    };
    const host = hostWithThread();
    const refusing = await host.connect();
    await refusing.startThread();
    let answered = host.next("answer");
    host.say(ask);
    expect(await answered).toMatchObject({ id: 7, error: { code: -32601 } });
    await refusing.close();

    const byHand = await host.connect({ answerByHand: true });
    const thread = await byHand.startThread();
    answered = host.next("answer");
    host.say(ask);
    await byHand.request("model/list", {});
    expect(thread.answer("item/fileChange/requestApproval", 7, { decision: "accept" })).toBe(true);
    expect(await answered).toEqual({ id: 7, result: { decision: "accept" } });
    expect(thread.answer("item/fileChange/requestApproval", 8, { decision: "accept" })).toBe(false);
    await byHand.close();
  });
});

describe("a host that does not answer", () => {
  const EVERY_MS = 1_000;
  const PROBE = "thread/loaded/list";
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());
  const asked = (host: Host, method: string) =>
    host.asked.filter((message) => message.method === method).length;
  const silent = () => undefined;

  it("is given up after twice the heartbeat, and its threads go on with the next connection", async () => {
    const host = hostWithThread().reply("thread/resume", loaded({ replay: { gap: false } }));
    const bobbin = await host.connect({ heartbeatMs: EVERY_MS });
    const states: unknown[] = [];
    bobbin.onConnection((status) => states.push("error" in status ? status.error?.message : status.state));
    const thread = await bobbin.startThread();
    host.say(started("1.1.1"));
    // A notification counts as an answer.
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(asked(host, PROBE)).toBe(0);
    host.reply(PROBE, silent).reply("turn/start", silent, () => ({ result: { turn: { id: "next" } } }));
    const starting = bobbin.request("turn/start", { threadId: "t", input: [] });
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(asked(host, PROBE)).toBe(1);
    await vi.advanceTimersByTimeAsync(EVERY_MS - 1);
    expect(states).toEqual([]);
    const resumed = host.next("thread/resume");
    await vi.advanceTimersByTimeAsync(2);
    expect((await resumed).params).toMatchObject({ threadId: "t", afterCursor: "1.1.1" });
    expect(await starting).toEqual({ turn: { id: "next" } });
    expect(states).toEqual(["the host does not answer", "connected"]);
    // What the silent host sends late is not heard.
    host.links[0]!.send(new Frame(JSON.stringify(completed("1.9.1"))));
    await vi.advanceTimersByTimeAsync(0);
    expect(thread.state.turns).toMatchObject([{ status: "inProgress" }]);
    await bobbin.close();
  });

  it("is tried again when it is silent in the handshake of a reconnect", async () => {
    const host = new Host();
    const bobbin = await host.connect({ heartbeatMs: EVERY_MS });
    host.reply("initialize", silent, () => ({ result: {} })).reply(PROBE, silent);
    host.cut();
    await vi.advanceTimersByTimeAsync(2 * EVERY_MS);
    expect(bobbin.connection).toMatchObject({ state: "connecting" });
    await vi.advanceTimersByTimeAsync(10);
    expect(bobbin.connection).toEqual({ state: "connected" });
    expect(asked(host, "initialize")).toBe(3);
    await bobbin.close();
  });

  it("is not given up while it replies, be it with an error, or sends notifications", async () => {
    const host = hostWithThread();
    const bobbin = await host.connect({ heartbeatMs: EVERY_MS });
    const states: string[] = [];
    bobbin.onConnection(({ state }) => states.push(state));
    await vi.advanceTimersByTimeAsync(5 * EVERY_MS);
    expect(asked(host, PROBE)).toBe(5);
    host.reply(PROBE, () => ({ error: { code: -32600, message: "no" } }));
    await vi.advanceTimersByTimeAsync(5 * EVERY_MS);
    expect(asked(host, PROBE)).toBe(10);
    host.reply(PROBE, silent);
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    host.say(started("1.1.1"));
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(states).toEqual([]);
    await bobbin.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is waited for without a heartbeat, as by default on a connection of the caller's own", async () => {
    const host = new Host().reply("model/list", silent);
    const bobbin = await host.connect();
    const waiting = bobbin.request("model/list", {});
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(host.asked.map(({ method }) => method)).toEqual(["initialize", "initialized", "model/list"]);
    expect(bobbin.connection).toEqual({ state: "connected" });
    const closing = bobbin.close();
    await expect(waiting).rejects.toThrow("the client was closed");
    await closing;
  });
});
