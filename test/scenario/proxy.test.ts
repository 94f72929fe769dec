import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import { littleProxy } from "../support/little-proxy.ts";
import { fakeHttpServer } from "../support/mcp-http.ts";
import { MockModel, responses, stream } from "../support/mock-model.ts";
import { FakeToolServer, toolset } from "../support/tool-server.ts";

it("[PROXY-4] reaches models, MCP servers and tool servers by the proxy of the environment", async () => {
  const model = await MockModel.start(stream(responses.stream(responses.message("Hello"))));
  const mcp = await fakeHttpServer();
  const desk = await FakeToolServer.start();
  desk.offer(toolset("http://desk.test", { look: {} }));
  const { url, asked } = await littleProxy({
    routes: {
      "model.test:80": new URL(model.url),
      "mcp.test:80": new URL(mcp.url),
      "desk.test:80": new URL(desk.url),
    },
  });
  const home = await freshFolder();
  const config = `model_provider = "far"
[model_providers.far]
base_url = "http://model.test/v1"
wire_api = "responses"
[mcp_servers.notes]
url = "http://mcp.test/mcp"
[rap_servers.desk]
url = "http://desk.test"
`;
  await writeFile(join(home, "config.toml"), config);
  const { client } = await stdioHost({
    home,
    env: { HTTP_PROXY: url, http_proxy: "", NO_PROXY: "", no_proxy: "" },
  });
  const threadId = await client.startThread();
  const hasNotes = async () =>
    (await client.call("mcpServerStatus/list", { threadId })).data.some(
      ({ name, tools }: { name: string; tools: object }) =>
        name === "notes" && Object.keys(tools).includes("echo"),
    );
  await eventually(hasNotes, "the tools of the MCP server are there");
  await client.turn(threadId, "hi");
  const names = JSON.stringify(model.asked[0]!.body.tools);
  for (const tool of ["echo", "look"]) expect(names).toContain(tool);
  expect(asked).toEqual(
    expect.arrayContaining([
      "POST http://model.test/v1/responses",
      "POST http://mcp.test/mcp",
      "GET http://desk.test/.well-known/rap-toolset",
    ]),
  );
});
