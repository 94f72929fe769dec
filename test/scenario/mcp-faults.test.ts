// MCP servers that misbehave in the middle of a turn, and what models and clients see of it.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { calls, mcpItems, mcpStage, textsOf } from "../support/mcp-call-stage.ts";
import { outputs, say } from "../support/rap-stage.ts";

describe("an MCP server", () => {
  it("[MCPCALL-14] that dies in a call fails that call, and is restarted for the next", async () => {
    const { client, threadId, model } = await mcpStage([
      calls(["die"]),
      calls(["echo", { message: "hi" }]),
      say("ok"),
    ]);
    await client.turn(threadId, "go");
    expect(mcpItems(client)).toMatchObject([
      { tool: "die", status: "failed", result: null, error: { message: expect.any(String) } },
      { tool: "echo", status: "completed" },
    ]);
    expect(outputs(model, 2)[0]).toBe(mcpItems(client)[0].error.message);
    expect(outputs(model, 2)[1]).toEqual([{ type: "input_text", text: "hi" }]);
  });

  it("[MCPCALL-14] that answers twice is heard once", async () => {
    const { client, threadId, model } = await mcpStage([
      calls(["twice"]),
      calls(["echo", { message: "hi" }]),
      say("ok"),
    ]);
    await client.turn(threadId, "go");
    expect(outputs(model, 2)).toEqual([
      [{ type: "input_text", text: "first" }],
      [{ type: "input_text", text: "hi" }],
    ]);
    expect(mcpItems(client).map(textsOf)).toEqual(["first", "hi"]);
  });

  it("[MCPCALL-14] that returns an error passes it to the model", async () => {
    const { client, threadId, model } = await mcpStage([calls(["fail"]), say("ok")]);
    await client.turn(threadId, "go");
    expect(outputs(model, 1)[0]).toMatch(/it does not want to/);
    expect(mcpItems(client)[0]).toMatchObject({ status: "failed", error: { message: outputs(model, 1)[0] } });
  });

  it("[MCPCALL-14] that sends more than the limit fails its call, and other threads go on", async () => {
    const { client, threadId, cwd, model } = await mcpStage([
      calls(["big", { bytes: 100 * 1024 * 1024 }]),
      say("ok"),
    ]);
    const turnId = await client.say(threadId, "go");
    await client.until(() => mcpItems(client, "item/started").length === 1, "the call");
    model.reply(say("unmoved"));
    const other = await client.startThread({ cwd });
    await client.turn(other, "go");
    model.reply(say("ok"), calls(["echo", { message: "hi" }]), say("ok"));
    await client.turnCompleted(turnId);
    await client.turn(threadId, "again");
    const [big, echo] = mcpItems(client);
    expect(big).toMatchObject({ status: "failed", result: null, error: { message: expect.any(String) } });
    expect(echo.error).toBeNull();
  });

  it("[MCPCALL-15] that has other tools in the middle of a turn offers them to the model in the same turn", async () => {
    const file = join(await freshFolder(), "there");
    const { client, threadId, model } = await mcpStage([
      calls(["learn", { name: "news" }]),
      calls(["until", { file }]),
      calls(["news"]),
      say("ok"),
    ]);
    const turnId = await client.say(threadId, "go");
    const offers = async (): Promise<boolean> => {
      const { data } = await client.call("mcpServerStatus/list", { threadId });
      return Object.hasOwn(data[0].tools, "news");
    };
    await eventually(offers, "the server has another tool");
    await writeFile(file, "");
    await client.turnCompleted(turnId);
    expect(JSON.stringify(model.asked[0]!.body.tools)).not.toContain('"news"');
    expect(JSON.stringify(model.asked[2]!.body.tools)).toContain('"news"');
    expect(textsOf(mcpItems(client).at(-1))).toBe("news was learned");
  });
});
