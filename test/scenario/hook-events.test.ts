// Hooks of all events but those of prompts, calls and ends, on the real program.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { COMMAND_QUESTION } from "../support/command-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { plays } from "../support/helper-stage.ts";
import { hook, messages, on, read, saying, shown, stage } from "../support/hook-stage.ts";
import { silent } from "../support/mock-model.ts";
import { outputOf, run, say } from "../support/model-replies.ts";
import { runBobbin } from "../support/run-bobbin.ts";

/** A busy machine takes more than the second that these hooks have otherwise. */
const LONGEST = { timeout: 3 };

const lines = (path: string) =>
  readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("hooks of a thread", () => {
  it("[HOOK-12] [HOOK-16] run at its start, its resume and its end", async () => {
    const hooks = {
      ...on("SessionStart", "cat >> starts; echo Mind the tests."),
      ...on("SessionEnd", "cat > end.json", LONGEST),
    };
    const { client, threadId, model, cwd } = await stage(hooks, [say("Yes.")]);
    await client.turn(threadId, "One.");
    await client.turn(threadId, "Two.");
    await client.call("thread/unload", { threadId });
    expect(read(cwd, "end.json")).toEqual({
      session_id: threadId,
      transcript_path: null,
      cwd,
      hook_event_name: "SessionEnd",
      reason: "other",
    });
    await client.call("thread/resume", { threadId });
    await client.turn(threadId, "Three.");
    expect(lines(join(cwd, "starts")).map(({ source }) => source)).toEqual(["startup", "resume"]);
    expect(messages(model, 0, "developer")).toContain("Mind the tests.");
    expect(shown(client).filter((line) => line.startsWith("completed"))).toEqual([
      "completed sessionStart completed",
      "completed sessionEnd completed",
      "completed sessionStart completed",
    ]);
  });

  it("[HOOK-16] run at its end when its host ends", async () => {
    const home = await freshFolder("home");
    const end = join(await freshFolder("end"), "end.json");
    const hooks = on("SessionEnd", `cat > '${end}'`, LONGEST);
    writeFileSync(join(home, "hooks.json"), JSON.stringify({ hooks }));
    writeFileSync(join(home, "config.toml"), 'sandbox_mode = "danger-full-access"\n');
    const { code } = await runBobbin(["exec", "hello"], { env: { BOBBIN_HOME: home } });
    expect(code).toBe(0);
    expect(JSON.parse(readFileSync(end, "utf8"))).toMatchObject({ hook_event_name: "SessionEnd" });
  });

  it("[HOOK-12] end its turn before the model is called", async () => {
    const hooks = on("SessionStart", saying({ continue: false, stopReason: "Not now." }));
    const { client, threadId, model } = await stage(hooks, [say("Yes.")]);
    await client.turn(threadId, "One.");
    expect(model.asked).toEqual([]);
    expect(shown(client)).toEqual(["started sessionStart running", "completed sessionStart stopped"]);
  });

  it("[HOOK-16] run at an interrupt", async () => {
    const { client, threadId, cwd } = await stage(on("Interrupt", "cat > interrupt.json", LONGEST), [
      silent(""),
    ]);
    const turnId = await client.say(threadId, "Wait.");
    await client.call("turn/interrupt", { threadId, turnId });
    await client.waitFor(({ method }) => method === "hook/completed", "hook/completed");
    expect(read(cwd, "interrupt.json")).toMatchObject({ hook_event_name: "Interrupt", turn_id: turnId });
  });
});

describe("a PermissionRequest hook", () => {
  const decision = (behavior: string, message?: string) =>
    saying({ hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior, message } } });

  /** Without a sandbox, and asked about what is not known to be harmless. */
  const ASKS = { approvalPolicy: "untrusted" };

  it("[HOOK-13] allows in place of the user", async () => {
    const hooks = on("PermissionRequest", `cat > asked.json; ${decision("allow")}`);
    const { client, threadId, cwd } = await stage(hooks, [run({ cmd: "touch made" }), say("Well.")], ASKS);
    await client.turn(threadId, "Make it.");
    expect(existsSync(join(cwd, "made"))).toBe(true);
    expect(client.told(COMMAND_QUESTION)).toEqual([]);
    expect(read(cwd, "asked.json")).toMatchObject({
      hook_event_name: "PermissionRequest",
      tool_name: "Bash",
      tool_input: { command: "touch made" },
    });
  });

  it("[HOOK-13] denies with a reason for the model; one that decides nothing leaves the decision to the user", async () => {
    const hooks = {
      PermissionRequest: [
        { hooks: [hook(`grep -q denied && ${decision("deny", "Never that.")}; exit 0`)] },
        { hooks: [hook("exit 0")] },
      ],
    };
    const replies = [run({ cmd: "touch denied" }), run({ cmd: "touch asked" }, "call_2"), say("Well.")];
    const { client, threadId, model, cwd } = await stage(hooks, replies, ASKS);
    const turnId = await client.say(threadId, "Make it.");
    const question = await client.waitFor(({ method }) => method === COMMAND_QUESTION, "a question");
    expect(question.params.itemId).toBe("call_2");
    client.send({ id: question.id, result: { decision: "accept" } });
    await client.waitFor(
      ({ method, params }) => method === "turn/completed" && params.turn.id === turnId,
      "end",
    );
    expect(outputOf(model, 1)).toContain("Never that.");
    expect(["denied", "asked"].map((name) => existsSync(join(cwd, name)))).toEqual([false, true]);
    const items = client.told("item/completed").map(({ params }) => params.item);
    expect(items.find(({ id }) => id === "call_1").status).toBe("declined");
  });
});

describe("hooks of a compaction", () => {
  it("[HOOK-14] [HOOK-12] run before and after it, and the thread starts anew", async () => {
    const hooks = {
      ...on("PreCompact", "cat > pre.json"),
      ...on("PostCompact", "cat > post.json"),
      ...on("SessionStart", "cat >> starts"),
    };
    const { client, threadId, cwd } = await stage(hooks, [say("Yes."), say("A summary."), say("Well.")]);
    await client.turn(threadId, "One.");
    const from = client.frames.length;
    await client.call("thread/compact/start", { threadId });
    await client.waitFor(({ method }) => method === "turn/completed", "the end", from);
    expect(read(cwd, "pre.json")).toMatchObject({ hook_event_name: "PreCompact", trigger: "manual" });
    expect(read(cwd, "post.json")).toMatchObject({ hook_event_name: "PostCompact", trigger: "manual" });
    const order = client.frames.slice(from).flatMap(({ method, params }) => {
      if (method === "item/completed") return [params.item.type];
      return method === "hook/completed" ? [params.run.eventName] : [];
    });
    expect(order).toEqual(["preCompact", "contextCompaction", "postCompact"]);
    await client.turn(threadId, "Two.");
    expect(lines(join(cwd, "starts")).map(({ source }) => source)).toEqual(["startup", "compact"]);
  });

  it("[HOOK-14] can prevent it", async () => {
    const hooks = on("PreCompact", saying({ continue: false, stopReason: "Keep all." }));
    const { client, threadId, model } = await stage(hooks, [say("Yes.")]);
    await client.turn(threadId, "One.");
    const from = client.frames.length;
    await client.call("thread/compact/start", { threadId });
    const { params } = await client.waitFor(({ method }) => method === "turn/completed", "the end", from);
    expect(params.turn.status).toBe("interrupted");
    expect(model.asked).toHaveLength(1);
  });
});

describe("hooks of a helper", () => {
  it("[HOOK-15] are its own: SubagentStart and SubagentStop, while only its parent has a session", async () => {
    const hooks = {
      ...on("SubagentStart", "cat >> helper; echo Be brief."),
      ...on("SubagentStop", "cat >> helper"),
      ...on("SessionStart", "cat >> parent"),
      ...on("Stop", "cat >> parent"),
    };
    const parts = {
      parent: [
        { calls: [["spawn_agent", { message: "play helper" }]] as const },
        ({ outputs }: { readonly outputs: readonly string[] }) => ({
          calls: [["wait_agent", { targets: [JSON.parse(outputs[0]!).agent_id] }]] as const,
        }),
        { say: "Both." },
      ],
      helper: [{ say: "Mine." }],
    };
    const { client, threadId, model, cwd } = await stage(hooks, [plays(parts)]);
    await client.turn(threadId, "play parent");
    expect(lines(join(cwd, "parent")).map(({ hook_event_name }) => hook_event_name)).toEqual([
      "SessionStart",
      "Stop",
    ]);
    const [start, stop] = lines(join(cwd, "helper"));
    expect(start).toMatchObject({
      hook_event_name: "SubagentStart",
      session_id: threadId,
      agent_type: "default",
    });
    expect(stop).toMatchObject({ hook_event_name: "SubagentStop", last_assistant_message: "Mine." });
    expect(stop.agent_id).toBe(start.agent_id);
    expect(JSON.stringify(model.asked.map(({ body }) => body.input))).toContain("Be brief.");
  });
});

describe("a hook with async", () => {
  it("[HOOK-17] delays nothing, decides nothing, and adds its context to the next turn", async () => {
    const gate = await freshFolder("gate");
    const out = saying({
      decision: "block",
      reason: "No.",
      hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "Heard later." },
    });
    const wait = `while [ ! -e ${gate}/open ]; do sleep 0.02; done; ${out}; touch ${gate}/said`;
    const hooks = on("UserPromptSubmit", wait, { async: true });
    const { client, threadId, model, home } = await stage(hooks, [say("Yes.")]);
    await client.turn(threadId, "One.");
    expect(shown(client)).toEqual([]);
    writeFileSync(join(home, "hooks.json"), "{}");
    writeFileSync(join(gate, "open"), "");
    await eventually(() => existsSync(join(gate, "said")), "the hook has spoken");
    await eventually(async () => {
      await client.turn(threadId, "More.");
      return JSON.stringify(model.asked.at(-1)!.body.input).includes("Heard later.");
    }, "the model is shown what it said");
  });
});
