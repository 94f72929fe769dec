import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../../../../../test/support/eventually.ts";
import { freshFolder } from "../../../../../test/support/folder.ts";
import { PoolStage, program } from "../../../../../test/support/mcp-pool-stage.ts";

describe("what a server offered last time", () => {
  it("[MCP-4] is there at once for the next host, and the first call starts the server", async () => {
    const home = await freshFolder();
    const first = await PoolStage.open({ own: program() }, { home });
    const a = await first.load("a");
    await first.call(a, "echo", { message: "hi" });
    const { tools, instructions } = first.server(a);
    await first.close();

    const next = await PoolStage.open({ own: program() }, { home });
    const b = await next.load("b");
    expect(next.server(b).tools).toEqual(tools);
    expect(next.server(b).instructions).toBe(instructions);
    expect(next.server(b).hasResources).toBe(true);
    expect(next.server(b).listed()).toBeUndefined();
    expect(next.running).toEqual([]);
    expect(next.told).toEqual([]);
    expect(await next.call(b, "echo", { message: "hi" })).toBe("hi");
    expect(next.told.map(({ status }) => status)).toEqual(["starting", "ready"]);
  });

  it("[MCP-4] holds nothing of the values of variables", async () => {
    const home = await freshFolder();
    const secret = "sk-very-secret";
    const own = { ...program(), env: { KEY: secret }, env_vars: ["OTHER_KEY"] };
    const stage = await PoolStage.open({ own }, { home, env: { ...process.env, OTHER_KEY: secret } });
    const a = await stage.load("a");
    expect(await stage.call(a, "env")).toContain(secret);
    await stage.close();
    const folder = join(home, "mcp_known");
    const files = await readdir(folder);
    expect(files.length).toBe(1);
    expect(await readFile(join(folder, files[0]!), "utf8")).not.toContain(secret);
  });

  it("[MCP-4] is not another owner's, nor another server's", async () => {
    const home = await freshFolder();
    const first = await PoolStage.open({ own: program() }, { home });
    await first.call(await first.load("a"), "echo");
    await first.close();
    const next = await PoolStage.open({ own: program("--changed"), other: program() }, { home });
    const [mine, theirs] = [await next.load("b"), await next.load("c", { owner: "subject:ann" })];
    const known = (thread: typeof mine) => next.mcp.of(thread).map(({ tools }) => tools.length > 0);
    expect([known(mine), known(theirs)]).toEqual([
      [false, false],
      [false, false],
    ]);
  });

  it("[MCP-4] is asked for again if its file is damaged", async () => {
    const home = await freshFolder();
    const first = await PoolStage.open({ own: program() }, { home });
    await first.call(await first.load("a"), "echo");
    await first.close();
    const folder = join(home, "mcp_known");
    const [name] = await readdir(folder);
    for (const text of ["", "{", "null", '{"version":1,"offered":{"tools":[1,{"name":7}]}}', "\0"]) {
      await writeFile(join(folder, name!), text);
      const next = await PoolStage.open({ own: program() }, { home });
      const b = await next.load("b");
      expect(await next.call(b, "echo", { message: "hi" })).toBe("hi");
      await next.close();
    }
  });

  it("[MCP-4] is not waited for; servers that are required are", async () => {
    const needed = { ...program("--start-after", "500"), required: true };
    const stage = await PoolStage.open({ own: program("--hang"), needed });
    const a = await stage.load("a");
    expect(stage.server(a, "needed").tools.length).toBeGreaterThan(0);
    expect(stage.server(a).listed()).toBeDefined();
    expect(stage.server(a).tools).toEqual([]);
    expect(stage.mcp.required(a)).toBeUndefined();
  });

  it("[MCP-4] is without what enabled_tools and disabled_tools leave out, by the configuration of now", async () => {
    const own = { ...program(), enabled_tools: ["echo", "pid", "die"], disabled_tools: ["die"] };
    const stage = await PoolStage.open({ own });
    const [a, b] = [await stage.load("a"), await stage.load("b")];
    await eventually(() => stage.server(a).tools.length > 0, "it is listed");
    expect(stage.server(a).tools.map(({ name }) => name)).toEqual(["echo", "pid"]);
    expect(stage.server(a).tools).toBe(stage.server(b).tools);
    await expect(stage.call(a, "die")).rejects.toThrow('has no tool "die"');
    stage.table = { own: { ...own, enabled_tools: ["echo"], tools: { echo: { approval_mode: "approve" } } } };
    expect(stage.server(a).tools.map(({ name }) => name)).toEqual(["echo"]);
    expect(stage.server(a).settings.approvalModes).toEqual({ echo: "approve" });
  });
});
