// Plan mode, on the real program with a local model.
import { describe, expect, it } from "vitest";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, type Reply, responses, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { callTool, say } from "../support/model-replies.ts";
import { deltas, story } from "../support/story.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const SOCKET = ["--listen", "ws://127.0.0.1:0"];
const EXPERIMENTAL = { experimentalApi: true };
const PLAN = "Preface\n<proposed_plan>\n# Final plan\n- first\n- second\n</proposed_plan>\nPostscript";
const mode = (kind: string, more: object = {}) => ({
  mode: kind,
  settings: { model: "mock-model", reasoning_effort: null, developer_instructions: null, ...more },
});

/** The model calls the goal complete, and is asked once more. */
const finishGoal = callTool("update_goal", { status: "complete" });

interface Stage {
  readonly home: string;
  readonly model: MockModel;
  readonly client: WireClient;
  readonly threadId: string;
  kill(): Promise<void>;
}

async function stage(...replies: readonly Reply[]): Promise<Stage> {
  const model = await MockModel.start(...replies);
  const { home, cwd } = await modelHome("responses", model.url);
  const host = await spawnHost({ home, args: SOCKET });
  const client = await host.join(undefined, EXPERIMENTAL);
  const threadId = await client.startThread({ cwd });
  return { home, model, client, threadId, kill: () => host.kill() };
}

async function turn(client: WireClient, threadId: string, collaborationMode?: object): Promise<string> {
  const { turn } = await client.call("turn/start", {
    threadId,
    input: [{ type: "text", text: "Plan this" }],
    ...(collaborationMode && { collaborationMode }),
  });
  await client.turnCompleted(turn.id);
  return turn.id;
}

const planDeltas = (frames: readonly Received[]) =>
  frames
    .filter(({ method }) => method === "item/plan/delta")
    .map(({ params }) => params.delta)
    .join("");
const developer = (model: MockModel, nth: number): string =>
  model.asked
    .at(nth)!
    .body.input.filter(({ role }: { role: string }) => role === "developer")
    .map(({ content }: { content: { text: string }[] }) => content[0]!.text)
    .join("\n");

describe("plan mode", () => {
  it("[GOAL-10] keeps a goal waiting until it is left", async () => {
    const { client, threadId, model } = await stage(say("A plan"), finishGoal, say("Done"));
    await turn(client, threadId, mode("plan"));
    await client.call("thread/goal/set", { threadId, objective: "write the book" });
    const { goal } = await client.call("thread/goal/get", { threadId });
    expect(goal.status).toBe("active");
    expect((await client.call("thread/read", { threadId })).thread.status).toEqual({ type: "idle" });
    expect(client.count("turn/started")).toBe(1);
    await client.call("thread/settings/update", { threadId, collaborationMode: mode("default") });
    await client.until(() => client.count("turn/completed") === 2, "the goal's turn");
    expect(model.asked).toHaveLength(3);
  });

  it("[MODE-1] is listed, set by a turn and by the settings, notified, and stored", async () => {
    const { home, model, client, threadId, kill } = await stage(say("Hm"));
    expect((await client.call("collaborationMode/list", {})).data).toEqual([
      { name: "Plan", mode: "plan", model: null, reasoning_effort: "medium" },
      { name: "Default", mode: "default", model: null, reasoning_effort: null },
    ]);
    const before = await client.call("thread/resume", { threadId });
    expect(before.collaborationMode).toEqual({
      mode: "default",
      settings: { model: "mock-model", reasoning_effort: null, developer_instructions: null },
    });
    await turn(client, threadId, mode("plan", { reasoning_effort: "high", model: "planner" }));
    const told = () => client.told("thread/settings/updated").at(-1)!.params.threadSettings;
    expect(told()).toMatchObject({
      model: "planner",
      effort: "high",
      collaborationMode: {
        mode: "plan",
        settings: { model: "planner", developer_instructions: expect.stringMatching(/^# Plan mode/) },
      },
    });
    expect(model.asked[0]!.body).toMatchObject({ model: "planner", reasoning: { effort: "high" } });
    expect(developer(model, 0)).toContain("You are in Plan mode");
    await turn(client, threadId);
    expect(developer(model, 1)).toContain("You are in Plan mode");
    await kill();
    const again = await (await spawnHost({ home, args: SOCKET })).join(undefined, EXPERIMENTAL);
    const resumed = await again.call("thread/resume", { threadId });
    expect(resumed.collaborationMode).toMatchObject({ mode: "plan" });
    await again.call("thread/settings/update", {
      threadId,
      model: "other",
      collaborationMode: mode("default", { developer_instructions: "MY OWN" }),
    });
    await turn(again, threadId);
    expect(developer(model, -1)).toContain("MY OWN");
    expect(developer(model, -1)).not.toContain("Plan mode");
    expect(model.asked.at(-1)!.body.model).toBe("mock-model");
  });

  it("[MODE-4] prepares an approved plan, which the model reads before the turn that carries it out", async () => {
    const { model, client, threadId } = await stage(say("Done"));
    const prepare = (params: object) => ({ threadId, markdown: "# Plan\n1. Build it", ...params });
    const refused = async (params: object) =>
      (await client.refusal("thread/prepareApprovedPlan", prepare(params))).data.code;
    expect(await refused({ markdown: " \n" })).toBe("planEmpty");
    expect(await refused({ attachmentPath: "plan.md" })).toBe("planPathRelative");
    expect(await refused({ threadId: "01a1e906-79f3-73a1-aa1e-a7bc2f9ca015" })).toBe("threadNotFound");
    const params = prepare({ attachmentPath: "/tmp/plan.md" });
    const { prompt } = await client.call("thread/prepareApprovedPlan", params);
    expect(prompt).toBe("Implement the plan.");
    await client.turn(threadId, prompt);
    expect(developer(model, 0)).toContain("<approved_plan>\n# Plan\n1. Build it\n</approved_plan>");
    const texts = model.asked[0]!.body.input.map((item: object) => JSON.stringify(item));
    const at = (text: string) => texts.findIndex((one: string) => one.includes(text));
    expect(at("<approved_plan>")).toBeLessThan(at(prompt));
  });

  it("[MODE-2] separates the proposed plan from the model's answer while it streams", async () => {
    const { model, client, threadId } = await stage(say(PLAN), say("Yes"));
    const from = client.frames.length;
    const turnId = await turn(client, threadId, mode("plan"));
    const frames = client.frames.slice(from);
    const words = story(frames).filter((word, at, all) => word !== "item/plan/delta" || all[at - 1] !== word);
    expect(words.slice(words.indexOf("item/completed userMessage") + 1)).toEqual([
      "item/started agentMessage",
      "item/agentMessage/delta",
      "item/started plan",
      "item/plan/delta",
      "item/agentMessage/delta",
      "item/completed plan",
      "item/completed agentMessage",
      "thread/tokenUsage/updated",
      "thread/readState/changed",
      "thread/status/changed idle",
      "turn/completed",
    ]);
    const plan = frames.find(
      ({ method, params }) => method === "item/completed" && params.item.type === "plan",
    );
    expect(plan!.params.item).toMatchObject({
      id: `${turnId}-plan`,
      text: "# Final plan\n- first\n- second\n",
    });
    expect(planDeltas(frames)).toBe("# Final plan\n- first\n- second\n");
    const said = frames.find(
      ({ method, params }) => method === "item/completed" && params.item.type === "agentMessage",
    )!.params.item;
    expect(said.text).toBe("Preface\nPostscript");
    expect(deltas(frames, said.id)).toBe("Preface\nPostscript");
    // The model is given back what it said.
    await turn(client, threadId);
    const answers = model.asked[1]!.body.input.filter(({ role }: { role: string }) => role === "assistant");
    expect(answers.map(({ content }: { content: { text: string }[] }) => content[0]!.text)).toEqual([PLAN]);
  });

  it("[MODE-2] shows an answer that is only a plan as a plan, and one without a plan as usual", async () => {
    const only = "<proposed_plan>\n# Only\n</proposed_plan>";
    const { model, client, threadId } = await stage(say(only), say("Done"), say(PLAN));
    const first = await turn(client, threadId, mode("plan"));
    const items = client.told("item/completed").map(({ params }) => params.item);
    expect(items.map(({ type }) => type)).toEqual(["userMessage", "plan"]);
    await turn(client, threadId);
    expect(JSON.stringify(model.asked[1]!.body.input)).toContain(JSON.stringify(only).slice(1, -1));
    expect(
      client
        .told("item/completed")
        .map(({ params }) => params.item.type)
        .slice(2),
    ).toEqual(["userMessage", "agentMessage"]);
    // In the usual mode a plan is a text as any other.
    const from = client.frames.length;
    await turn(client, threadId, mode("default"));
    const last = client.frames.slice(from).filter(({ params }) => params?.item?.type === "agentMessage");
    expect(last.at(-1)!.params.item.text).toBe(PLAN);
    const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(thread.turns[0].items.at(-1)).toMatchObject({
      type: "plan",
      id: `${first}-plan`,
      text: "# Only\n",
    });
  });

  it("[MODE-3] has no update_plan, and asks the user as usual", async () => {
    const todo = responses.call("update_plan", '{"plan":[{"step":"a","status":"pending"}]}', "call_1");
    const question = {
      questions: [{ id: "q", header: "H", question: "Q?", options: [{ label: "A", description: "d" }] }],
    };
    const ask = responses.call("request_user_input", JSON.stringify(question), "call_2");
    const { model, client, threadId } = await stage(stream(responses.stream(todo, ask)), say("ok"));
    const { turn } = await client.call("turn/start", {
      threadId,
      input: [{ type: "text", text: "go" }],
      collaborationMode: mode("plan"),
    });
    const { id, params } = await client.waitFor(
      ({ method }) => method === "item/tool/requestUserInput",
      "a question",
    );
    expect(params.isBlocking).toBe(true);
    client.send({ id, result: { answers: { q: { answers: ["A"] } } } });
    await client.turnCompleted(turn.id);
    expect(model.asked[0]!.body.tools.map(({ name }: { name: string }) => name)).not.toContain("update_plan");
    const outputs = model.asked[1]!.body.input.filter(
      ({ type }: { type: string }) => type === "function_call_output",
    );
    expect(outputs[0].output).toContain("cannot be used in Plan mode");
    expect(client.told("turn/plan/updated")).toEqual([]);
  });
});
