import { describe, expect, it } from "vitest";
import { Slices } from "./event-loop-slices.ts";

/** An event loop whose turns the test triggers, and whose clock the steps move. */
class FakeLoop {
  now = 0;
  #soon: (() => void)[] = [];
  readonly clock = { now: () => this.now, monotonic: () => this.now };
  readonly timers = { after: () => () => {}, soon: (run: () => void) => void this.#soon.push(run) };

  /** Runs one turn; false if there was nothing to do. */
  async turn(): Promise<boolean> {
    const due = this.#soon;
    this.#soon = [];
    for (const run of due) {
      run();
      for (let left = 1000; left > 0; left--) await Promise.resolve();
    }
    return due.length > 0;
  }
}

function stage() {
  const loop = new FakeLoop();
  const slices = new Slices<string>(loop);
  const begun: string[] = [];
  const step = (owner: string, nth: number, ms = 1, on = slices) =>
    on.run(owner, () => {
      begun.push(`${owner}${nth}`);
      loop.now += ms;
    });
  const many = (owner: string, count: number, ms?: number) => {
    for (let nth = 1; nth <= count; nth++) step(owner, nth, ms);
  };
  /** Runs the next turn and returns the steps that started in it. */
  const next = async () => {
    const from = begun.length;
    await loop.turn();
    return begun.slice(from);
  };
  return { loop, slices, begun, step, many, next };
}

describe("slices of the event loop", () => {
  it("begin a few steps at once, and the others a few milliseconds in each turn", async () => {
    const { begun, many, next } = stage();
    many("a", 40, 0.5);
    expect(begun).toHaveLength(8);
    expect(await next()).toHaveLength(16);
    expect(await next()).toHaveLength(16);
    expect(await next()).toHaveLength(0);
    expect(begun).toEqual(Array.from({ length: 40 }, (_, nth) => `a${nth + 1}`));
  });

  it("go on when a step fails, whose error reaches the timers", async () => {
    const { loop, slices, step, many, next, begun } = stage();
    many("a", 8);
    slices.run("b", () => {
      throw new Error("a fault");
    });
    step("b", 2);
    expect(await next()).toEqual(["b2"]);
    await expect(loop.turn()).rejects.toThrow("a fault");
    step("c", 1);
    await loop.turn();
    expect(begun.at(-1)).toBe("c1");
  });

  it("end a slice early when its steps take long", async () => {
    const { begun, many, next } = stage();
    many("a", 5, 100);
    expect(begun).toEqual(["a1"]);
    expect(await next()).toEqual(["a2"]);
    expect(await next()).toEqual(["a3"]);
  });

  it("begin fewer steps while the turns of the loop are long, whatever makes them so", async () => {
    const { loop, many, next } = stage();
    many("a", 1000, 0);
    const counts: number[] = [];
    for (let turn = 0; turn < 9; turn++) {
      counts.push((await next()).length);
      // Work that the steps caused.
      loop.now += turn < 3 || turn > 6 ? 10 : 40;
    }
    expect(counts).toEqual([16, 24, 32, 40, 20, 10, 8, 8, 16]);
  });

  it("take one step per owner in rotation, however many each has", async () => {
    const { many, next } = stage();
    many("a", 1000);
    many("b", 1);
    many("c", 2);
    expect(await next()).toEqual(["a9", "b1", "c1", "a10", "c2", "a11", "a12", "a13"]);
  });

  it("start the steps of one owner in order", async () => {
    const { begun, many, step, next, loop } = stage();
    many("a", 9);
    await loop.turn();
    const order = begun.filter((name) => name.startsWith("a"));
    expect(order.at(-1)).toBe("a9");
    many("b", 8);
    step("a", 10);
    step("a", 11);
    await next();
    await next();
    expect(begun.filter((name) => name.startsWith("a")).slice(-2)).toEqual(["a10", "a11"]);
  });

  it("make a new owner wait for at most one rotation while steps wait", async () => {
    const { many, step, next, begun } = stage();
    many("a", 100);
    await next();
    step("b", 1);
    expect(begun).not.toContain("b1");
    expect(await next()).toContain("b1");
  });

  it("start steps immediately again when none wait", async () => {
    const { many, next, begun } = stage();
    many("a", 20);
    while ((await next()).length > 0);
    many("b", 8);
    expect(begun.slice(-8)).toEqual(Array.from({ length: 8 }, (_, nth) => `b${nth + 1}`));
  });

  it("are shorter while steps with priority wait", async () => {
    const { loop, slices, many, next } = stage();
    const behind = new Slices<string>(loop, slices);
    let ran = 0;
    for (let nth = 0; nth < 1000; nth++) {
      behind.run("x", () => {
        ran++;
        loop.now += 0.5;
      });
    }
    expect(ran).toBe(8);
    many("a", 100);
    await next();
    expect(ran).toBe(14);
    while ((await next()).length > 0);
    const before = ran;
    await next();
    expect(ran - before).toBe(16);
  });

  it("resolve a turn that is waited for", async () => {
    const { loop, slices, many } = stage();
    expect(slices.turn("a")).toBeUndefined();
    many("a", 8);
    const turn = slices.turn("a");
    expect(turn).toBeInstanceOf(Promise);
    await loop.turn();
    await turn;
  });

  it("schedule nothing without steps", async () => {
    const { loop, many } = stage();
    expect(await loop.turn()).toBe(false);
    many("a", 1);
    expect(await loop.turn()).toBe(true);
    expect(await loop.turn()).toBe(false);
  });
});
