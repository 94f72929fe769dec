import { Frame, type MemoryLink, memoryPair } from "@bobbin/rpc";
import { describe, expect, it } from "vitest";
import { overLink } from "./client-over-link.ts";

type Message = Record<string, unknown> & { id?: number; method?: string };

/** The host's end of the connection, played by the test. */
class Host {
  readonly link: MemoryLink;
  readonly #arrived: Message[] = [];
  #wake = () => {};

  constructor(link: MemoryLink) {
    this.link = link.attach({
      message: (text) => {
        this.#arrived.push(JSON.parse(text) as Message);
        this.#wake();
      },
      oversized() {},
      undecodable() {},
      drained() {},
      closed() {},
    });
  }

  async next(): Promise<Message> {
    while (this.#arrived.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#arrived.shift()!;
  }

  say(...messages: object[]): void {
    this.link.send(new Frame(...messages.map((message) => JSON.stringify(message))));
  }
}

function open() {
  const [ours, theirs] = memoryPair();
  return { client: overLink(ours), host: new Host(theirs) };
}

const delta = (turnId: string, text: string, threadId = "t") => ({
  method: "item/agentMessage/delta",
  params: { threadId, turnId, itemId: "i", delta: text },
});
const completed = (id: string, threadId = "t") => ({
  method: "turn/completed",
  params: { threadId, turn: { id, status: "completed", items: [] } },
});

describe("a client", () => {
  it("sends initialize, then initialized", async () => {
    const { client, host } = open();
    const greeted = client.initialize({ name: "test", version: "1" }, { experimentalApi: true });
    const { id, ...asked } = await host.next();
    expect(asked).toEqual({
      method: "initialize",
      params: { clientInfo: { name: "test", version: "1" }, capabilities: { experimentalApi: true } },
    });
    host.say({ id, result: { userAgent: "x/1" } });
    expect(await greeted).toEqual({ userAgent: "x/1" });
    expect(await host.next()).toEqual({ method: "initialized" });
  });

  it("calls listeners until they are removed, and each as often as it was added", async () => {
    const { client, host } = open();
    const told: string[] = [];
    const listener = ({ threadId }: { threadId: string }) => told.push(threadId);
    const stops = [client.on("thread/closed", listener), client.on("thread/closed", listener)];
    client.on("thread/archived", ({ threadId }) => told.push(`archived ${threadId}`));
    const closed = (threadId: string) => host.say({ method: "thread/closed", params: { threadId } });
    closed("1");
    await heard(client, host);
    stops[0]!();
    closed("2");
    await heard(client, host);
    stops[1]!();
    closed("3");
    host.say({ method: "thread/archived", params: { threadId: "4" } }, { method: "unheard/of" });
    await heard(client, host);
    expect(told).toEqual(["1", "1", "2", "archived 4"]);
  });

  it("answers server requests that have a handler, and refuses others", async () => {
    const { client, host } = open();
    const stop = client.onRequest("item/fileChange/requestApproval", async ({ itemId }) => ({
      decision: itemId === "good" ? "accept" : "decline",
    }));
    const ask = (itemId: string) =>
      host.say({ id: 1, method: "item/fileChange/requestApproval", params: { itemId } });
    ask("good");
    expect(await host.next()).toEqual({ id: 1, result: { decision: "accept" } });
    ask("bad");
    expect(await host.next()).toEqual({ id: 1, result: { decision: "decline" } });
    stop();
    ask("good");
    expect(await host.next()).toMatchObject({ id: 1, error: { code: -32601 } });
  });

  it("aborts a handler whose answer is no longer needed, and does not send the answer", async () => {
    const { client, host } = open();
    const aborted = new Promise<void>((resolve) => {
      client.onRequest("item/fileChange/requestApproval", async (_params, { signal }) => {
        await new Promise((done) => signal.addEventListener("abort", done));
        resolve();
        return { decision: "accept" };
      });
    });
    host.say({ id: 1, method: "item/fileChange/requestApproval", params: {} });
    host.say({ method: "serverRequest/resolved", params: { threadId: "t", requestId: 1 } });
    await aborted;
    void client.request("model/list", {});
    expect(await host.next()).toMatchObject({ method: "model/list" });
  });

  it("rejects pending requests when either side closes, and closes once", async () => {
    const byHost = open();
    const asked = byHost.client.request("model/list", {});
    const why = new Promise((resolve) => byHost.client.onClosed(resolve));
    await byHost.host.next();
    byHost.host.link.cut();
    await expect(asked).rejects.toMatchObject({ name: "NoAnswerError", reason: "closed" });
    expect(await why).toBe("the connection was closed");
    await byHost.client.close();

    const byUs = open();
    const waiting = byUs.client.request("model/list", {});
    await Promise.all([byUs.client.close(), byUs.client.close()]);
    await byUs.client.close();
    await expect(waiting).rejects.toThrow("model/list: the client was closed");
    await expect(byUs.client.request("model/list", {})).rejects.toThrow("the client was closed");
  });
});

describe("runTurn", () => {
  it("yields the notifications of its turn only, also those that arrive before the reply", async () => {
    const { client, host } = open();
    const seen: unknown[] = [];
    const run = (async () => {
      for await (const { method, params } of client.runTurn("t", "hi", { model: "m" })) {
        seen.push(method === "item/agentMessage/delta" ? params.delta : method);
      }
    })();
    const { id, ...asked } = await host.next();
    expect(asked).toEqual({
      method: "turn/start",
      params: { threadId: "t", model: "m", input: [{ type: "text", text: "hi" }] },
    });
    host.say(
      delta("2", "early"),
      delta("1", "an older turn"),
      delta("2", "another thread", "u"),
      { id, result: { turn: { id: "2" } } },
      completed("1"),
      completed("2", "u"),
      { method: "thread/status/changed", params: { threadId: "t", status: { type: "idle" } } },
      delta("2", "late"),
      completed("2"),
      delta("2", "after"),
    );
    await run;
    expect(seen).toEqual(["early", "thread/status/changed", "late", "turn/completed"]);
  });

  it("interrupts when its signal aborts, and still yields turn/completed", async () => {
    const { client, host } = open();
    const stop = new AbortController();
    const turn = client.runTurn("t", "hi", { signal: stop.signal });
    const first = turn.next();
    host.say({ id: (await host.next()).id, result: { turn: { id: "1" } } }, delta("1", "x"));
    await first;
    stop.abort();
    const { id, ...asked } = await host.next();
    expect(asked).toEqual({ method: "turn/interrupt", params: { threadId: "t", turnId: "1" } });
    host.say({ id, result: {} }, completed("1"));
    expect((await turn.next()).value).toMatchObject({ method: "turn/completed" });
    expect((await turn.next()).done).toBe(true);
  });

  it("throws when the turn is refused, and when the connection ends before the turn does", async () => {
    const refused = open();
    const one = refused.client.runTurn("t", "hi").next();
    const { id } = await refused.host.next();
    refused.host.say({ id, error: { code: -32600, message: "thread not found: t" } });
    await expect(one).rejects.toThrow("thread not found: t");

    const cut = open();
    const turn = cut.client.runTurn("t", "hi");
    const first = turn.next();
    cut.host.say({ id: (await cut.host.next()).id, result: { turn: { id: "1" } } }, delta("1", "x"));
    await first;
    cut.host.link.cut();
    await expect(turn.next()).rejects.toMatchObject({ reason: "closed" });
  });
});

/** Waits until the client has handled everything that the host sent so far. */
async function heard(client: ReturnType<typeof overLink>, host: Host): Promise<void> {
  const asked = client.request("model/list", {});
  host.say({ id: (await host.next()).id, result: {} });
  await asked;
}
