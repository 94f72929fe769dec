// `bobbin tools call`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { BOBBIN, environment, spawnHost } from "../support/host-process.ts";
import { EVERYTHING, homeWith, MCP_PROGRAM, mcpServer } from "../support/mcp-stage.ts";
import { answer } from "../support/rap-stage.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { FakeToolServer } from "../support/tool-server.ts";

const DEPLOY = {
  deploy: {
    inputSchema: {
      type: "object",
      properties: { service: { type: "string" } },
      required: ["service"],
    },
  },
};

const homeOf = (server: FakeToolServer): Promise<string> =>
  homeWith("[rap_servers.desk]", `url = "${server.url}"`);

it("[TERM-9] calls a tool of an MCP server on the running host, and prints text as text", async () => {
  const home = await homeWith(mcpServer("box", MCP_PROGRAM));
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  await host.url();
  const call = (args: readonly string[], input = "") =>
    runBobbin(["tools", "call", ...args], { env: { BOBBIN_HOME: home, LOG_LEVEL: "error" }, input });
  const echoed = await call(["box.echo", '{"message": "Hello!"}']);
  expect(echoed).toEqual({ code: 0, stdout: "Hello!\n", stderr: "" });
  await host.logged(({ name }) => name === "bobbin_tools");
  const piped = await call(["--json", "box.echo", "-"], '{"message": "From a pipe"}');
  expect(JSON.parse(piped.stdout)).toEqual({ content: [{ type: "text", text: "From a pipe" }] });
  const picture = await call(["box.picture", '{"bytes": 0}']);
  expect(JSON.parse(picture.stdout)).toMatchObject({ type: "image", mimeType: "image/png" });
  const failed = await call(["box.fail"]);
  expect([failed.code, failed.stdout]).toEqual([1, ""]);
  expect(failed.stderr).toContain("it does not want to");
});

it("[TERM-9] says which argument is wrong, what the tool takes, and which servers and tools there are", async () => {
  const server = await FakeToolServer.start(DEPLOY);
  const home = await homeWith(mcpServer("all", EVERYTHING), "[rap_servers.desk]", `url = "${server.url}"`);
  const callIn = (place: string, ...args: readonly string[]) =>
    runBobbin(["tools", "call", ...args], { env: { BOBBIN_HOME: place, LOG_LEVEL: "error" } });
  const call = (...args: readonly string[]) => callIn(home, ...args);
  const [ofMcp, ofRap, noTool, noServer, noJson, noObject, nothing] = await Promise.all([
    call("all.echo", '{"message": 3}'),
    call("desk.deploy", "{}"),
    call("desk.destroy"),
    call("shelf.deploy"),
    call("desk.deploy", "{service}"),
    call("desk.deploy", "[1]"),
    callIn(await homeWith(), "desk.deploy"),
  ]);
  expect(ofMcp).toMatchObject({ code: 1, stdout: "" });
  expect(ofMcp.stderr).toMatch(
    /^bobbin: the arguments do not fit all\.echo: message must be of the type string\nIt takes: message: string\n$/,
  );
  expect(ofRap).toMatchObject({ code: 1, stdout: "" });
  expect(ofRap.stderr).toMatch(/do not fit deploy: .*"service"/);
  expect(server.at("/invoke")).toEqual([]);
  expect(noTool).toMatchObject({ code: 1, stderr: "bobbin: desk has no tool destroy. It has: deploy.\n" });
  expect(noServer).toMatchObject({
    code: 1,
    stderr: "bobbin: no server is configured for shelf.deploy. There are: all, desk.\n",
  });
  expect(nothing.code).toBe(1);
  expect(nothing.stderr).toContain("There are none: bobbin mcp add adds an MCP server, [rap_servers.NAME]");
  expect(noJson).toMatchObject({ code: 2, stderr: expect.stringContaining("the arguments are not JSON") });
  expect(noObject).toMatchObject({ code: 2, stderr: expect.stringContaining("a JSON object") });
});

it("[TERM-9] calls a tool of a tool server without a running host, and prints its result", async () => {
  const server = await FakeToolServer.start({
    deploy: { ...DEPLOY.deploy, annotations: { destructive: true } },
  });
  const home = await homeOf(server);
  const call = (...args: string[]) =>
    runBobbin(["tools", "call", ...args], { env: { BOBBIN_HOME: home, LOG_LEVEL: "error" } });
  const running = call("desk.deploy", '{"service": "shop"}');
  const invoked = await server.next("/invoke");
  expect(invoked.body).toMatchObject({ operation: "deploy" });
  expect(invoked.text).toContain('"service":"shop"');
  await answer(invoked, "Deployed.");
  expect(await running).toEqual({ code: 0, stdout: "Deployed.\n", stderr: "" });
  const failing = call("desk.deploy", '{"service": "shop"}');
  await answer(await server.next("/invoke", 2), "Error: no room");
  expect(await failing).toEqual({ code: 1, stdout: "", stderr: "Error: no room\n" });
});

it("[TERM-9] cancels the call on Ctrl-C, and when the time is over", async () => {
  const server = await FakeToolServer.start(DEPLOY);
  const home = await homeOf(server);
  const args = ["tools", "call", "desk.deploy", '{"service": "shop"}'];
  const child = spawn(process.execPath, [BOBBIN, ...args], { env: environment(home), stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "close");
  const { body } = await server.next("/invoke");
  child.kill("SIGINT");
  expect(await ended).toEqual([130, null]);
  expect((await server.next("/cancel_tool_call")).body).toMatchObject({ tool_call_id: body.id });
  const late = await runBobbin([...args, "--timeout", "1"], {
    env: { BOBBIN_HOME: home, LOG_LEVEL: "error" },
  });
  expect(late).toMatchObject({ code: 1, stdout: "" });
  expect(late.stderr).toContain("desk.deploy gave no result within 1 s; --timeout changes that");
});
