import { queryObjects } from "node:v8";
import { describe, expect, it } from "vitest";
import { RequestQueues } from "./request-queues.ts";

const THREAD = { by: "thread" } as const;
const ALONE = { by: "global", key: "config", shared: false } as const;
const BESIDE = { by: "global", key: "config", shared: true } as const;

/** Tasks that end when the test says so, and a log of their starts and ends. */
function stage() {
  const queues = new RequestQueues();
  const story: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string, scope: Parameters<RequestQueues["run"]>[0], threadId?: unknown): Promise<void> =>
    queues.run(scope, threadId, async () => {
      story.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      story.push(`${name}.`);
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)!();
    ends.delete(name);
    await turns();
  };
  return { queues, story, run, end };
}

/** Resolves when every task that can run has run. */
const turns = () => new Promise((resolve) => setImmediate(resolve));

describe("requests of a thread", () => {
  it("come one after the other, however its id is written", async () => {
    const { story, run, end } = stage();
    const id = "01900000-abcd-7000-8000-000000000000";
    const spellings = [id, id.toUpperCase(), `urn:uuid:${id}`, id.replaceAll("-", "")];
    const all = spellings.map((spelling, at) => run(`${at}`, THREAD, spelling));
    for (const at of [0, 1, 2, 3]) {
      await turns();
      expect(story.at(-1)).toBe(`${at}`);
      await end(`${at}`);
    }
    await Promise.all(all);
    expect(story).toEqual(["0", "0.", "1", "1.", "2", "2.", "3", "3."]);
  });

  it("do not wait for those of another one, nor for what names none", async () => {
    const { story, run } = stage();
    for (const id of ["01900000-abcd-7000-8000-000000000000", "01900000-abcd-7000-8000-000000000001"])
      void run("of one", THREAD, id);
    for (const id of ["no id", undefined, 7]) void run("of none", THREAD, id);
    await turns();
    expect(story).toHaveLength(5);
  });
});

describe("shared requests", () => {
  it("run beside each other, behind and before those that run alone", async () => {
    const { story, run, end } = stage();
    for (const name of ["a", "b"]) void run(name, BESIDE);
    void run("alone", ALONE);
    for (const name of ["c", "d"]) void run(name, BESIDE);
    await turns();
    expect(story.splice(0)).toEqual(["a", "b"]);
    await end("a");
    expect(story.splice(0)).toEqual(["a."]);
    await end("b");
    expect(story.splice(0)).toEqual(["b.", "alone"]);
    await end("alone");
    expect(story.splice(0)).toEqual(["alone.", "c", "d"]);
  });

  it("let those behind them go on when one fails", async () => {
    const { queues, story, run, end } = stage();
    for (const scope of [BESIDE, ALONE]) {
      await expect(queues.run(scope, undefined, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    }
    const failing = queues.run(ALONE, undefined, () => Promise.reject(new Error("no")));
    const next = run("next", BESIDE);
    await expect(failing).rejects.toThrow("no");
    await turns();
    await end("next");
    await next;
    expect(story).toEqual(["next", "next."]);
  });

  it("leave nothing behind in a stream of them that never ends", async () => {
    const { run, end } = stage();
    await turns();
    void run("0", BESIDE);
    await turns();
    const before = queryObjects(Promise) as unknown as number;
    for (let at = 1; at <= 2000; at++) {
      // Before the last one ends, so that there is always one.
      void run(`${at}`, BESIDE);
      await Promise.resolve();
      await Promise.resolve();
      await end(`${at - 1}`);
    }
    const left = (queryObjects(Promise) as unknown as number) - before;
    // Used once more, because an unused queue could be collected.
    const last = run("last", BESIDE);
    await turns();
    await end("last");
    await last;
    expect(left).toBeLessThan(500);
  });
});
