// How MCP servers start and end with the threads that have them.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { stdioHost } from "../support/host-process.ts";
import { everythingOverHttp } from "../support/mcp-http.ts";
import { EVERYTHING, FILESYSTEM, homeWith, MCP_LIGHT, MCP_PROGRAM, mcpServer } from "../support/mcp-stage.ts";
import { withMark } from "../support/processes.ts";

const STATUS = "mcpServer/startupStatus/updated";

/** Processes that a host on this home has started. */
function started(home: string): readonly number[] {
  return readdirSync(join(home, "processes")).flatMap((name) => withMark(name.replace(".lock", "")));
}

it("[MCP-1] starts an uncached server with the thread, and notifies when it is ready", async () => {
  const home = await homeWith(mcpServer("every", EVERYTHING, ["stdio"]), mcpServer("own", MCP_PROGRAM));
  const { client } = await stdioHost({ home });
  const threadId = await client.startThread();
  await client.until(() => client.told(STATUS).length === 4, "both servers are ready");
  const told = client.told(STATUS).map(({ params }) => [params.name, params.status, params.error]);
  for (const name of ["every", "own"])
    expect(told.filter(([one]) => one === name)).toEqual([
      [name, "starting", null],
      [name, "ready", null],
    ]);
  expect(client.told(STATUS).every(({ params }) => params.threadId === threadId)).toBe(true);
  const [reply] = client.frames.filter(({ result }) => result?.thread?.id === threadId);
  expect(client.frames.indexOf(client.told(STATUS)[0]!)).toBeGreaterThan(client.frames.indexOf(reply!));
});

it("[MCP-1] notifies each new thread of a running server that it is ready", async () => {
  const { client } = await stdioHost({ home: await homeWith(mcpServer("own", MCP_PROGRAM)) });
  await client.startThread();
  await client.waitFor(({ params }) => params?.status === "ready", "the first one is ready");
  const second = await client.startThread();
  const { params } = await client.about(second, STATUS);
  expect(params).toEqual({
    threadId: second,
    name: "own",
    status: "ready",
    error: null,
    failureReason: null,
  });
});

it("[MCP-3] ends servers with the host, in good order", async () => {
  const home = await homeWith(mcpServer("own", MCP_PROGRAM));
  const { client, host } = await stdioHost({ home });
  await client.startThread();
  await client.waitFor(({ params }) => params?.status === "ready", "it is ready");
  expect(started(home).length).toBe(1);
  const marks = readdirSync(join(home, "processes")).map((name) => name.replace(".lock", ""));
  client.end();
  expect(await host.exited).toEqual({ code: 0, signal: null });
  expect(marks.flatMap((mark) => withMark(mark))).toEqual([]);
});

it("[MCP-3] leaves no server behind when the host is killed while servers start", async () => {
  const home = await homeWith(mcpServer("slow", MCP_PROGRAM, ["--hang"]), mcpServer("own", MCP_PROGRAM));
  const { client, host } = await stdioHost({ home });
  await client.startThread();
  await client.waitFor(({ params }) => params?.status === "ready", "one of them is ready");
  expect(started(home).length).toBe(2);
  await host.kill();
  await eventually(() => started(home).length === 0, "no server is left");
});

it("[MCP-4] does not wait for a slow server in a first turn", async () => {
  const { client } = await stdioHost({ home: await homeWith(mcpServer("slow", MCP_PROGRAM, ["--hang"])) });
  const threadId = await client.startThread();
  await client.turnCompleted(await client.say(threadId, "Hello!"));
  expect(client.told(STATUS).map(({ params }) => params.status)).toEqual(["starting"]);
});

it("[MCP-4] waits for a required server, until it is ready or has failed", async () => {
  const home = await homeWith(
    mcpServer("slow", MCP_PROGRAM, ["--start-after", "500"], ["required = true"]),
    mcpServer("hangs", MCP_PROGRAM, ["--hang"], ["required = true", "startup_timeout_sec = 1"]),
  );
  const { client } = await stdioHost({ home });
  const threadId = await client.startThread();
  const turn = await client.say(threadId, "Hello!");
  const first = await client.waitFor(
    ({ method }) => method === "item/agentMessage/delta",
    "the answer begins",
  );
  const before = client.frames
    .slice(0, client.frames.indexOf(first))
    .filter(({ method }) => method === STATUS);
  expect(before.map(({ params }) => `${params.name} ${params.status}`).sort()).toEqual([
    "hangs failed",
    "hangs starting",
    "slow ready",
    "slow starting",
  ]);
  await client.turnCompleted(turn);
});

it("[MCP-15] lists servers with what they offer, page by page, and ends those that only the list needed", async () => {
  const home = await homeWith(
    mcpServer("a", EVERYTHING, ["stdio"]),
    `[mcp_servers.b]\nurl = "${await everythingOverHttp()}"`,
    mcpServer("c", FILESYSTEM, ["/tmp"]),
    '[mcp_servers.d]\nurl = "https://mcp.example/mcp?key=x"\nenabled = false',
    `[mcp_servers.e]\ncommand = "${MCP_LIGHT}"\ndisabled_tools = ["pid"]`,
  );
  const { client } = await stdioHost({ home });
  const first = await client.call("mcpServerStatus/list", { limit: 2 });
  const rest = await client.call("mcpServerStatus/list", { cursor: first.nextCursor });
  const [a, b, c, d, e] = [...first.data, ...rest.data];
  expect([first.data.length, rest.data.length, rest.nextCursor]).toEqual([2, 3, null]);
  for (const every of [a, b]) {
    expect(every).toMatchObject({ runtimeStatus: "connected", toolsError: null, pluginId: null });
    expect(every.serverInfo).toMatchObject({ name: "mcp-servers/everything", version: "2.0.0" });
    expect(Object.keys(every.tools)).toContain("echo");
    expect(every.tools.echo).toMatchObject({ name: "echo", inputSchema: { type: "object" } });
    expect(every.resources.length).toBeGreaterThan(0);
    expect(every.resourceTemplates.length).toBeGreaterThan(0);
    expect(every.serverCapabilities).toHaveProperty("tools");
  }
  expect([a.authStatus, a.httpOrigin]).toEqual(["unsupported", null]);
  expect(b.httpOrigin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(Object.keys(c.tools)).toContain("read_text_file");
  expect(d).toMatchObject({ runtimeStatus: "disabled", httpOrigin: "https://mcp.example", tools: {} });
  expect(e).toMatchObject({ tools: {}, resources: [] });
  const { data } = await client.call("mcpServerStatus/list", { serverName: "e", detail: "toolsAndAuthOnly" });
  expect(data.map(({ name }: { name: string }) => name)).toEqual(["e"]);
  await eventually(() => started(home).length === 0, "what only the list needed has ended");
});
