import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { stdioHost } from "../support/host-process.ts";
import { chat, endless, MockModel, responses, sse, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import type { WireClient } from "../support/wire-client.ts";

const ITEM_BYTES = 100_000;
/** What a connection holds besides what its reader has taken: buffers of both sides and of the system. */
const ON_THE_WAY = 16 * 1024 * 1024;
const TEXT = "and so on ".repeat(20);

/** How an answer begins and what it repeats, by its wire: with text for people, and with a call's arguments. */
const ANSWERS = {
  responses: {
    text: [
      [{ type: "response.output_item.added", output_index: 0, item: { type: "message", id: "m" } }],
      [{ type: "response.output_text.delta", item_id: "m", output_index: 0, delta: TEXT }],
    ],
    arguments: [
      [{ type: "response.output_item.added", output_index: 0, item: { type: "function_call", id: "f" } }],
      [{ type: "response.function_call_arguments.delta", item_id: "f", output_index: 0, delta: TEXT }],
    ],
  },
  chat: {
    text: [[], [chat.delta({ content: TEXT })]],
    arguments: [
      [chat.delta({ tool_calls: [{ index: 0, id: "c", function: { name: "update_plan" } }] })],
      [chat.delta({ tool_calls: [{ index: 0, function: { arguments: TEXT } }] })],
    ],
  },
  messages: {
    text: [
      [{ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }],
      [{ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: TEXT } }],
    ],
    arguments: [
      [{ type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "x" } }],
      [{ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: TEXT } }],
    ],
  },
} as const;

async function hostOn(wire: string, model: MockModel): Promise<{ client: WireClient; threadId: string }> {
  const top = [`model_item_max_bytes = ${ITEM_BYTES}`, "model_answer_max_calls = 20", "turn_max_calls = 30"];
  const provider = ["stream_max_retries = 3", "request_max_retries = 3"];
  const { home, cwd } = await modelHome(wire, model.url, { top, provider });
  const { client } = await stdioHost({ home, capabilities: { experimentalApi: true } });
  return { client, threadId: await client.startThread({ cwd }) };
}

describe.each(["responses", "chat", "messages"] as const)("a model on the %s wire", (wire) => {
  it.each(["text", "arguments"] as const)(
    "[MODEL-10] that streams %s without end is left at the limit of an item",
    async (kind) => {
      const [start, piece] = ANSWERS[wire][kind];
      let taken: number | undefined;
      const flood = endless(sse(start), sse(piece).repeat(100), (bytes) => {
        taken = bytes;
      });
      const model = await MockModel.start(flood);
      const { client, threadId } = await hostOn(wire, model);
      const turnId = await client.say(threadId, "hi");
      const { params } = await client.turnCompleted(turnId);
      expect(params.turn).toMatchObject({ status: "failed", error: { code: "itemTooLarge" } });
      expect(params.turn.error.message).toContain("100000 bytes (model_item_max_bytes in config.toml)");
      // Each thing that a client may ask afterwards is answered: the host is not at work on it any longer.
      expect((await client.call("thread/read", { threadId })).thread.status).toEqual({ type: "systemError" });
      await eventually(() => taken !== undefined, "the connection to the model is closed");
      expect(taken).toBeLessThanOrEqual(ON_THE_WAY);
      expect(model.asked).toHaveLength(1);
      const said = client.told("item/completed").map(({ params }) => params.item);
      const texts = said.filter(({ type }) => type === "agentMessage").map(({ text }) => text.length);
      expect(texts).toEqual(kind === "text" ? [ITEM_BYTES] : []);
    },
  );
});

describe("a model that calls tools without end", () => {
  const calls = (count: number) =>
    Array.from({ length: count }, (_, nth) => responses.call("update_plan", '{"plan":[]}', `call_${nth}`));

  it("[MODEL-10] is stopped at the limit of its answer", async () => {
    const model = await MockModel.start(stream(responses.stream(...calls(21))));
    const { client, threadId } = await hostOn("responses", model);
    const { params } = await client.turnCompleted(await client.say(threadId, "hi"));
    expect(params.turn.error).toMatchObject({ code: "answerTooManyCalls" });
    expect(params.turn.error.message).toContain("more than 20 tool calls (model_answer_max_calls");
  });

  it("[MODEL-10] is stopped at the limit of the turn, and may go on in the next", async () => {
    const model = await MockModel.start(stream(responses.stream(...calls(20))));
    const { client, threadId } = await hostOn("responses", model);
    const { params } = await client.turnCompleted(await client.say(threadId, "hi"));
    expect(params.turn.error).toMatchObject({ code: "turnTooManyCalls" });
    expect(params.turn.error.message).toContain("more than 30 tool calls (turn_max_calls");
    expect(model.asked).toHaveLength(2);
    model.reply(stream(responses.stream(...calls(20))), stream(responses.stream(responses.message("Done."))));
    const next = await client.turnCompleted(await client.say(threadId, "Go on."));
    expect(next.params.turn.status).toBe("completed");
  });
});
