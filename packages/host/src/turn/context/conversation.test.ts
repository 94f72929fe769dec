import type { ThreadItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import type { ThreadRecord } from "../../core/records.ts";
import type { Retained } from "../../core/turn/records.ts";
import type { ContextItem } from "../../model/model.ts";
import { MemoryJournal } from "../../store/memory/in-memory-journal.ts";
import { conversation } from "./conversation.ts";
import { ModelHistories } from "./model-history.ts";

const at = 1;
const user = (text: string, turnId = "t1"): ThreadRecord => ({
  type: "itemCompleted",
  turnId,
  at,
  item: { type: "userMessage", id: text, clientId: null, content: [{ type: "text", text }] },
});
const agent = (text: string, cut?: "fault" | "interrupt" | "input", turnId = "t1"): ThreadRecord => ({
  type: "itemCompleted",
  turnId,
  at,
  item: {
    type: "agentMessage",
    id: text,
    text,
    phase: null,
    memoryCitation: null,
    delivery: null,
    questions: null,
  },
  ...(cut && { cut }),
});
const thought = (data: unknown, provider = "p"): ThreadRecord => {
  const item: ThreadItem = { type: "reasoning", id: "r", summary: ["hm"], content: [] };
  return { type: "itemCompleted", turnId: "t1", at, item, carry: { provider, data } };
};
const called = (callId: string, turnId = "t1"): ThreadRecord => ({
  type: "toolCalled",
  turnId,
  at,
  call: { callId, name: "shell", namespace: null, arguments: "{}", kind: "function" },
});
const answered = (callId: string, turnId = "t1"): ThreadRecord => ({
  type: "toolAnswered",
  turnId,
  at,
  callId,
  output: `of ${callId}`,
  success: true,
});
const sampled: ThreadRecord = { type: "sampleRequested", turnId: "t1", attempt: 1 };
const started = (turnId: string): ThreadRecord => ({
  type: "turnStarted",
  turnId,
  at,
  input: [],
  outputSchema: null,
});
const ended = (turnId: string): ThreadRecord => ({
  type: "turnEnded",
  turnId,
  startedAt: at,
  at,
  status: "completed",
  error: null,
  answer: null,
});
const dropped = (keepThrough: string | null): ThreadRecord => ({
  type: "turnsDropped",
  at,
  keepThrough,
  dropped: [],
  by: "rollback",
});
const injected = (...items: object[]): ThreadRecord => ({ type: "itemsInjected", at, items });
const note = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });

const requested = (turnId: string, attempt: number, covers: "past" | "all"): ThreadRecord => ({
  type: "compactionRequested",
  turnId,
  at,
  attempt,
  covers,
  lighter: 0,
  because: null,
});
const compacted = (turnId: string, attempt: number, summary: string, ...kept: Retained[]): ThreadRecord => ({
  type: "compacted",
  turnId,
  at,
  attempt,
  summary,
  kept,
  spent: counts,
  usage: { total: counts, last: counts, modelContextWindow: null },
});
const counts = {
  totalTokens: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};
const keptUser = (text: string, turnId: string): Retained => ({
  kind: "user",
  turnId,
  content: [{ type: "text", text }],
  clientId: null,
});

/** The conversation in a short notation. */
async function told(...records: ThreadRecord[]): Promise<string[]> {
  const items = await conversation(records, "p", async (content) =>
    content.map((part) => ({ type: "text", text: part.type === "text" ? part.text : "" })),
  );
  return items.map((item) => short(item).replace(/The conversation so far.*?\n\n/s, "SUMMARY "));
}

function short(item: ContextItem): string {
  switch (item.type) {
    case "message":
      return `${item.role}: ${item.parts.map((part) => (part.type === "text" ? part.text : part.url)).join()}`;
    case "reasoning":
      return `thought ${item.carry}`;
    case "toolCall":
      return `call ${item.callId}`;
    case "toolOutput":
      return `output ${item.callId}: ${item.success ? item.output : "none"}`;
    case "raw":
      return `raw ${JSON.stringify(item.item)}`;
  }
}

describe("what the model is told of the past", () => {
  it("has an output behind the answer that asked for it, however early it came", async () => {
    expect(
      await told(
        user("go"),
        sampled,
        thought("s"),
        called("a"),
        answered("a"),
        agent("so"),
        called("b"),
        answered("b"),
        sampled,
      ),
    ).toEqual([
      "user: go",
      "thought s",
      "call a",
      "assistant: so",
      "call b",
      "output a: of a",
      "output b: of b",
    ]);
  });

  it("has an output for every call: after an interrupt, a steer or a fault too", async () => {
    expect(
      await told(user("go"), called("a"), called("b"), answered("b"), ended("t1"), user("next")),
    ).toEqual(["user: go", "call a", "call b", "output a: none", "output b: of b", "user: next"]);
    expect(await told(user("go"), called("a"), user("no, wait"))).toEqual([
      "user: go",
      "call a",
      "output a: none",
      "user: no, wait",
    ]);
  });

  it("has no output without a call", async () => {
    expect(await told(user("go"), answered("a"), ended("t1"))).toEqual(["user: go"]);
  });

  it("leaves out thoughts that led to nothing, or are another's", async () => {
    expect(await told(user("go"), thought("s"), sampled, thought("t"), agent("ok"))).toEqual([
      "user: go",
      "thought t",
      "assistant: ok",
    ]);
    expect(await told(user("go"), thought("s", "other"), agent("ok"))).toEqual(["user: go", "assistant: ok"]);
  });

  it("says where an answer broke off", async () => {
    const [, , lost] = await told(user("go"), agent("I was", "fault"), sampled);
    expect(lost).toMatch(/^developer: .*connection/);
    const [, , stopped] = await told(user("go"), agent("I was", "interrupt"), ended("t1"));
    expect(stopped).toMatch(/^developer: .*interrupted/);
    expect(await told(user("go"), agent("I was", "input"), user("more"))).toHaveLength(3);
    expect(await told(user("go"), agent("", "fault"), sampled)).toEqual(["user: go"]);
  });

  it("has a plan where the model proposed it, once", async () => {
    const plan = (more: object): ThreadRecord => ({
      type: "itemCompleted",
      turnId: "t1",
      at,
      item: { type: "plan", id: "p", text: "the plan" },
      ...more,
    });
    const whole = { ...agent("before after"), said: "before PLAN after" };
    expect(await told(user("go"), plan({}), whole)).toEqual(["user: go", "assistant: before PLAN after"]);
    expect(await told(user("go"), plan({ said: "PLAN" }))).toEqual(["user: go", "assistant: PLAN"]);
    const broken = await told(user("go"), agent("before", "interrupt"), plan({ cut: "interrupt" }));
    expect(broken.filter((line) => !line.startsWith("developer"))).toEqual([
      "user: go",
      "assistant: before",
      "assistant: the plan",
    ]);
  });

  it("has what clients put in where they put it", async () => {
    expect(
      await told(
        injected(note("first"), { type: "function_call", call_id: "x", name: "n", arguments: "{}" }),
        user("go"),
        injected({ type: "function_call_output", call_id: "lost", output: "?" }, { type: "odd" }),
      ),
    ).toEqual(["user: first", "call x", "output x: none", "user: go"]);
  });

  it("leaves out what is no item, and keeps kinds for those who know them", async () => {
    const search = { type: "web_search_call", status: "completed", action: { type: "search", query: "q" } };
    expect(
      await told(
        injected({ foo: 1 }, { type: "message", role: "user" }, { type: "compaction" }, 5 as never, search),
        user("go"),
      ),
    ).toEqual([`raw ${JSON.stringify(search)}`, "user: go"]);
  });

  it("has what the model meant its messages to be", async () => {
    const phased = (phase: string) => {
      const record = agent("so") as Extract<ThreadRecord, { type: "itemCompleted" }>;
      return { ...record, item: { ...record.item, phase } } as ThreadRecord;
    };
    const content = [{ type: "output_text", text: "put in" }];
    const items = await conversation(
      [
        phased("commentary"),
        phased("final_answer"),
        agent("none"),
        injected({ type: "message", role: "assistant", phase: "final_answer", content }),
      ],
      "p",
      () => [],
    );
    expect(items.map((item) => (item as { phase?: string }).phase)).toEqual([
      "commentary",
      "final_answer",
      undefined,
      "final_answer",
    ]);
  });

  it("has the output of a call that was put in by another request", async () => {
    expect(
      await told(
        injected({ type: "function_call", call_id: "x", name: "n", arguments: "{}" }),
        injected({ type: "function_call_output", call_id: "x", output: "found" }),
        user("go"),
      ),
    ).toEqual(["call x", "output x: found", "user: go"]);
  });

  it("has what clients put in behind what the model says at once, and its tools' answers", async () => {
    expect(
      await told(
        user("go"),
        sampled,
        thought("x"),
        injected(note("one")),
        agent("hello"),
        called("a"),
        injected(note("two")),
        answered("a"),
        sampled,
        agent("done"),
        ended("t1"),
      ),
    ).toEqual([
      "user: go",
      "thought x",
      "assistant: hello",
      "call a",
      "output a: of a",
      "user: one",
      "user: two",
      "assistant: done",
    ]);
  });
});

describe("the past that counts", () => {
  async function past(...commits: ThreadRecord[][]): Promise<string[]> {
    const journal = new MemoryJournal();
    const modelHistories = new ModelHistories();
    const late = new ModelHistories();
    for (const [index, records] of commits.entries()) {
      const commit = { seq: index + 1, epoch: 1, prev: index, records };
      await journal.append(commit);
      modelHistories.add(journal, commit);
      // A history that was extended by `add` equals one read from the journal, even if commits were not added.
      const read = await new ModelHistories().read(journal, commit.seq);
      expect(await modelHistories.read(journal, commit.seq)).toEqual(read);
      expect(await late.read(journal, commit.seq)).toEqual(read);
      if (index % 2 === 0) late.add(journal, commit);
    }
    return told(...(await modelHistories.read(journal, commits.length)));
  }
  const turn = (id: string): ThreadRecord[] => [
    started(id),
    user(`in ${id}`, id),
    agent(`out ${id}`, undefined, id),
    ended(id),
  ];

  it("does not have turns that were dropped, nor what was put in after them", async () => {
    expect(
      await past(
        turn("a"),
        turn("b"),
        [injected(note("late"))],
        [dropped("a")],
        [injected(note("new"))],
        turn("c"),
      ),
    ).toEqual(["user: in a", "assistant: out a", "user: new", "user: in c", "assistant: out c"]);
  });

  it("begins at the last compaction, with what came while it was made behind it", async () => {
    expect(
      await past(
        turn("a"),
        [injected(note("put in"))],
        [started("b"), user("in b", "b")],
        [requested("b", 2, "past")],
        [user("meanwhile", "b"), injected(note("put in, too"))],
        [compacted("b", 2, "what a was", keptUser("in a", "a"))],
        [agent("out b", undefined, "b"), ended("b")],
      ),
    ).toEqual([
      "user: in a",
      "user: SUMMARY what a was",
      "user: in b",
      "user: meanwhile",
      "user: put in, too",
      "assistant: out b",
    ]);
  });

  it("begins at the last compaction, which may be in the middle of a turn", async () => {
    expect(
      await past(
        turn("a"),
        [started("b"), user("in b", "b"), called("x", "b"), answered("x", "b")],
        [requested("b", 2, "all")],
        [requested("b", 3, "all"), user("meanwhile", "b")],
        [compacted("b", 3, "all of it", keptUser("in b", "b"))],
      ),
    ).toEqual(["user: in b", "user: SUMMARY all of it", "user: meanwhile"]);
  });

  it("is whole again when the turn with the compaction was dropped", async () => {
    const b = [started("b"), requested("b", 1, "all"), compacted("b", 1, "gone"), ended("b")];
    expect(await past(turn("a"), b, turn("c"), [dropped("a")], turn("d"))).toEqual([
      "user: in a",
      "assistant: out a",
      "user: in d",
      "assistant: out d",
    ]);
    expect(await past(turn("a"), b, turn("c"), [dropped("b")])).toEqual(["user: SUMMARY gone"]);
  });

  it("is read once, and then grows with its thread", async () => {
    const journal = new MemoryJournal();
    const modelHistories = new ModelHistories();
    await journal.append({ seq: 1, epoch: 1, prev: 0, records: turn("a") });
    await modelHistories.read(journal, 1);
    journal.backwards = () => {
      throw new Error("it is read again");
    };
    const records = turn("b");
    modelHistories.add(journal, { seq: 2, epoch: 1, prev: 1, records });
    expect(await told(...(await modelHistories.read(journal, 2)))).toHaveLength(4);
    // A gap between the commits that were added makes the cached history invalid.
    modelHistories.add(journal, { seq: 4, epoch: 1, prev: 3, records });
    await expect(modelHistories.read(journal, 4)).rejects.toThrow("read again");
  });

  it("has what was put in before the first turn, also when all turns were dropped", async () => {
    expect(
      await past([injected(note("early"))], turn("a"), [injected(note("late"))], [dropped(null)], turn("b")),
    ).toEqual(["user: early", "user: in b", "assistant: out b"]);
  });
});
