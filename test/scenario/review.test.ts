// Reviews, on the real program with a local model.
import { describe, expect, it } from "vitest";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, type Reply, refuse, responses, silent, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { story } from "../support/story.ts";
import type { WireClient } from "../support/wire-client.ts";

const SOCKET = ["--listen", "ws://127.0.0.1:0"];

const FINDING = {
  title: "[P1] Prefer X",
  body: "Use it.\nHere.",
  confidence_score: 0.9,
  priority: 1,
  code_location: { absolute_file_path: "/tmp/file.rs", line_range: { start: 10, end: 20 } },
};
const OUTPUT = {
  findings: [FINDING],
  overall_correctness: "patch is incorrect",
  overall_explanation: "Nearly.",
  overall_confidence_score: 0.75,
};

interface Stage {
  readonly model: MockModel;
  readonly client: WireClient;
  readonly threadId: string;
}

async function stage(...replies: readonly Reply[]): Promise<Stage> {
  const model = await MockModel.start(...replies);
  const { home, cwd } = await modelHome("responses", model.url);
  const host = await spawnHost({ home, args: SOCKET });
  const client = await host.join(undefined, { experimentalApi: true });
  const LOOKUP = {
    type: "function",
    name: "diff",
    description: "Shows it.",
    inputSchema: { type: "object" },
  };
  const threadId = await client.startThread({ cwd, dynamicTools: [LOOKUP] });
  return { model, client, threadId };
}

const texts = (model: MockModel, nth: number): string[] =>
  model.asked
    .at(nth)!
    .body.input.map(
      ({ role, content, type }: { role?: string; type: string; content?: { text: string }[] }) =>
        role === undefined ? type : `${role}: ${content!.map(({ text }) => text).join("+")}`,
    );

describe("review/start", () => {
  it("[REVIEW-1] is a turn in which a reviewer sees only the work, and reports its findings", async () => {
    const call = stream(responses.stream(responses.message("Let me look"), responses.call("diff", "{}")));
    const { model, client, threadId } = await stage(
      say("hello"),
      call,
      say(JSON.stringify(OUTPUT)),
      say("ok"),
    );
    await client.turn(threadId, "hi there");
    const from = client.frames.length;
    const { turn, reviewThreadId } = await client.call("review/start", {
      threadId,
      target: { type: "commit", sha: "1234567deadbeef", title: "Tidy up" },
    });
    expect(reviewThreadId).toBe(threadId);
    expect(turn).toMatchObject({
      status: "inProgress",
      itemsView: "notLoaded",
      items: [{ type: "userMessage", id: turn.id, content: [{ text: "commit 1234567: Tidy up" }] }],
    });
    const { id } = await client.waitFor(({ method }) => method === "item/tool/call", "the call");
    client.send({ id, result: { contentItems: [{ type: "inputText", text: "+x" }], success: true } });
    const { params } = await client.turnCompleted(turn.id);
    const review = "Nearly.\n\nReview comment:\n\n- [P1] Prefer X — /tmp/file.rs:10-20\n  Use it.\n  Here.";
    expect(params.turn).toMatchObject({
      status: "completed",
      items: [{ type: "agentMessage", text: review }],
    });
    const shown = story(client.frames.slice(from));
    expect(shown.filter((word) => word.startsWith("item/") || word === "turn/started")).toEqual([
      "item/started enteredReviewMode",
      "item/completed enteredReviewMode",
      "turn/started",
      "item/started userMessage",
      "item/completed userMessage",
      "item/started agentMessage",
      "item/agentMessage/delta",
      "item/completed agentMessage",
      "item/started dynamicToolCall",
      "item/tool/call",
      "item/completed dynamicToolCall",
      "item/started exitedReviewMode",
      "item/completed exitedReviewMode",
      "item/started agentMessage",
      "item/completed agentMessage",
    ]);
    const entered = client
      .told("item/started")
      .find(({ params }) => params.item.type === "enteredReviewMode");
    expect(entered!.params.item.review).toBe("commit 1234567: Tidy up");
    const exited = client
      .told("item/completed")
      .find(({ params }) => params.item.type === "exitedReviewMode");
    expect(exited!.params.item.review).toBe(review);

    const { instructions, tools } = model.asked[1]!.body;
    expect(instructions).toMatch(/^You review a change/);
    expect(tools.map(({ name }: { name: string }) => name)).toEqual([
      "request_user_input",
      "view_image",
      "diff",
    ]);
    expect(texts(model, 1).join("\n")).not.toContain("hi there");
    expect(texts(model, 1).at(-1)).toMatch(/^user: Review what the commit 1234567deadbeef \("Tidy up"\)/);
    await client.turn(threadId, "thanks");
    expect(texts(model, -1).at(-2)).toBe(`assistant: ${review}`);
    expect(model.asked.at(-1)!.body.instructions).not.toBe(instructions);
    expect(texts(model, -1).join("\n")).toContain("hi there");
  });

  it.each([
    [{ type: "uncommittedChanges" }, "current changes"],
    [{ type: "baseBranch", branch: " main " }, "changes against 'main'"],
    [{ type: "commit", sha: "abc" }, "commit abc"],
    [{ type: "custom", instructions: " look \n" }, "look"],
  ])("[REVIEW-2] accepts %j", async (target, label) => {
    const { client, threadId } = await stage(say("Just words."));
    const { turn } = await client.call("review/start", { threadId, target });
    await client.turnCompleted(turn.id);
    const items = client.told("item/completed").map(({ params }) => params.item);
    expect(items.find(({ type }) => type === "enteredReviewMode").review).toBe(label);
    expect(items.find(({ type }) => type === "exitedReviewMode").review).toBe("Just words.");
  });

  it("[REVIEW-2] refuses an empty target", async () => {
    const { client, threadId } = await stage(say("x"));
    for (const [target, name] of [
      [{ type: "baseBranch", branch: "  " }, "branch"],
      [{ type: "commit", sha: "\t" }, "sha"],
      [{ type: "custom", instructions: "\n\n" }, "instructions"],
    ] as const) {
      const { code, message } = await client.refusal("review/start", { threadId, target });
      expect({ code, message }).toEqual({ code: -32600, message: `${name} must not be empty` });
    }
  });

  it("[REVIEW-3] cannot be steered, and ends when it is interrupted or fails", async () => {
    const { model, client, threadId } = await stage(silent(""));
    const target = { type: "uncommittedChanges" };
    const { turn } = await client.call("review/start", { threadId, target });
    const input = [{ type: "text", text: "more" }];
    const { message, data } = await client.refusal("turn/steer", {
      threadId,
      expectedTurnId: turn.id,
      input,
    });
    expect(message).toBe("cannot steer a review turn");
    expect(data.codexErrorInfo).toEqual({ activeTurnNotSteerable: { turnKind: "review" } });
    await client.call("turn/interrupt", { threadId, turnId: turn.id });
    expect((await client.turnCompleted(turn.id)).params.turn).toMatchObject({ status: "interrupted" });

    model.reply(refuse(400, { error: { message: "not today" } }));
    const { turn: second } = await client.call("review/start", { threadId, target });
    expect((await client.turnCompleted(second.id)).params.turn).toMatchObject({ status: "failed" });
    const exits = client
      .told("item/completed")
      .filter(({ params }) => params.item.type === "exitedReviewMode");
    expect(exits.map(({ params }) => params.item.review)).toEqual([
      expect.stringContaining("interrupted"),
      expect.stringContaining("not today"),
    ]);
  });

  it("[REVIEW-4] runs in a fork when it is detached, as an ordinary turn", async () => {
    const { model, client, threadId } = await stage(say("hello"), say("No findings."));
    await client.turn(threadId, "hi there");
    const from = client.frames.length;
    const { turn, reviewThreadId } = await client.call("review/start", {
      threadId,
      delivery: "detached",
      target: { type: "custom", instructions: "look" },
    });
    expect(reviewThreadId).not.toBe(threadId);
    await client.turnCompleted(turn.id);
    expect(story(client.frames.slice(from), reviewThreadId)).toEqual([
      expect.stringMatching(/^reply/),
      "thread/started",
      "thread/status/changed active",
      "turn/started",
      "item/started userMessage",
      "item/completed userMessage",
      "item/started agentMessage",
      "item/agentMessage/delta",
      "item/completed agentMessage",
      "thread/tokenUsage/updated",
      "thread/readState/changed",
      "thread/status/changed idle",
      "turn/completed",
    ]);
    expect(texts(model, 1).slice(-3)).toEqual([
      "user: hi there",
      "assistant: hello",
      expect.stringMatching(/^user: look\n\nReview as a stranger/),
    ]);
    const { thread } = await client.call("thread/read", { threadId: reviewThreadId });
    expect(thread.forkedFromId).toBe(threadId);
  });
});
