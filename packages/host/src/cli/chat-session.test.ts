import { connect, type Notification, overLink } from "@bobbin/client";
import { Frame, type MemoryLink, memoryPair } from "@bobbin/rpc";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { ChatSession } from "./chat-session.ts";

type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
};
type Reply = (params: Record<string, unknown>) => object | undefined;

/** A host that the test plays, with one thread. It can be gone for a time. */
class PlayedHost {
  readonly asked: Message[] = [];
  readonly replies = new Map<string, Reply>();
  isThere = true;
  #link: MemoryLink | undefined;

  open(): ReturnType<typeof overLink> {
    if (!this.isThere) throw new Error("no host");
    const [ours, theirs] = memoryPair();
    this.#link = theirs.attach({
      message: (text) => this.#receive(JSON.parse(text) as Message),
      oversized() {},
      undecodable() {},
      drained() {},
      closed() {},
    });
    return overLink(ours);
  }

  say(...messages: object[]): void {
    this.#link!.send(new Frame(...messages.map((message) => JSON.stringify(message))));
  }

  /** Ends the connection. */
  go(): void {
    this.isThere = false;
    this.#link!.cut();
  }

  of(method: string): Message[] {
    return this.asked.filter((message) => message.method === method);
  }

  #receive(message: Message): void {
    this.asked.push(message);
    const { id, method, params = {} } = message;
    if (id === undefined || method === undefined) return;
    const reply = this.replies.get(method);
    const result = reply === undefined ? {} : reply(params);
    if (result !== undefined) this.say("error" in result ? { id, ...result } : { id, result });
  }
}

const loaded = (more: object = {}, turns: object[] = []) => ({
  thread: { id: "t", name: null, status: { type: "idle" }, turns },
  model: "m",
  ...more,
});
const turn = (id: string, status = "inProgress") => ({ id, status, items: [], error: null });
let cursor = 0;
const told = (method: string, params: object) => ({
  method,
  params: { threadId: "t", cursor: `1.${++cursor}.1`, ...params },
});
const began = (id: string) => told("turn/started", { turn: turn(id) });
const ended = (id: string, status = "completed") => told("turn/completed", { turn: turn(id, status) });
const message = (turnId: string, text: string, clientId: unknown) =>
  told("item/started", {
    turnId,
    item: { type: "userMessage", id: `${turnId} user`, clientId, content: [{ type: "text", text }] },
  });
const closed = () => [
  told("thread/status/changed", { status: { type: "notLoaded" } }),
  told("thread/closed", {}),
];

/** A session on a played host, and what it reports. */
async function stage({ reconnectMs = 60_000 } = {}) {
  const host = new PlayedHost();
  host.replies.set("thread/start", () => loaded());
  host.replies.set("thread/resume", () => loaded({ replay: { gap: false } }));
  host.replies.set("thread/queue/list", () => ({ data: [], nextCursor: null }));
  const bobbin = await connect(async () => host.open(), { retry: { firstMs: 1, maxMs: 1 } });
  onTestFinished(() => bobbin.close());
  const thread = await bobbin.startThread();
  const seen: string[] = [];
  const session = new ChatSession(bobbin, thread, {
    settings: { model: "given" },
    reconnectMs,
    report: {
      notification: ({ method }: Notification) => void seen.push(method),
      otherTurn: () => void seen.push("other turn"),
      otherMessage: ([part]) => void seen.push(`> ${part?.type === "text" && part.text}`),
      lost: () => void seen.push("lost"),
      back: () => void seen.push("back"),
      gap: () => void seen.push("gap"),
      ended: () => void seen.push("ended"),
    },
  });
  onTestFinished(() => session.close());
  return { host, bobbin, thread, session, seen };
}

/** Waits until the session has reported something. */
const reported = (seen: readonly string[], what: string) =>
  eventually(() => seen.includes(what), `${what} is reported`);

describe("whose turn it is", () => {
  it("follows from the message's id: the chat's own turn is not reported as another's", async () => {
    const { host, session, seen } = await stage();
    host.replies.set("turn/start", ({ clientUserMessageId }) => {
      // Its notifications come before the reply, as after a lost connection.
      host.say(began("a"), message("a", "mine", clientUserMessageId));
      return { turn: turn("a") };
    });
    const sent = session.send("mine");
    await reported(seen, "item/started");
    expect(session.isRunning).toBe(true);
    host.say(ended("a"));
    expect(await sent).toBe("completed");
    expect(seen).toEqual(["turn/started", "item/started", "turn/completed"]);
    // Settings are sent with the first turn only.
    host.replies.set("turn/start", () => ({ turn: turn("b") }));
    const again = session.send("more");
    await eventually(() => host.of("turn/start").length === 2, "the second turn is started");
    host.say(began("b"), ended("b", "failed"));
    expect(await again).toBe("failed");
    expect(host.of("turn/start").map(({ params }) => params!["model"])).toEqual(["given", undefined]);
    expect(seen).not.toContain("other turn");
  });

  it("is another client's if its message is, although this chat is sending one", async () => {
    const { host, session, seen } = await stage();
    host.replies.set("turn/start", () => {
      host.say(began("x"), message("x", "theirs", "another id"), ended("x"));
      return { turn: turn("a") };
    });
    const sent = session.send("mine");
    await reported(seen, "turn/completed");
    expect(seen).toEqual(["turn/started", "other turn", "> theirs", "item/started", "turn/completed"]);
    host.say(began("a"), ended("a"));
    expect(await sent).toBe("completed");
    host.say(began("y"));
    await eventually(() => session.isRunning, "the turn runs");
    expect(seen.filter((one) => one === "other turn")).toHaveLength(2);
    // Input that another client gives to the chat's own turn is shown.
    host.say(message("y", "steered", null), ended("y"));
    await session.turnEnd();
    expect(seen).toContain("> steered");
  });
});

describe("a lost connection", () => {
  it("is reported once, and a message that is sent meanwhile waits for the next one", async () => {
    const { host, bobbin, session, seen } = await stage();
    host.say(began("a"), message("a", "before", null), ended("a"));
    await session.turnEnd();
    await reported(seen, "turn/completed");
    seen.length = 0;
    host.go();
    await reported(seen, "lost");
    host.replies.set("turn/start", () => ({ turn: turn("b") }));
    const sent = session.send("meanwhile");
    await eventually(
      () => bobbin.connection.state === "connecting" && bobbin.connection.attempt > 3,
      "it tries several times",
    );
    host.isThere = true;
    await eventually(() => host.of("turn/start").length === 1, "the message is sent");
    host.say(began("b"), ended("b"));
    expect(await sent).toBe("completed");
    expect(seen).toEqual(["lost", "back", "turn/started", "turn/completed"]);
    expect(host.of("thread/resume").at(-1)!.params).toMatchObject({ afterCursor: expect.any(String) });
  });

  it("repeats a message whose reply is lost with the same id", async () => {
    const { host, session } = await stage();
    host.replies.set("turn/start", () => {
      host.replies.set("turn/start", ({ clientUserMessageId }) => {
        host.say(began("a"), message("a", "once", clientUserMessageId), ended("a"));
        return { turn: turn("a") };
      });
      host.go();
      host.isThere = true;
      return undefined;
    });
    expect(await session.send("once")).toBe("completed");
    const ids = host.of("turn/start").map(({ params }) => params!["clientUserMessageId"]);
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]);
  });

  it("is not made again for a host in the same process", async () => {
    const { host, session, seen } = await stage({ reconnectMs: 0 });
    host.go();
    await reported(seen, "ended");
    expect(seen).toEqual(["ended"]);
    expect(session.endReason).toContain("the connection to the host has ended: ");
  });

  it("ends the chat after its time, and what waits for it", async () => {
    const { host, session, seen } = await stage({ reconnectMs: 1 });
    host.go();
    await reported(seen, "ended");
    await expect(session.send("never")).rejects.toThrow("the client was closed");
    await session.turnEnd();
    expect(session.endReason).toBe(
      "the connection to the host was lost, and no host answered within 0.001 s",
    );
    expect(seen).toEqual(["lost", "ended"]);
  });

  it("does not end the chat later, once there is a connection again", async () => {
    const reconnectMs = 61_234;
    const { host, seen } = await stage({ reconnectMs });
    const [set, clear] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
    onTestFinished(() => void vi.restoreAllMocks());
    host.go();
    await reported(seen, "lost");
    host.isThere = true;
    await reported(seen, "back");
    const timer = set.mock.results[set.mock.calls.findIndex(([, ms]) => ms === reconnectMs)]!.value;
    expect(clear).toHaveBeenCalledWith(timer);
  });

  it("ends the chat if the thread cannot be followed any more", async () => {
    const { host, session, seen } = await stage();
    host.replies.set("thread/resume", () => ({ error: { code: -32600, message: "thread t is archived" } }));
    host.go();
    host.isThere = true;
    await reported(seen, "ended");
    expect(session.endReason).toBe("the thread cannot be followed any more: thread t is archived");
  });

  it("reports a gap, and ends a turn that is not there any more", async () => {
    const { host, session, seen } = await stage();
    host.replies.set("turn/start", () => ({ turn: turn("lost") }));
    const sent = session.send("will be lost");
    host.say(began("lost"));
    await reported(seen, "turn/started");
    host.replies.set("thread/resume", ({ afterCursor }) =>
      loaded(afterCursor === undefined ? {} : { replay: { gap: true } }),
    );
    host.go();
    host.isThere = true;
    expect(await sent).toBeUndefined();
    expect(seen).toEqual(["turn/started", "lost", "back", "gap"]);
    expect([session.isRunning, session.endReason]).toEqual([false, undefined]);
  });
});

describe("a thread that a host unloads", () => {
  it("is loaded again on the next host, once", async () => {
    const { host, session, seen, thread } = await stage();
    host.say(...closed());
    await reported(seen, "thread/closed");
    host.go();
    await reported(seen, "lost");
    host.replies.set("thread/resume", () => {
      host.say(told("thread/status/changed", { status: { type: "idle" } }));
      return loaded({ replay: { gap: false } });
    });
    host.isThere = true;
    await eventually(() => !thread.isUnloaded, "it is loaded");
    expect(host.of("thread/resume")).toHaveLength(1);
    expect(session.endReason).toBeUndefined();
  });

  it("is loaded again by the next message, which is sent once more", async () => {
    const { host, session, seen } = await stage();
    host.say(...closed());
    await reported(seen, "thread/closed");
    host.replies.set("turn/start", () => {
      host.replies.set("turn/start", () => ({ turn: turn("a") }));
      return { error: { code: -32600, message: "thread not found: t" } };
    });
    const sent = session.send("hello");
    await eventually(() => host.of("turn/start").length === 2, "it is sent again");
    host.say(began("a"), ended("a"));
    expect(await sent).toBe("completed");
    expect(host.of("thread/resume")).toHaveLength(1);
    const ids = host.of("turn/start").map(({ params }) => params!["clientUserMessageId"]);
    expect(ids[0]).toBe(ids[1]);
  });
});

describe("an interrupt", () => {
  it("reaches the running turn, and one that is being started when its start is known", async () => {
    const { host, session } = await stage();
    let reply!: () => void;
    host.replies.set("turn/start", () => {
      reply = () => host.say({ id: host.of("turn/start").at(-1)!.id, result: { turn: turn("a") } });
      return undefined;
    });
    const sent = session.send("hello");
    await eventually(() => host.of("turn/start").length === 1, "it is sent");
    session.interrupt();
    reply();
    await eventually(() => host.of("turn/interrupt").length === 1, "the turn is interrupted");
    host.say(began("a"));
    await eventually(() => session.isRunning, "it runs");
    session.interrupt();
    await eventually(() => host.of("turn/interrupt").length === 2, "it is interrupted again");
    expect(host.of("turn/interrupt").map(({ params }) => params)).toEqual([
      { threadId: "t", turnId: "a" },
      { threadId: "t", turnId: "a" },
    ]);
    host.say(ended("a", "interrupted"));
    expect(await sent).toBe("interrupted");
  });
});

it("ends with a thread that is archived or deleted", async () => {
  for (const what of ["archived", "deleted"]) {
    const { host, session, seen } = await stage();
    host.say(told(`thread/${what}`, {}));
    await reported(seen, "ended");
    expect(session.endReason).toBe(`the thread was ${what}`);
  }
});
