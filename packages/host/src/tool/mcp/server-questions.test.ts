import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../../../../../test/support/eventually.ts";
import { freshFolder } from "../../../../../test/support/folder.ts";
import { PoolStage, program } from "../../../../../test/support/mcp-pool-stage.ts";
import type { McpAskHandler } from "./mcp-interface.ts";

/** Answers everything with a color, and counts. */
function answering(color: string): McpAskHandler & { asked: number } {
  const handler = {
    asked: 0,
    elicit: async () => {
      handler.asked++;
      return { action: "accept" as const, content: { color } };
    },
    sample: async () => {
      handler.asked++;
      return { role: "assistant", model: "m", content: { type: "text", text: color } };
    },
  };
  return handler;
}

const ACCEPTED = (color: string) => JSON.stringify({ action: "accept", content: { color } });
const CANCELLED = JSON.stringify({ action: "cancel" });

describe("a question of a server", () => {
  it("[MCP-7] goes to the call that is under way", async () => {
    const stage = await PoolStage.open({ own: program() });
    const [a, b] = [await stage.load("a"), await stage.load("b")];
    const [red, blue] = [answering("red"), answering("blue")];
    expect(await stage.call(a, "ask", {}, { asked: red })).toBe(ACCEPTED("red"));
    expect(await stage.call(b, "ask", {}, { asked: blue })).toBe(ACCEPTED("blue"));
    expect(await stage.call(b, "sample", {}, { asked: blue })).toContain('"text":"blue"');
    expect([red.asked, blue.asked]).toEqual([1, 2]);
  });

  it("[MCP-7] is cancelled if nobody can answer it", async () => {
    const stage = await PoolStage.open({ own: program() });
    const a = await stage.load("a");
    expect(await stage.call(a, "ask")).toBe(CANCELLED);
    expect(await stage.call(a, "sample")).toContain("Nobody can answer this now.");
  });

  it("[MCP-7] after the end of its call is cancelled, and asked of nobody", async () => {
    const home = await freshFolder();
    const stage = await PoolStage.open({ own: program() });
    const a = await stage.load("a");
    const red = answering("red");
    const [file, answer] = [join(home, "go"), join(home, "answer")];
    expect(await stage.call(a, "askLater", { file, answer }, { asked: red })).toBe("later");
    await writeFile(file, "");
    await eventually(() => existsSync(answer), "the server has an answer");
    expect(await readFile(answer, "utf8")).toBe(CANCELLED);
    expect(red.asked).toBe(0);
  });

  it("[MCP-7] during calls of two threads is cancelled, and from then on each thread has a server of its own", async () => {
    const home = await freshFolder();
    const stage = await PoolStage.open({ own: program() }, { home });
    const [a, b] = [await stage.load("a"), await stage.load("b")];
    const [red, blue] = [answering("red"), answering("blue")];
    const go = join(home, "go");
    const pid = await stage.call(a, "pid");
    const waiting = stage.call(b, "until", { file: go }, { asked: blue });
    await eventually(() => stage.mcp.leases("b")[0]!.server.calls === 1, "the call of b is under way");
    expect(await stage.call(a, "ask", {}, { asked: red })).toBe(CANCELLED);
    await writeFile(go, "");
    await waiting;
    expect([red.asked, blue.asked]).toEqual([0, 0]);

    const pids = [await stage.call(a, "pid"), await stage.call(b, "pid")];
    expect(new Set([pid, ...pids]).size).toBe(3);
    const [mine, other] = await Promise.all([
      stage.call(a, "ask", {}, { asked: red }),
      stage.call(b, "ask", {}, { asked: blue }),
    ]);
    expect([mine, other]).toEqual([ACCEPTED("red"), ACCEPTED("blue")]);
    await stage.close();

    const next = await PoolStage.open({ own: program() }, { home });
    const [c, d] = [await next.load("c"), await next.load("d")];
    expect(await next.call(c, "pid")).not.toBe(await next.call(d, "pid"));
  });

  it("[MCP-7] of a server of the newest version comes with its call, whatever other threads do", async () => {
    const stage = await PoolStage.open({ own: program("--modern") });
    const threads = await Promise.all(["a", "b", "c"].map((id) => stage.load(id)));
    const handlers = threads.map(({ facts }) => answering(facts.id));
    const answers = await Promise.all(
      threads.map((thread, nth) => stage.call(thread, "ask", {}, { asked: handlers[nth]! })),
    );
    for (const [nth, { facts }] of threads.entries())
      expect(JSON.parse(answers[nth]!)).toEqual([
        {
          color: { action: "accept", content: { color: facts.id } },
          where: { roots: [{ uri: "file:///tmp", name: "tmp" }] },
        },
        "as it was",
      ]);
    expect(handlers.map(({ asked }) => asked)).toEqual([1, 1, 1]);
    expect(stage.server(threads[0]!).instructions).toBe("It is new.");
    expect(stage.running.length).toBe(1);
  });

  it("[MCP-7] of a call that was given up reaches no other thread", async () => {
    const home = await freshFolder();
    const stage = await PoolStage.open({ own: program() });
    const [a, b] = [await stage.load("a"), await stage.load("b")];
    const [red, blue] = [answering("red"), answering("blue")];
    const [go, end] = [join(home, "go"), join(home, "end")];
    const abort = new AbortController();
    const given = stage
      .call(a, "ask", { file: go }, { asked: red, signal: abort.signal })
      .catch(() => "given up");
    await eventually(() => stage.mcp.leases("a")[0]!.server.calls === 1, "the call of a is under way");
    abort.abort();
    expect(await given).toBe("given up");
    const waiting = stage.call(b, "until", { file: end }, { asked: blue });
    await eventually(() => stage.mcp.leases("b")[0]!.server.calls === 1, "the call of b is under way");
    await writeFile(go, "");
    await eventually(() => stage.mcp.pool.isIsolated(stage.server(b).settings, "local"), "it has asked");
    await writeFile(end, "");
    await waiting;
    expect([red.asked, blue.asked]).toEqual([0, 0]);
  });

  it("[MCP-7] long after a call was given up goes to the call that is under way", async () => {
    const stage = await PoolStage.open({ own: program() }, { byHand: true });
    const [a, b] = [await stage.load("a"), await stage.load("b")];
    const abort = new AbortController();
    const given = stage.call(a, "silence", {}, { signal: abort.signal }).catch(() => "given up");
    await eventually(() => stage.mcp.leases("a")[0]!.server.calls === 1, "the call of a is under way");
    abort.abort();
    expect(await given).toBe("given up");
    stage.pass(60_000);
    const blue = answering("blue");
    expect(await stage.call(b, "ask", {}, { asked: blue })).toBe(ACCEPTED("blue"));
    expect(stage.mcp.pool.isIsolated(stage.server(b).settings, "local")).toBe(false);
  });

  it("[MCP-7] during a resource read of one thread reaches no other thread that has a call", async () => {
    const home = await freshFolder();
    const stage = await PoolStage.open({ own: program() });
    const [a, b] = [await stage.load("a"), await stage.load("b")];
    const blue = answering("blue");
    const end = join(home, "end");
    const waiting = stage.call(b, "until", { file: end }, { asked: blue });
    await eventually(() => stage.mcp.leases("b")[0]!.server.calls === 1, "the call of b is under way");
    const { signal } = new AbortController();
    const { contents } = await stage.server(a).readResource("test://ask", signal);
    expect(contents.map(({ text }) => text)).toEqual([CANCELLED]);
    await writeFile(end, "");
    await waiting;
    expect(blue.asked).toBe(0);
    expect(stage.mcp.pool.isIsolated(stage.server(b).settings, "local")).toBe(true);
  });

  it("[MCP-7] during two calls of one thread goes to that thread", async () => {
    const home = await freshFolder();
    const stage = await PoolStage.open({ own: { ...program(), supports_parallel_tool_calls: true } });
    const a = await stage.load("a");
    const red = answering("red");
    const go = join(home, "go");
    const waiting = stage.call(a, "until", { file: go }, { asked: red });
    expect(await stage.call(a, "ask", {}, { asked: red })).toBe(ACCEPTED("red"));
    await writeFile(go, "");
    await waiting;
  });

  it("[MCP-7] has all the time that a person needs", async () => {
    const stage = await PoolStage.open({ own: { ...program(), tool_timeout_sec: 1 } }, { byHand: true });
    const a = await stage.load("a");
    const asked: McpAskHandler = {
      ...answering("red"),
      elicit: async () => {
        stage.pass(3_600_000);
        return { action: "decline" };
      },
    };
    expect(await stage.call(a, "ask", {}, { asked })).toBe(JSON.stringify({ action: "decline" }));
  });

  it("[MCP-7] is never asked of a thread that shares a server with isolation = thread", async () => {
    const stage = await PoolStage.open({ own: { ...program(), isolation: "thread" } });
    const [a, b] = [await stage.load("a"), await stage.load("b")];
    expect(await stage.call(a, "pid")).not.toBe(await stage.call(b, "pid"));
  });

  it("[MCP-7] does not isolate a server that people want to be shared", async () => {
    const home = await freshFolder();
    const stage = await PoolStage.open({ own: { ...program(), isolation: "shared" } });
    const [a, b] = [await stage.load("a"), await stage.load("b")];
    const go = join(home, "go");
    const waiting = stage.call(b, "until", { file: go });
    await eventually(() => stage.mcp.leases("b")[0]!.server.calls === 1, "the call of b is under way");
    expect(await stage.call(a, "ask", {}, { asked: answering("red") })).toBe(CANCELLED);
    await writeFile(go, "");
    await waiting;
    expect(await stage.call(a, "pid")).toBe(await stage.call(b, "pid"));
  });
});

describe("calls of one thread", () => {
  it("[MCP-8] go to a server one after the other, unless it takes several at a time", async () => {
    const home = await freshFolder();
    const [one, two] = [join(home, "one"), join(home, "two")];
    const stage = await PoolStage.open({
      own: program(),
      parallel: { ...program("--parallel"), supports_parallel_tool_calls: true },
    });
    const a = await stage.load("a");
    const order: string[] = [];
    const call = (name: string, file: string) =>
      stage.call(a, "until", { file }, {}, name).then(() => order.push(`${name} ${file === one ? 1 : 2}`));
    const calls = [call("own", one), call("own", two), call("parallel", one), call("parallel", two)];
    await writeFile(two, "");
    await calls[3];
    expect(order).toEqual(["parallel 2"]);
    await writeFile(one, "");
    await Promise.all(calls);
    expect(order.filter((one) => one.startsWith("own"))).toEqual(["own 1", "own 2"]);
  });
});
