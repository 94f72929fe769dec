import { describe, expect, it } from "vitest";
import { CallbackBodyReader } from "./callback-body-reader.ts";

/** A body whose chunks the test sends. */
function slowBody() {
  let send!: (chunk: Uint8Array | undefined) => void;
  let next!: Promise<Uint8Array | undefined>;
  const again = (): void => {
    next = new Promise((resolve) => {
      send = (chunk) => {
        resolve(chunk);
        again();
      };
    });
  };
  again();
  async function* body() {
    for (let chunk = await next; chunk !== undefined; chunk = await next) yield chunk;
  }
  return { body: body(), send: (chunk?: Uint8Array) => send(chunk) };
}

function stage() {
  let time = 0;
  const timers: { due: number; run: () => void }[] = [];
  const readings = new CallbackBodyReader({
    clock: { now: () => time, monotonic: () => time },
    timers: {
      after: (ms, run) => {
        const timer = { due: time + ms, run };
        timers.push(timer);
        return () => void (timers.includes(timer) && timers.splice(timers.indexOf(timer), 1));
      },
      soon: (run) => run(),
    },
  });
  const pass = (ms: number): void => {
    time += ms;
    for (const timer of timers.filter(({ due }) => due <= time)) {
      timers.splice(timers.indexOf(timer), 1);
      timer.run();
    }
  };
  const read = (callId: string, threadId = "t") => {
    const { body, send } = slowBody();
    return { send, done: readings.read({ threadId, load: 1, server: "desk", callId }, body) };
  };
  return { read, pass, timers };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("bodies that come slowly", () => {
  it("[RAPR-9] keep out others of their call, and few of their thread, and nobody else", async () => {
    const { read } = stage();
    const slow = Array.from({ length: 16 }, () => read("c"));
    expect(await read("c").done).toBe(503);
    const others = Array.from({ length: 48 }, (_, at) => read(`c${at}`));
    expect(await read("more").done).toBe(503);
    const elsewhere = read("c", "another");
    elsewhere.send(Buffer.from("{}"));
    await settle();
    elsewhere.send();
    expect(String(await elsewhere.done)).toBe("{}");
    for (const { send } of [...slow, ...others]) send();
    await Promise.all([...slow, ...others].map(({ done }) => done));
    const again = read("c");
    again.send();
    expect(await again.done).toHaveLength(0);
  });

  it("[RAPR-9] have ten seconds, and one more for each MiB that has come", async () => {
    const { read, pass, timers } = stage();
    const [drip, large] = [read("drip"), read("large")];
    drip.send(Buffer.from("{"));
    large.send(Buffer.alloc(2 ** 20));
    await settle();
    pass(10_001);
    expect(await drip.done).toBe(503);
    large.send(Buffer.alloc(1));
    await settle();
    large.send();
    expect(await large.done).toHaveLength(2 ** 20 + 1);
    expect(timers).toEqual([]);
  });

  it("[RAPR-9] are held in memory up to a bound for their thread", async () => {
    const { read } = stage();
    const chunk = Buffer.alloc(2 ** 20);
    const large = [read("a"), read("b"), read("c")];
    for (let at = 0; at < 21; at++) {
      for (const { send } of large) send(chunk);
      await settle();
    }
    for (const { send } of large) send(chunk);
    await settle();
    const more = read("d", "another");
    more.send(chunk);
    await settle();
    for (const { send } of [...large, more]) send();
    const statuses = await Promise.all([...large, more].map(({ done }) => done));
    expect(statuses.map((one) => (typeof one === "number" ? one : 200))).toEqual([200, 503, 200, 200]);
  });
});
