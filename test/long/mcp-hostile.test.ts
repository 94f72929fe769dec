// Servers with bad manners in one thread, and what the others notice of them.
import { describe, expect, it } from "vitest";
import { stdioHost } from "../support/host-process.ts";
import { homeWith, MCP_PROGRAM, mcpServer } from "../support/mcp-stage.ts";
import type { WireClient } from "../support/wire-client.ts";

const capabilities = { experimentalApi: true };
const approve = ['default_tools_approval_mode = "approve"'];

/** A host with a server that is good and one that is not, each thread with both. */
async function open(...bad: readonly string[]): Promise<{ client: WireClient; mine: string; other: string }> {
  const home = await homeWith(
    mcpServer("good", MCP_PROGRAM, [], approve),
    mcpServer("bad", MCP_PROGRAM, ["--bad", ...bad], [...approve, "startup_timeout_sec = 5"]),
  );
  const { client } = await stdioHost({ home, capabilities });
  const [mine, other] = [await client.startThread(), await client.startThread()];
  return { client, mine, other };
}

const call = (client: WireClient, threadId: string, server: string, tool: string, args: object = {}) =>
  client.request("mcpServer/tool/call", { threadId, server, tool, arguments: args });

/** What another thread does meanwhile: turns, calls of the good server, requests. */
async function goOn(client: WireClient, threadId: string): Promise<void> {
  for (let nth = 0; nth < 3; nth++) {
    const { result } = await call(client, threadId, "good", "echo", { message: `hello ${nth}` });
    expect(result.content).toEqual([{ type: "text", text: `hello ${nth}` }]);
    const { params } = await client.turnCompleted(await client.say(threadId, "Hello!"));
    expect(params.turn.status).toBe("completed");
    await client.call("thread/read", { threadId });
  }
}

describe("other threads go on", () => {
  it.each(["flood", "silence", "die", "twice", "learn", "fail"])(
    "[MCP-6] while a server does this in a call: %s",
    async (tool) => {
      const { client, mine, other } = await open();
      const bad = call(client, mine, "bad", tool, { name: "more" });
      await goOn(client, other);
      if (tool !== "flood" && tool !== "silence") await bad;
      await client.call("thread/unload", { threadId: mine });
      await goOn(client, other);
    },
  );

  it.each([["--hang"], ["--garbage"], ["--exit", "1"]])(
    "[MCP-6] while a server does this from its start on: %s",
    async (...args) => {
      const { client, mine, other } = await open(...args);
      const bad = call(client, mine, "bad", "echo", { message: "hi" });
      await goOn(client, other);
      const { result, error } = await bad;
      if (args[0] === "--garbage") expect(result.content[0].text).toBe("hi");
      else expect(error?.message ?? JSON.stringify(result)).toContain("bad");
    },
  );
});
