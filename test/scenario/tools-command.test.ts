import { expect, it } from "vitest";
import { MockModel } from "../support/mock-model.ts";
import { rapHome, say } from "../support/rap-stage.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { FakeToolServer } from "../support/tool-server.ts";

it("[TERM-6] bobbin tools shows the arguments of tools", async () => {
  const server = await FakeToolServer.start({
    deploy: {
      inputSchema: {
        type: "object",
        properties: { service: { type: "string" }, to: { enum: ["staging", "live"] } },
        required: ["service"],
      },
    },
    rest: {},
  });
  const model = await MockModel.start(say("Done"));
  const { home } = await rapHome(model.url, { servers: { desk: server } });
  const { code, stdout } = await runBobbin(["tools"], { env: { BOBBIN_HOME: home } });
  expect(code).toBe(0);
  expect(stdout).toMatch(/ {4}deploy .*\n {6}service: string, to\?: "staging" \| "live"\n {4}rest .*\n\n/);
});
