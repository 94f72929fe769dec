import { describe, expect, it } from "vitest";
import { nodePlatform } from "../platform/node.ts";
import type { ContextItem, ModelEvent, ModelRequest, ToolSpec } from "./model.ts";
import { offlineProvider } from "./offline.ts";

const fn = (name: string, parameters: object = {}, namespace: string | null = null): ToolSpec => ({
  kind: "function",
  name,
  namespace,
  description: "",
  parameters: { type: "object", ...parameters },
  strict: false,
});
const EXEC = fn("exec_command", { required: ["cmd"], properties: { cmd: { type: "string" } } });
const PATCH = fn("apply_patch");
const FREEFORM: ToolSpec = { kind: "custom", name: "apply_patch", description: "", format: null };
const ROLL = fn("roll_dice", { required: ["sides"], properties: { sides: { type: "integer" } } });

const user = (text: string): ContextItem => ({
  type: "message",
  role: "user",
  parts: [{ type: "text", text }],
});
const assistant = (text: string): ContextItem => ({ ...user(text), role: "assistant" }) as ContextItem;

async function events(context: readonly ContextItem[], tools: readonly ToolSpec[]): Promise<ModelEvent[]> {
  const provider = offlineProvider(nodePlatform());
  const told: ModelEvent[] = [];
  const request = { context, tools } as unknown as ModelRequest;
  for await (const some of provider.stream(request, new AbortController().signal)) told.push(...some);
  expect(told.at(-1)?.type).toBe("done");
  return told;
}

/** The tool call that the model makes for a message. */
const callOf = (said: string, ...tools: readonly ToolSpec[]) => callIn([user(said)], ...tools);

async function callIn(context: readonly ContextItem[], ...tools: readonly ToolSpec[]) {
  const [first, ...rest] = await events(context, tools);
  expect(rest).toHaveLength(1);
  if (first?.type !== "toolCall") throw new Error(`no call: ${JSON.stringify(first)}`);
  const { name, namespace, kind, arguments: text } = first.call;
  expect(first.call.callId).toMatch(/^call_[\w-]{36}$/);
  return { name, namespace, kind, args: kind === "custom" ? text : JSON.parse(text) };
}

/** The model's text for a message. Checks that the deltas add up to it. */
async function answerTo(context: readonly ContextItem[], ...tools: readonly ToolSpec[]): Promise<string> {
  const told = await events(context, tools);
  expect(told.some(({ type }) => type === "toolCall")).toBe(false);
  const done = told.find((event) => event.type === "messageDone");
  const deltas = told.flatMap((event) => (event.type === "messageDelta" ? [event.text] : []));
  expect(deltas.join("")).toBe(done?.text);
  return done!.text;
}

const lines = (...all: readonly string[]) => all.join("\n");

describe("the offline model", () => {
  it("[OFFLINE-1] runs a command, of one line or of many", async () => {
    const call = { name: "exec_command", namespace: null, kind: "function" };
    expect(await callOf("run: ls -l", EXEC)).toEqual({ ...call, args: { cmd: "ls -l" } });
    expect(await callOf("Run:\n  cd x\n  ls\n", EXEC)).toEqual({ ...call, args: { cmd: "cd x\n  ls" } });
  });

  it("[OFFLINE-1] writes a file as a patch, and applies a patch with or without its first and last line", async () => {
    const patch = (...inner: readonly string[]) => ({
      input: lines("*** Begin Patch", ...inner, "*** End Patch"),
    });
    const file = await callOf("write a b.txt: one\n\ntwo\n", PATCH);
    expect(file.args).toEqual(patch("*** Add File: a b.txt", "+one", "+", "+two"));
    expect((await callOf("write a.txt:\none", PATCH)).args).toEqual(patch("*** Add File: a.txt", "+one"));
    const inner = ["*** Update File: a", "@@", "-x", "+y"];
    expect((await callOf(lines("patch:", ...inner), PATCH)).args).toEqual(patch(...inner));
    const whole = patch(...inner).input;
    expect((await callOf(`patch: ${whole}`, PATCH)).args).toEqual({ input: whole });
    expect(await callOf(`patch: ${whole}`, FREEFORM)).toMatchObject({ kind: "custom", args: whole });
  });

  it("[OFFLINE-1] calls any tool by its name, with JSON", async () => {
    expect(await callOf('call roll_dice {"sides": 6}', ROLL)).toMatchObject({
      name: "roll_dice",
      args: { sides: 6 },
    });
    expect(await callOf("call roll_dice", ROLL)).toMatchObject({ args: {} });
    for (const name of ["desk.look", "desk__look", "look"])
      expect(await callOf(`call ${name} {}`, fn("look", {}, "desk"))).toMatchObject({
        name: "look",
        namespace: "desk",
      });
  });

  it("[OFFLINE-1] asks the user, with yes and no if there are no options", async () => {
    const { name, args } = await callOf("ask: Tea or coffee? | Tea | Coffee", fn("request_user_input"));
    expect(name).toBe("request_user_input");
    expect(args.questions).toMatchObject([
      { question: "Tea or coffee?", options: [{ label: "Tea" }, { label: "Coffee" }] },
    ]);
    const plain = await callOf("ask: Sure?", fn("request_user_input"));
    expect(plain.args.questions[0].options).toMatchObject([{ label: "Yes" }, { label: "No" }]);
  });

  it("[OFFLINE-1] starts a helper where there is a tool for that, and says so where there is none", async () => {
    const spawn = fn("spawn_agent", {}, "multi_agent_v1");
    expect(await callOf("help: Count.", spawn)).toMatchObject({
      name: "spawn_agent",
      namespace: "multi_agent_v1",
      args: { message: "Count." },
    });
    expect(await answerTo([user("help: Count.")], ROLL)).toBe(
      lines(
        "I cannot start helpers: this thread has no tool `spawn_agent`.",
        "",
        "The tools of this thread:",
        '- `call roll_dice {"sides": 1}`',
      ),
    );
  });

  it("[OFFLINE-1] waits for the helper that it has started, and repeats what that says", async () => {
    const spawn = fn("spawn_agent", {}, "multi_agent_v1");
    const wait = fn("wait_agent", {}, "multi_agent_v1");
    const calls = (name: string, callId: string, output: string, success = true): ContextItem[] => [
      { type: "toolCall", callId, name, namespace: "multi_agent_v1", arguments: "{}", kind: "function" },
      { type: "toolOutput", callId, kind: "function", output, success },
    ];
    const started = [user("help: Count."), ...calls("spawn_agent", "a", '{"agent_id":"x","nickname":"Y"}')];
    expect(await callIn(started, spawn, wait)).toMatchObject({
      name: "wait_agent",
      namespace: "multi_agent_v1",
      args: { targets: ["x"], timeout_ms: 600_000 },
    });
    const ended = (state: unknown) => [
      ...started,
      ...calls("wait_agent", "b", JSON.stringify({ status: { x: state }, timed_out: false })),
    ];
    expect(await answerTo(ended({ completed: "Three." }), spawn, wait)).toBe("The helper says:\n\nThree.");
    expect(await answerTo(ended("shutdown"), spawn, wait)).toContain('{"x":"shutdown"}');
    const refused = [user("help: Count."), ...calls("spawn_agent", "a", "The limit is reached.", false)];
    expect(await answerTo(refused, spawn, wait)).toContain("`spawn_agent` failed:");
    expect(await answerTo(started, spawn)).toContain("`spawn_agent` gave this:");
  });

  it("explains what it can do when it cannot do something", async () => {
    expect(await answerTo([user("run: ls")])).toBe(
      "I cannot run commands: this thread has no tool `exec_command`.\n\nThis thread has no tools.",
    );
    expect(await answerTo([user("call roll {}")], ROLL)).toMatch(/^There is no tool `roll`\.\n\nThe tools/);
    expect(await answerTo([user("call roll_dice {sides: 6}")], ROLL)).toMatch(
      /^What stands behind `roll_dice` is not valid JSON: .*\n\nIt looks like this: `call roll_dice {"sides": 1}`$/,
    );
    for (const said of ["run:", "ask: ", "help:"])
      expect(await answerTo([user(said)], EXEC)).toContain("behind the colon");
    expect(await answerTo([user("tools")], EXEC, ROLL)).toContain('`call exec_command {"cmd": "…"}`');
  });

  it("[OFFLINE-2] reports what a tool gave, once", async () => {
    const call = {
      callId: "c",
      name: "exec_command",
      namespace: null,
      arguments: "{}",
      kind: "function",
    } as const;
    const output = { callId: "c", kind: "function", success: true } as const;
    const asked: ContextItem[] = [user("run: ls"), { type: "toolCall", ...call }];
    const given = (text: string, success = true): ContextItem[] => [
      ...asked,
      { type: "toolOutput", ...output, output: text, success },
    ];
    expect(await answerTo(given("a\nb\n"), EXEC)).toBe("`exec_command` gave this:\n\n```\na\nb\n```");
    expect(await answerTo(given("no", false), EXEC)).toBe("`exec_command` failed:\n\n```\nno\n```");
    expect(await answerTo(given("", true), EXEC)).toBe("`exec_command` succeeded and says nothing.");
    expect(await answerTo(given("```x```"), EXEC)).toContain("````\n```x```\n````");
    const long = await answerTo(given("x\n".repeat(10_000)), EXEC);
    expect(long.length).toBeLessThan(9_000);
    expect(long).toContain("more characters)");
    // Neither a developer message nor a continued turn repeats the command.
    const later = [
      ...given("a"),
      assistant("gave a"),
      { ...user("go on"), role: "developer" } as ContextItem,
    ];
    expect(await answerTo(later, EXEC)).toContain("You said: run: ls");
  });

  it("greets with the words that work in the thread", async () => {
    const greeting = await answerTo([user("Hello!")], EXEC, PATCH);
    expect(greeting).toContain(
      "You said: Hello!\n\nIt uses tools when you ask in these words:\n- `run: ls -l`",
    );
    expect(greeting).toContain("`call NAME");
    expect(greeting).not.toContain("`help:");
    expect(await answerTo([user("Hello!")])).not.toContain("tools");
  });

  it("does what its greeting says", async () => {
    const tools = [EXEC, PATCH, fn("request_user_input"), fn("spawn_agent")];
    const words = [...(await answerTo([user("Hello!")], ...tools)).matchAll(/^- `([^`]+)`/gm)].map(
      ([, say]) => say!,
    );
    expect(words).toHaveLength(7);
    for (const say of words.slice(0, 5)) await callOf(say, ...tools);
  });
});
