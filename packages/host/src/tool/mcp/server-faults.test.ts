import { describe, expect, it } from "vitest";
import { eventually } from "../../../../../test/support/eventually.ts";
import { PoolStage, program } from "../../../../../test/support/mcp-pool-stage.ts";
import { McpError } from "./mcp-interface.ts";

const caught = (work: Promise<unknown>): Promise<McpError> =>
  work.then(
    () => expect.fail("it went well"),
    (cause: unknown) => cause as McpError,
  );

describe("a server", () => {
  it("[MCP-5] that dies in a call gives the model words to act on, and is there again for the next call", async () => {
    const stage = await PoolStage.open({ own: program(), other: program("--other") });
    const [a, b] = [await stage.load("a"), await stage.load("b")];
    const [pid, other] = [await stage.call(a, "pid"), await stage.call(b, "pid", {}, {}, "other")];
    const waiting = caught(stage.call(b, "silence"));
    const error = await caught(stage.call(a, "die"));
    expect(error).toBeInstanceOf(McpError);
    expect(error.kind).toBe("lost");
    expect(error.message).toContain(
      "The MCP server own went away during the call: its process exited with code 3",
    );
    expect((await waiting).kind).toBe("lost");
    expect(await stage.call(a, "pid")).not.toBe(pid);
    expect(await stage.call(b, "pid", {}, {}, "other")).toBe(other);
  });

  it("[MCP-5] that dies again and again is left alone for longer each time", async () => {
    const stage = await PoolStage.open({ own: program() }, { byHand: true });
    const a = await stage.load("a");
    const delays: number[] = [];
    for (let death = 0; death < 4; death++) {
      expect((await caught(stage.call(a, "die"))).kind).toBe("lost");
      let delay = 0;
      for (; stage.running.length === 0; delay += 100) {
        stage.pass(100);
        await new Promise((resolve) => setImmediate(resolve));
      }
      delays.push(delay);
      await eventually(() => stage.mcp.leases("a")[0]!.server.state === "connected", "it is there again");
    }
    for (let nth = 1; nth < delays.length; nth++) expect(delays[nth]).toBeGreaterThan(delays[nth - 1]!);
    await stage.call(a, "echo");
    expect((await caught(stage.call(a, "die"))).kind).toBe("lost");
    stage.pass(1200);
    await eventually(() => stage.running.length === 1, "a call that went well makes up for them");
  });

  it("[MCP-1] that cannot be started has failed, and says why", async () => {
    const stage = await PoolStage.open({
      missing: { command: "/nowhere/server" },
      exits: program("--exit", "7"),
      token: { url: "http://127.0.0.1:9/mcp", bearer_token_env_var: "NO_SUCH_VARIABLE" },
      away: { url: "http://127.0.0.1:9/mcp" },
    });
    const a = await stage.load("a");
    const failed = () => stage.told.filter(({ status }) => status === "failed");
    await eventually(() => failed().length === 4, "all have failed");
    const errors = Object.fromEntries(failed().map(({ name, error }) => [name, error]));
    expect(errors.missing).toContain('the program "/nowhere/server" was not found');
    expect(errors.exits).toBe("its process exited with code 7; its last words: it cannot go on");
    expect(errors.token).toBe("the variable NO_SUCH_VARIABLE with its token is not set");
    expect(errors.away).toContain("http://127.0.0.1:9 cannot be reached");
    expect(stage.mcp.of(a).flatMap(({ tools }) => tools)).toEqual([]);
    const error = await caught(stage.call(a, "echo", {}, {}, "missing"));
    expect(error.kind).toBe("unavailable");
    expect(error.message).toContain("The MCP server missing is not available");
  });

  it("[ACCT-8] that ends with a secret as its last words has it taken out of its error", async () => {
    const env = { KEY: "planted-variable-0051", SHORT: "abc" };
    const script = 'echo "no $KEY, $SHORT, $HOME" >&2; exit 3';
    const stage = await PoolStage.open({ exits: { command: "/bin/sh", args: ["-c", script], env } });
    await stage.load("a");
    const failed = () => stage.told.filter(({ status }) => status === "failed");
    await eventually(() => failed().length === 1, "it has failed");
    expect(failed()[0]!.error).toMatch(/its last words: no \[redacted\], abc, /);
  });

  it("[MCP-6] that hangs at its start fails after its time, and its process is gone", async () => {
    const stage = await PoolStage.open(
      { own: { ...program("--hang"), startup_timeout_sec: 2 } },
      { byHand: true },
    );
    await stage.load("a");
    // A start that no caller waits for is delayed until after the first turn.
    expect(stage.running.length).toBe(0);
    stage.pass(200);
    await eventually(() => stage.running.length === 1, "it runs");
    stage.pass(2000);
    // The program ignores the end of its stdin.
    await eventually(() => {
      stage.pass(500);
      return stage.running.length === 0;
    }, "its process is gone");
    await eventually(() => stage.told.length === 2, "it has failed");
    expect(stage.told.map(({ status, error }) => [status, error])).toEqual([
      ["starting", null],
      ["failed", "it did not start within 2 s"],
    ]);
  });

  it("[MCP-6] that is older, and ends at a request that it does not know, is connected to all the same", async () => {
    const stage = await PoolStage.open({ own: program("--strict") });
    const a = await stage.load("a");
    expect(await stage.call(a, "echo", { message: "hi" })).toBe("hi");
  });

  it.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "[MCP-6] that speaks only the version %s is connected to, called and asked for its tools",
    async (version) => {
      const stage = await PoolStage.open({ own: program("--version", version) });
      const a = await stage.load("a");
      expect(await stage.call(a, "echo", { message: "hi" })).toBe("hi");
      expect(await stage.call(a, "roots")).toContain('"uri":"file:///tmp"');
      expect(stage.server(a).tools.map(({ name }) => name)).toContain("echo");
    },
  );

  it("[MCP-6] that speaks a version that nobody knows has failed, and says so", async () => {
    const stage = await PoolStage.open({ own: program("--version", "1999-12-31") });
    const a = await stage.load("a");
    const error = await caught(stage.call(a, "echo", { message: "hi" }));
    expect(error.kind).toBe("unavailable");
    expect(error.message).toContain("1999-12-31");
  });

  it("[MCP-6] that is older, and keeps silent about what it does not know, is connected to after a while", async () => {
    const stage = await PoolStage.open({ own: program("--mute") }, { byHand: true });
    const a = await stage.load("a");
    await eventually(() => {
      stage.pass(1000);
      return stage.mcp.leases("a")[0]!.server.state === "connected";
    }, "it is connected to");
    expect(await stage.call(a, "echo", { message: "hi" })).toBe("hi");
  });

  it("[MCP-6] that prints what is no message is heard all the same", async () => {
    const stage = await PoolStage.open({ own: program("--garbage") });
    const a = await stage.load("a");
    expect(await stage.call(a, "echo", { message: "hi" })).toBe("hi");
  });

  it("[MCP-6] that answers twice is heard once", async () => {
    const stage = await PoolStage.open({ own: program() });
    const a = await stage.load("a");
    expect(await stage.call(a, "twice")).toBe("first");
    expect(await stage.call(a, "echo", { message: "after" })).toBe("after");
  });

  it("[MCP-6] that floods is read slowly, and others are not kept waiting", async () => {
    const stage = await PoolStage.open({ own: program(), other: program("--other") });
    const a = await stage.load("a");
    const abort = new AbortController();
    const flood = caught(stage.call(a, "flood", {}, { signal: abort.signal }));
    const cost = async (): Promise<number> => {
      const from = process.cpuUsage();
      await stage.call(a, "echo", { message: "hi" }, {}, "other");
      const { user, system } = process.cpuUsage(from);
      return user + system;
    };
    const costs: number[] = [];
    for (let nth = 0; nth < 200; nth++) costs.push(await cost());
    // Processor time, not clock time: a flood that is read at full speed takes a whole core.
    expect(costs.sort((x, y) => x - y)[100]).toBeLessThan(10_000);
    abort.abort(new Error("enough"));
    expect(await flood).toBe(abort.signal.reason);
  });

  it("[MCP-6] whose answer is too large is ended, and the model hears that", async () => {
    const stage = await PoolStage.open({ own: program() });
    const a = await stage.load("a");
    expect((await stage.call(a, "big", { bytes: 1_000_000 })).length).toBe(1_000_000);
    const error = await caught(stage.call(a, "big", { bytes: 40_000_000 }));
    expect(error.kind).toBe("tooLarge");
    expect(error.message).toContain("Ask it for less.");
    expect(await stage.call(a, "echo", { message: "again" })).toBe("again");
  });

  it("[MCP-6] that does not answer in time is given up, unless it makes progress", async () => {
    const stage = await PoolStage.open({ own: { ...program(), tool_timeout_sec: 10 } }, { byHand: true });
    const a = await stage.load("a");
    const seen: number[] = [];
    const onProgress = ({ progress }: { progress: number }): void => {
      stage.pass(9000);
      seen.push(progress);
    };
    expect(await stage.call(a, "progress", { steps: 5 }, { onProgress })).toBe("done");
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    const silent = caught(stage.call(a, "silence"));
    await eventually(() => stage.mcp.leases("a")[0]!.server.calls === 1, "the call is under way");
    stage.pass(10_000);
    expect(await silent).toMatchObject({ kind: "timeout" });
    expect((await silent).message).toContain("there was no answer, and no progress, for 10 s");
    expect(await stage.call(a, "echo", { message: "after" })).toBe("after");
  });

  it.each(["listResources", "listResourceTemplates", "readResource"] as const)(
    "[MCP-6] that does not answer a request for resources in time is given up: %s",
    async (request) => {
      const stage = await PoolStage.open(
        { own: { ...program("--mute-resources"), tool_timeout_sec: 10 } },
        { byHand: true },
      );
      const a = await stage.load("a");
      const asked = caught(stage.server(a)[request]("test://one", new AbortController().signal));
      await eventually(() => stage.mcp.leases("a")[0]!.server.calls === 1, "the request is under way");
      stage.pass(10_000);
      expect(await asked).toMatchObject({ kind: "timeout" });
      expect((await asked).message).toContain(
        "The MCP server own did not answer: there was no answer for 10 s.",
      );
      expect(await stage.call(a, "echo", { message: "after" })).toBe("after");
    },
  );

  it("[MCP-6] that refuses a call has its code and its data passed on", async () => {
    const stage = await PoolStage.open({ own: program() });
    const a = await stage.load("a");
    expect(await caught(stage.call(a, "fail"))).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("it does not want to"),
      code: -32_042,
      data: { why: "no" },
    });
    expect(await caught(stage.call(a, "nothing"))).toMatchObject({
      kind: "refused",
      message: 'The MCP server own has no tool "nothing".',
    });
  });

  it("[MCP-6] whose tools change while it starts has the new ones listed", async () => {
    const stage = await PoolStage.open({ own: program("--late") });
    const a = await stage.load("a");
    await stage.call(a, "echo");
    await eventually(() => stage.server(a).tools.some(({ name }) => name === "late"), "it is listed");
    expect(await stage.call(a, "late")).toBe("better late than never");
  });

  it("[MCP-6] whose tools change has the new ones listed at once, and then at most once a second", async () => {
    const stage = await PoolStage.open({ own: program() }, { byHand: true });
    const a = await stage.load("a");
    const has = (name: string) => stage.server(a).tools.some((tool) => tool.name === name);
    await stage.call(a, "learn", { name: "first" });
    await eventually(() => has("first"), "the first new tool is listed without a pause");
    await stage.call(a, "learn", { name: "second" });
    await stage.call(a, "echo", { message: "the notice was received before this answer" });
    expect(has("second")).toBe(false);
    stage.pass(1000);
    await eventually(() => has("second"), "the second new tool is listed after the pause");
  });

  it("[MCP-6] that sends the same page of tools again and again has them once", async () => {
    const stage = await PoolStage.open({ own: program("--same-page"), other: program() });
    const a = await stage.load("a");
    await eventually(() => stage.server(a).tools.length > 0, "its tools are listed");
    const names = (server: string) => stage.server(a, server).tools.map(({ name }) => name);
    await eventually(() => names("other").length > 0, "the other server's tools are listed");
    expect(names("own")).toEqual(names("other"));
  });

  it("[MCP-6] whose tools change has the new ones listed, for all threads, while calls go on", async () => {
    const stage = await PoolStage.open({ own: program() }, { byHand: true });
    const [a, b] = [await stage.load("a"), await stage.load("b")];
    const waiting = caught(stage.call(b, "silence", {}, { signal: AbortSignal.timeout(60_000) }));
    await stage.call(a, "learn", { name: "fly" });
    await eventually(() => {
      stage.pass(1000);
      return stage.server(b).tools.some(({ name }) => name === "fly");
    }, "the new tool is listed");
    expect(stage.server(a).tools).toBe(stage.server(b).tools);
    expect(await stage.call(a, "fly")).toBe("fly was learned");
    stage.mcp.unload("b");
    void waiting;
  });
});
