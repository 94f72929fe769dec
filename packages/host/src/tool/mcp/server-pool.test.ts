import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../../../../../test/support/eventually.ts";
import { freshFolder } from "../../../../../test/support/folder.ts";
import { PoolStage, program } from "../../../../../test/support/mcp-pool-stage.ts";
import { LINGER_MS } from "./server-pool.ts";

describe("a pooled server", () => {
  it("[MCP-2] is one for all threads with the same configuration, owner and folder", async () => {
    const stage = await PoolStage.open({ own: program() });
    const threads = await Promise.all(["a", "b", "c"].map((id) => stage.load(id)));
    const pids = await Promise.all(threads.map((thread) => stage.call(thread, "pid")));
    expect(new Set(pids).size).toBe(1);
    expect(stage.running.length).toBe(1);
  });

  it("[MCP-2] is another one for another owner, another folder and other roots", async () => {
    const stage = await PoolStage.open({ own: program() });
    const [one, two] = [await freshFolder("one"), await freshFolder("two")];
    const threads = [
      await stage.load("a", { cwd: one }),
      await stage.load("b", { cwd: two }),
      await stage.load("c", { cwd: one, owner: "subject:ann" }),
      await stage.load("d", { cwd: one, owner: "subject:bob" }),
      await stage.load("e", { cwd: one, roots: [one, two] }),
    ];
    const pids = await Promise.all(threads.map((thread) => stage.call(thread, "pid")));
    expect(new Set(pids).size).toBe(threads.length);
    expect(await stage.call(threads[1]!, "cwd")).toBe(two);
    expect(await stage.call(threads[4]!, "roots")).toBe(
      JSON.stringify({
        result: { roots: [one, two].map((path) => ({ uri: `file://${path}`, name: basename(path) })) },
      }),
    );
  });

  it("[MCP-2] is another one for a thread that differs only by the trust in its folder", async () => {
    const stage = await PoolStage.open({ own: program() });
    const threads = [
      await stage.load("a"),
      await stage.load("b", { trust: "one" }),
      await stage.load("c", { trust: "two" }),
      await stage.load("d", { trust: "one" }),
    ];
    const [none, one, two, again] = await Promise.all(threads.map((thread) => stage.call(thread, "pid")));
    expect(new Set([none, one, two]).size).toBe(3);
    expect(again).toBe(one);
  });

  it("[MCP-2] works in a folder of its own, if one is configured, for all folders with the same roots", async () => {
    const folder = await freshFolder("own");
    const stage = await PoolStage.open({ own: { ...program(), cwd: folder } });
    const roots = ["/srv"];
    const [a, b] = [
      await stage.load("a", { cwd: "/tmp", roots }),
      await stage.load("b", { cwd: "/", roots }),
    ];
    expect(await stage.call(a, "cwd")).toBe(folder);
    expect(await stage.call(b, "pid")).toBe(await stage.call(a, "pid"));
  });

  it("[MCP-2] follows a thread to another folder", async () => {
    const stage = await PoolStage.open({ own: program() }, { byHand: true });
    const folder = await freshFolder("next");
    const a = await stage.load("a");
    expect(await stage.call(a, "cwd")).toBe("/tmp");
    const moved = await stage.load("a", { cwd: folder });
    expect(await stage.call(moved, "cwd")).toBe(folder);
    expect(stage.running.length).toBe(2);
    stage.pass(LINGER_MS);
    await eventually(() => stage.running.length === 1, "the server in the old folder has ended");
  });

  it("[MCP-3] ends a moment after the last lease was given back, and not before", async () => {
    const stage = await PoolStage.open({ own: program() }, { byHand: true });
    const [a, b] = [await stage.load("a"), await stage.load("b")];
    const pid = await stage.call(a, "pid");
    stage.mcp.unload("a");
    stage.pass(LINGER_MS);
    expect(await stage.call(b, "pid")).toBe(pid);
    stage.mcp.unload("b");
    stage.pass(LINGER_MS - 1);
    expect(stage.running.length).toBe(1);
    const c = await stage.load("c");
    stage.pass(LINGER_MS);
    expect(await stage.call(c, "pid")).toBe(pid);
    stage.mcp.unload("c");
    stage.pass(LINGER_MS);
    await eventually(() => stage.running.length === 0, "no process is left");
  });

  it("[MCP-3] is stopped when it was idle for long, and started again by the next call", async () => {
    const stage = await PoolStage.open({ own: program() }, { byHand: true });
    const a = await stage.load("a");
    const pid = await stage.call(a, "pid");
    stage.pass(4 * 60_000);
    expect(await stage.call(a, "pid")).toBe(pid);
    stage.pass(5 * 60_000);
    await eventually(() => stage.running.length === 0, "the idle server has ended");
    expect(stage.server(a).tools.map(({ name }) => name)).toContain("echo");
    expect(await stage.call(a, "pid")).not.toBe(pid);
  });

  it("[MCP-3] is not idle while it works on a resource", async () => {
    const stage = await PoolStage.open({ own: program() }, { byHand: true });
    const a = await stage.load("a");
    const pid = await stage.call(a, "pid");
    const file = join(await freshFolder(), "go");
    const { signal } = new AbortController();
    stage.pass(4 * 60_000);
    const reading = stage.server(a).readResource(`test://until?file=${file}`, signal);
    await eventually(() => stage.mcp.leases("a")[0]!.server.calls === 1, "the read is under way");
    stage.pass(2 * 60_000);
    await writeFile(file, "");
    expect((await reading).contents).toMatchObject([{ text: "it is there" }]);
    stage.pass(5 * 60_000 - 1);
    expect(await stage.call(a, "pid")).toBe(pid);
  });

  it("[MCP-3] without a lease finishes the call that it works on, and then ends", async () => {
    const stage = await PoolStage.open({ own: program() }, { byHand: true });
    const a = await stage.load("a");
    const file = join(await freshFolder(), "go");
    const { server } = stage.mcp.leases("a")[0]!;
    const waiting = stage.call(a, "until", { file });
    await eventually(() => server.calls === 1, "the call is under way");
    stage.table = { own: { ...program(), args: [...(program().args as string[]), "--other"] } };
    stage.mcp.reload();
    await stage.mcp.required(a);
    expect(stage.mcp.leases("a")[0]!.server).not.toBe(server);
    stage.pass(LINGER_MS);
    await writeFile(file, "");
    expect(await waiting).toBe("it is there");
    stage.pass(LINGER_MS);
    await eventually(() => server.state === "closed", "the old server has ended");
  });

  it("[MCP-3] leaves nothing behind when it started other programs", async () => {
    const folder = await freshFolder("children");
    await mkdir(join(folder, "x"));
    const stage = await PoolStage.open(
      {
        own: {
          command: "/bin/sh",
          args: [
            "-c",
            `sleep 3600 & setsid sleep 3600 & exec "$@"`,
            "sh",
            ...[process.execPath, ...(program().args as string[])],
          ],
        },
      },
      { byHand: true },
    );
    const a = await stage.load("a");
    await stage.call(a, "echo", { message: "hi" });
    expect(stage.running.length).toBe(3);
    stage.mcp.unload("a");
    stage.pass(LINGER_MS);
    await eventually(() => stage.running.length === 0, "no process is left");
  });
});
