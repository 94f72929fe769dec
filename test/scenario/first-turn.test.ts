import { beforeAll, describe, expect, it } from "vitest";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const MAX_CHARACTERS = 1_048_576;

let host: HostProcess;
let client: WireClient;
beforeAll(async () => {
  ({ host, client } = await stdioHost());
});

/** What came for a turn, from the reply on, as short words: deltas in a row count as one. */
function story(frames: readonly Received[]): string[] {
  const words = frames.map(({ method, params, id }) => {
    if (method === undefined) return `reply ${id}`;
    if (method === "thread/status/changed") return `${method} ${params.status.type}`;
    if (method.startsWith("item/") && params.item) return `${method} ${params.item.type}`;
    return method;
  });
  return words.filter((word, at) => word !== "item/agentMessage/delta" || words[at - 1] !== word);
}

const text = (words: string): object => ({ type: "text", text: words });
/** What the deltas of an item make up. */
function deltas(frames: readonly Received[], itemId: string): string {
  return frames
    .filter(({ method, params }) => method === "item/agentMessage/delta" && params.itemId === itemId)
    .map(({ params }) => params.delta)
    .join("");
}

/** A thread whose turn is in the middle of an answer. */
async function speaking(
  words = "Speak slowly, please",
): Promise<{ threadId: string; turnId: string; from: number }> {
  const threadId = await client.startThread();
  const from = client.frames.length;
  const turnId = await client.say(threadId, words);
  await client.waitFor(
    ({ method, params }) => method === "item/agentMessage/delta" && params.turnId === turnId,
    "first delta",
    from,
  );
  return { threadId, turnId, from };
}

describe("a first turn", () => {
  it("[TURN-1] follows thread/start, which is replied to before its notifications", async () => {
    const from = client.frames.length;
    const { result } = await client.request("thread/start", { cwd: "/tmp", ephemeral: true }, "start");
    await client.waitFor(({ method }) => method === "thread/started", "thread/started", from);
    const [reply, started] = client.frames.slice(from);
    expect(reply!.id).toBe("start");
    expect(started!.params).toEqual({ thread: result.thread });
    expect(result).toMatchObject({ model: "offline", modelProvider: "offline", cwd: "/tmp" });
    expect(result.thread).toMatchObject({
      id: expect.stringMatching(UUID),
      preview: "",
      ephemeral: true,
      status: { type: "idle" },
      turns: [],
      cwd: "/tmp",
    });
    expect((await client.call("thread/loaded/list")).data).toContain(result.thread.id);
  });

  it("[TURN-2] [TURN-3] sends its notifications in order, and its deltas add up to its text", async () => {
    const threadId = await client.startThread();
    await client.waitFor(
      ({ method, params }) => method === "thread/started" && params.thread.id === threadId,
      "start",
    );
    const from = client.frames.length;
    const params = { threadId, input: [text("Hello, who are you?")], clientUserMessageId: "mine-1" };
    const { result } = await client.request("turn/start", params, "go");
    const completed = await client.turnCompleted(result.turn.id);
    const frames = client.frames.slice(from);
    expect(story(frames)).toEqual([
      "reply go",
      "thread/status/changed active",
      "turn/started",
      "item/started userMessage",
      "item/completed userMessage",
      "item/started agentMessage",
      "item/agentMessage/delta",
      "item/completed agentMessage",
      "thread/tokenUsage/updated",
      "thread/status/changed idle",
      "turn/completed",
    ]);
    expect(result.turn).toEqual({
      id: expect.stringMatching(UUID),
      rootTurnId: result.turn.id,
      items: [],
      itemsView: "notLoaded",
      status: "inProgress",
      error: null,
      startedAt: null,
      completedAt: null,
      durationMs: null,
    });
    const [, status, started, userStarted, userCompleted, agentStarted] = frames;
    expect(status!.params).toEqual({ threadId, status: { type: "active", activeFlags: [] } });
    expect(started!.params.turn).toEqual({ ...result.turn, startedAt: expect.any(Number) });
    const user = {
      type: "userMessage",
      clientId: "mine-1",
      content: [{ ...params.input[0], text_elements: [] }],
    };
    expect(userStarted!.params.item).toMatchObject({ ...user, completedAtMs: null });
    expect(userCompleted!.params.item).toMatchObject({ ...user, completedAtMs: expect.any(Number) });
    expect(agentStarted!.params.item).toMatchObject({ text: "", completedAtMs: null });
    const answer = frames.find(
      ({ method, params }) => method === "item/completed" && params.item.type === "agentMessage",
    )!.params.item;
    expect(deltas(frames, answer.id)).toBe(answer.text);
    expect(completed.params.turn).toEqual({
      ...started!.params.turn,
      items: [answer],
      itemsView: "summary",
      status: "completed",
      completedAt: expect.any(Number),
      durationMs: expect.any(Number),
    });
    for (const { method, text } of frames) {
      if (method !== undefined) expect(text).toMatch(/"emittedAtMs":\d{13}\}$/);
    }
  });

  it("[TURN-4] reports its usage, and the thread's total", async () => {
    const threadId = await client.startThread();
    const usages: Record<string, Record<string, number>>[] = [];
    for (const words of ["one", "two and more"]) {
      const turnId = await client.say(threadId, words);
      await client.turnCompleted(turnId);
      const usage = client.told("thread/tokenUsage/updated").find(({ params }) => params.turnId === turnId)!
        .params.tokenUsage;
      expect(usage.last.totalTokens).toBe(usage.last.inputTokens + usage.last.outputTokens);
      usages.push(usage);
    }
    const [first, second] = usages;
    expect(first!.total).toEqual(first!.last);
    for (const key of ["totalTokens", "inputTokens", "outputTokens"]) {
      expect(second!.total![key]).toBe(first!.total![key]! + second!.last![key]!);
    }
  });

  it("[TURN-13] may have no input, or none that is text", async () => {
    const threadId = await client.startThread();
    for (const input of [[], [text("")], [{ type: "image", url: "data:image/png;base64,AAAA" }]]) {
      const from = client.frames.length;
      const { turn } = await client.call("turn/start", { threadId, input });
      const { params } = await client.turnCompleted(turn.id);
      expect(params.turn.status).toBe("completed");
      const users = client.frames.slice(from).filter(({ params }) => params?.item?.type === "userMessage");
      expect(users.length).toBe(input.length === 0 ? 0 : 2);
    }
  });

  it("[MODEL-1] runs on a model that is listed as the offline model", async () => {
    const { data, nextCursor } = await client.call("model/list", {});
    expect(nextCursor).toBeNull();
    const offline = data.find(({ id }: { id: string }) => id === "offline");
    expect(offline).toMatchObject({
      displayName: expect.stringContaining("Offline"),
      hidden: false,
      isDefault: true,
    });
    expect(offline.description).toMatch(/not a language model/i);
  });

  it("[MODEL-2] is answered by the offline model, which says so and echoes the input", async () => {
    const threadId = await client.startThread();
    const said = 'echo this: 🧵 ünïcode \u2028 "quotes" \\ and\nlines';
    const first = await client.turnCompleted(await client.say(threadId, said));
    expect(first.params.turn.items[0].text).toMatch(/offline model/i);
    expect(first.params.turn.items[0].text).toContain(said);
    const second = await client.turnCompleted(await client.say(threadId, "again"));
    expect(second.params.turn.items[0].text).toContain("again");
  });
});

it("[MODEL-11] warns that the offline model answers in place of the model that was asked for", async () => {
  const threadId = await client.startThread({ model: "gpt-5" });
  await client.turn(threadId, "Hello!");
  const warnings = client.told("warning").filter(({ params }) => params.threadId === threadId);
  expect(warnings.map(({ params }) => params.message)).toEqual([
    expect.stringMatching(
      /^The built-in offline model answers in place of `gpt-5`.* Set model_provider in config/,
    ),
  ]);
  const own = await client.startThread();
  await client.turn(own, "Hello!");
  expect(client.told("warning").filter(({ params }) => params.threadId === own)).toEqual([]);
});

describe("an interrupt", () => {
  it("[TURN-5] in mid-stream is replied to, then the turn ends as interrupted, and its text stays", async () => {
    const { threadId, turnId, from } = await speaking();
    const before = client.frames.length;
    const { result } = await client.request("turn/interrupt", { threadId, turnId }, "stop");
    expect(result).toEqual({});
    const completed = await client.turnCompleted(turnId);
    const after = client.frames.slice(before);
    const told = story(after.slice(after.findIndex(({ id }) => id === "stop")));
    // What was interrupted is no completed message.
    expect(told).toEqual(["reply stop", "thread/status/changed idle", "turn/completed"]);
    expect(completed.params.turn).toMatchObject({
      id: turnId,
      status: "interrupted",
      error: null,
      items: [],
      itemsView: "notLoaded",
    });
    const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
    const item = thread.turns.at(-1).items.at(-1);
    expect(item).toMatchObject({ type: "agentMessage", text: expect.stringMatching(/./) });
    expect(deltas(client.frames.slice(from), item.id)).toBe(item.text);
    // Nothing of the turn comes behind its end.
    const next = await client.turnCompleted(await client.say(threadId, "go on"));
    expect(next.params.turn.status).toBe("completed");
    const late = client.frames.slice(client.frames.indexOf(completed) + 1);
    expect(late.filter(({ params }) => (params?.turnId ?? params?.turn?.id) === turnId)).toEqual([]);
  });

  it("[TURN-5] right after turn/start ends the turn as well", async () => {
    const threadId = await client.startThread();
    client.send({ id: "a", method: "turn/start", params: { threadId, input: [text("slowly")] } });
    client.send({ id: "b", method: "turn/interrupt", params: { threadId, turnId: "" } });
    const started = await client.waitFor(({ id }) => id === "a", "reply");
    expect((await client.waitFor(({ id }) => id === "b", "reply")).result).toEqual({});
    const { params } = await client.turnCompleted(started.result.turn.id);
    expect(params.turn.status).toBe("interrupted");
  });

  it("[TURN-6] twice, too late or for another turn gets the replies that clients expect", async () => {
    const idle = await client.startThread();
    const interrupt = (threadId: string, turnId: string): Promise<Received> =>
      client.request("turn/interrupt", { threadId, turnId });
    expect((await interrupt(idle, "zzz")).error).toMatchObject({
      code: -32600,
      message: "no active turn to interrupt",
    });
    expect((await interrupt(idle, "")).result).toEqual({});

    const { threadId, turnId } = await speaking();
    expect((await interrupt(threadId, "wrong")).error).toMatchObject({
      code: -32600,
      message: `expected active turn id wrong but found ${turnId}`,
    });
    const both = await Promise.all([interrupt(threadId, turnId), interrupt(threadId, turnId)]);
    expect(both.map(({ result }) => result)).toEqual([{}, {}]);
    await client.turnCompleted(turnId);
    expect((await interrupt(threadId, turnId)).result).toEqual({});
    expect(client.told("turn/completed").filter(({ params }) => params.turn.id === turnId)).toHaveLength(1);

    const done = await client.say(threadId, "quick");
    await client.turnCompleted(done);
    expect((await interrupt(threadId, done)).error?.message).toBe("no active turn to interrupt");
  });
});

describe("input for a running turn", () => {
  it("[TURN-7] joins it, as turn/start and as turn/steer", async () => {
    const { threadId, turnId, from } = await speaking();
    expect(await client.say(threadId, "More, slowly")).toBe(turnId);
    const steered = await client.call("turn/steer", {
      threadId,
      expectedTurnId: turnId,
      input: [text("and now the end")],
    });
    expect(steered).toEqual({ turnId });
    const { params } = await client.turnCompleted(turnId);
    expect(params.turn).toMatchObject({ status: "completed", itemsView: "summary" });
    expect(params.turn.items[0].text).toContain("and now the end");
    const frames = client.frames.slice(from);
    const count = (wanted: string): number => frames.filter(({ method }) => method === wanted).length;
    expect([count("turn/started"), count("turn/completed")]).toEqual([1, 1]);
    const said = frames.filter(
      ({ method, params }) => method === "item/completed" && params.item.type === "userMessage",
    );
    expect(said.map(({ params }) => params.item.content[0].text)).toEqual([
      "Speak slowly, please",
      "More, slowly",
      "and now the end",
    ]);
    // Only the last answer is a completed message. What the others had said by then stays in the history.
    const answers = frames.filter(
      ({ method, params }) => method === "item/started" && params.item.type === "agentMessage",
    );
    const ends = frames.filter(
      ({ method, params }) => method === "item/completed" && params.item.type === "agentMessage",
    );
    expect(ends.map(({ params }) => params.item.id)).toEqual([answers.at(-1)!.params.item.id]);
    const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
    const kept = thread.turns[0].items.filter(({ type }: { type: string }) => type === "agentMessage");
    expect(kept.map(({ text }: { text: string }) => text)).toEqual(
      answers.map(({ params }) => deltas(frames, params.item.id)),
    );
  });

  it("[TURN-8] is refused when there is no such turn", async () => {
    const threadId = await client.startThread();
    const steer = (expectedTurnId: string, input: object[] = [text("x")]): Promise<Received> =>
      client.request("turn/steer", { threadId, expectedTurnId, input });
    expect((await steer("zzz")).error).toMatchObject({ code: -32600, message: "no active turn to steer" });
    const turnId = await client.say(threadId, "slowly");
    expect((await steer("zzz")).error?.message).toBe(
      `expected active turn id \`zzz\` but found \`${turnId}\``,
    );
    expect((await steer(turnId, [])).error?.message).toBe("input must not be empty");
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    expect((await steer(turnId)).error?.message).toBe("no active turn to steer");
  });
});

describe("refusals of a turn", () => {
  it("[TURN-9] name the length of the input and the limit, in characters", async () => {
    const threadId = await client.startThread();
    const most = "x".repeat(MAX_CHARACTERS - 2);
    for (const input of [[text(`${most}🧵🧵🧵`)], [text(most), text("🧵🧵"), text("y")]]) {
      expect((await client.request("turn/start", { threadId, input })).error).toEqual({
        code: -32602,
        message: "Input exceeds the maximum length of 1048576 characters.",
        data: {
          code: "inputTooLarge",
          retryable: false,
          input_error_code: "input_too_large",
          max_chars: MAX_CHARACTERS,
          actual_chars: MAX_CHARACTERS + 1,
        },
      });
    }
    const { turn } = await client.call("turn/start", { threadId, input: [text(`${most}🧵🧵`)] });
    const { params } = await client.turnCompleted(turn.id);
    expect(params.turn.items[0].text).toContain(`${most}🧵🧵`);
  });

  it("[TURN-12] name the thread that does not exist, or the invalid id", async () => {
    const nobody = "01a1e0d3-0000-7000-8000-000000000000";
    for (const [method, more] of [
      ["turn/start", { input: [text("x")] }],
      ["turn/steer", { input: [text("x")], expectedTurnId: "x" }],
      ["turn/interrupt", { turnId: "x" }],
    ] as const) {
      expect((await client.refusal(method, { threadId: nobody, ...more })).message).toBe(
        `thread not found: ${nobody}`,
      );
      for (const threadId of ["", "x", "../../etc/passwd"]) {
        const { code, message } = await client.refusal(method, { threadId, ...more });
        expect([code, message]).toEqual([-32600, expect.stringMatching(/^invalid thread id: /)]);
      }
    }
    expect((await client.refusal("thread/start", { modelProvider: "no-such" })).message).toContain("no-such");
  });
});

describe("two clients", () => {
  it("[TURN-10] [TURN-11] see each other's threads, follow their own, and leave turns running", async () => {
    const shared = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
    const [one, other] = [await shared.join(), await shared.join()];
    const threadId = await one.startThread();
    const turnId = await one.say(threadId, "slowly");
    await one.waitFor(({ method }) => method === "item/agentMessage/delta", "delta");
    // The other one may say something too: the thread is the host's.
    expect(await other.say(threadId, "quickly now")).toBe(turnId);
    await one.turnCompleted(turnId);
    const idle = ({ method, params }: Received): boolean =>
      method === "thread/status/changed" && params.status.type === "idle";
    await other.waitFor(idle, "idle");
    expect(story(other.frames)).toEqual([
      "reply 1",
      "thread/started",
      "thread/status/changed active",
      "reply 2",
      "thread/status/changed idle",
    ]);

    const from = other.frames.length;
    await one.say(threadId, "a word or two, slowly");
    await one.close();
    await other.waitFor(idle, "idle after its client left", from);
    expect((await other.call("thread/loaded/list")).data).toContain(threadId);
    await other.close();
    await shared.kill();
  });

  it("[TURN-10] run turns of different threads concurrently", async () => {
    const threads = await Promise.all(Array.from({ length: 8 }, () => client.startThread()));
    const turns = await Promise.all(threads.map((threadId, at) => client.say(threadId, `thread ${at}`)));
    const ends = await Promise.all(turns.map((turnId) => client.turnCompleted(turnId)));
    ends.forEach(({ params }, at) => {
      expect(params.threadId).toBe(threads[at]);
      expect(params.turn.items[0].text).toContain(`thread ${at}`);
    });
    expect(host.stderr).toBe("");
  });
});
