// `rawResponseItem/completed`, on the real program with a local model.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, responses, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { callTool, patchOf, say } from "../support/model-replies.ts";

it("[RAW-1] is sent to the client that asked for it, for each item of the conversation, and to no other", async () => {
  const patch = patchOf("*** Delete File: a.txt");
  const model = await MockModel.start(
    stream(responses.stream(responses.reasoning(["Hm."], "secret"), responses.call("get_goal", "{}", "one"))),
    stream(responses.stream(responses.customCall("apply_patch", patch, "two"))),
    callTool("get_goal", {}, "three"),
    say("Done."),
  );
  const { home, cwd } = await modelHome("responses", model.url, {
    top: ['sandbox_mode = "workspace-write"'],
  });
  await writeFile(join(cwd, "a.txt"), "x\n");
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const experimental = { experimentalApi: true };
  const [client, other] = await Promise.all([1, 2].map(() => host.join(undefined, experimental)));
  const params = { cwd, model: "gpt-5.5", experimentalRawEvents: true };
  const threadId = await client!.startThread(params);
  await other!.call("thread/resume", { threadId });
  await client!.turn(threadId, "go");
  await other!.until(() => other!.count("turn/completed") === 1, "the turn");
  const raw = client!.told("rawResponseItem/completed").map(({ params }) => params);
  expect(raw.map(({ item }) => item.type)).toEqual([
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "function_call",
    "function_call_output",
    "message",
  ]);
  const [user, reasoning, call, output, custom, customOutput] = raw.map(({ item }) => item);
  expect(user).toEqual({
    type: "message",
    role: "user",
    content: [{ type: "input_text", text: "go" }],
  });
  expect(reasoning).toMatchObject({
    summary: [{ type: "summary_text", text: "Hm." }],
    encrypted_content: "secret",
  });
  expect(call).toEqual({ type: "function_call", call_id: "one", name: "get_goal", arguments: "{}" });
  expect(output).toMatchObject({ call_id: "one", output: expect.any(String) });
  expect(custom).toEqual({ type: "custom_tool_call", call_id: "two", name: "apply_patch", input: patch });
  expect(customOutput).toMatchObject({ call_id: "two", output: expect.stringContaining("D a.txt") });
  expect(raw.at(-1)!.item).toMatchObject({
    role: "assistant",
    content: [{ type: "output_text", text: "Done." }],
  });
  expect(raw.every((one) => one.threadId === threadId && typeof one.turnId === "string")).toBe(true);
  expect(other!.count("rawResponseItem/completed")).toBe(0);
});
