// Hooks on the real program: real commands, a local model.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandStage, WRITES_THERE_ONLY } from "../support/command-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder, markRepository } from "../support/folder.ts";
import { type Hooks, hook, messages, on, read, saying, shown, stage } from "../support/hook-stage.ts";
import { outputOf, run, say } from "../support/model-replies.ts";
import { hasSandbox } from "../support/sandbox-here.ts";

describe("a UserPromptSubmit hook", () => {
  it("[HOOK-1] [HOOK-5] gets the prompt and adds context for the model", async () => {
    const hooks = on("UserPromptSubmit", "cat > prompt.json; echo Speak softly.", {
      statusMessage: "Looking",
    });
    const { client, threadId, model, cwd } = await stage(hooks, [say("Yes.")]);
    const turnId = await client.turn(threadId, "Are you there?");
    expect(read(cwd, "prompt.json")).toEqual({
      session_id: threadId,
      turn_id: turnId,
      transcript_path: null,
      cwd,
      hook_event_name: "UserPromptSubmit",
      model: "mock-model",
      permission_mode: "default",
      prompt: "Are you there?",
    });
    expect(messages(model, 0, "developer")).toContain("Speak softly.");
    expect(shown(client)).toEqual([
      "started userPromptSubmit running",
      "completed userPromptSubmit completed",
    ]);
    const { params } = client.told("hook/completed")[0]!;
    expect(params).toMatchObject({
      threadId,
      turnId,
      run: {
        handlerType: "command",
        executionMode: "sync",
        scope: "turn",
        source: "user",
        statusMessage: "Looking",
        entries: [{ kind: "context", text: "Speak softly." }],
      },
    });
  });

  it("[HOOK-1] blocks a prompt: the turn ends, and no later call of the model shows it", async () => {
    const command = "grep -q secret && { echo Not here. >&2; exit 2; }; exit 0";
    const { client, threadId, model } = await stage(on("UserPromptSubmit", command), [say("Hello.")]);
    await client.turn(threadId, "A secret!");
    expect(model.asked).toEqual([]);
    expect(shown(client)).toEqual(["started userPromptSubmit running", "completed userPromptSubmit blocked"]);
    expect(client.told("turn/completed")[0]!.params.turn.status).toBe("completed");
    await client.turn(threadId, "Hello?");
    expect(messages(model, 0, "user").join("\n")).toContain("Hello?");
    expect(JSON.stringify(model.asked[0]!.body)).not.toContain("A secret!");
  });
});

describe("hooks of a call", () => {
  it("[HOOK-2] see it before it is made and block it, with a reason for the model", async () => {
    const hooks: Hooks = {
      PreToolUse: [{ matcher: "Bash", hooks: [hook("cat > call.json; echo Not today. >&2; exit 2")] }],
    };
    const { client, threadId, model, cwd } = await stage(hooks, [run({ cmd: "touch made" }), say("Well.")]);
    await client.turn(threadId, "Make it.");
    expect(existsSync(join(cwd, "made"))).toBe(false);
    expect(outputOf(model)).toContain("Not today.");
    expect(read(cwd, "call.json")).toMatchObject({
      hook_event_name: "PreToolUse",
      tool_name: "Bash",
      tool_input: { command: "touch made" },
      tool_use_id: "call_1",
    });
    expect(shown(client)).toEqual(["started preToolUse running", "completed preToolUse blocked"]);
  });

  it("[HOOK-2] change its input, and leave others alone", async () => {
    const hookSpecificOutput = {
      hookEventName: "PreToolUse",
      permissionDecision: "allow",
      updatedInput: { command: "touch other" },
    };
    const hooks: Hooks = {
      PreToolUse: [
        { matcher: "apply_patch", hooks: [hook("touch wrong")] },
        { matcher: "^Ba", hooks: [hook(saying({ hookSpecificOutput }))] },
      ],
    };
    const { client, threadId, cwd } = await stage(hooks, [run({ cmd: "touch made" }), say("Well.")]);
    await client.turn(threadId, "Make it.");
    expect(["made", "other", "wrong"].map((name) => existsSync(join(cwd, name)))).toEqual([
      false,
      true,
      false,
    ]);
  });

  it("[HOOK-3] see its output, and replace it", async () => {
    const hooks = on(
      "PostToolUse",
      `cat > done.json; ${saying({ decision: "block", reason: "Try again." })}`,
    );
    const { client, threadId, model, cwd } = await stage(hooks, [run({ cmd: "echo out" }), say("Well.")]);
    await client.turn(threadId, "Say it.");
    expect(outputOf(model)).toBe("Try again.");
    const seen = read(cwd, "done.json");
    expect(seen).toMatchObject({
      tool_name: "Bash",
      tool_input: { command: "echo out" },
      tool_use_id: "call_1",
    });
    expect(seen.tool_response).toContain("out");
    expect(shown(client)).toEqual(["started postToolUse running", "completed postToolUse blocked"]);
  });
});

describe("a Stop hook", () => {
  it("[HOOK-4] makes the model go on, and knows at the second time that it did", async () => {
    const block = saying({ decision: "block", reason: "Run the tests." });
    const command = `cat >> stops; grep -q '"stop_hook_active":true' stops || ${block}`;
    const { client, threadId, model, cwd } = await stage(on("Stop", command), [say("Done."), say("Tested.")]);
    await client.turn(threadId, "Do it.");
    expect(messages(model, 1, "user").at(-1)).toBe("Run the tests.");
    const stops = readFileSync(join(cwd, "stops"), "utf8").trim().split("\n");
    expect(stops.map((line) => JSON.parse(line))).toMatchObject([
      { hook_event_name: "Stop", stop_hook_active: false, last_assistant_message: "Done." },
      { stop_hook_active: true, last_assistant_message: "Tested." },
    ]);
    const items = client.told("item/completed").map(({ params }) => params.item);
    expect(items.map(({ type }) => type)).toEqual([
      "userMessage",
      "agentMessage",
      "hookPrompt",
      "agentMessage",
    ]);
    expect(items[2].fragments).toMatchObject([{ text: "Run the tests." }]);
    expect(shown(client)).toEqual([
      "started stop running",
      "completed stop blocked",
      "started stop running",
      "completed stop completed",
    ]);
  });
});

describe("a hook", () => {
  it.runIf(hasSandbox)("[HOOK-6] is confined as its thread's commands are, without secrets", async () => {
    const made = await commandStage([say("Yes.")], WRITES_THERE_ONLY, { MY_API_KEY: "hidden" });
    const outside = await freshFolder("outside");
    const command = `touch inside; touch ${outside}/x; env > seen; ls ${made.home} > home.txt; exit 0`;
    writeFileSync(join(made.home, "hooks.json"), JSON.stringify({ hooks: on("UserPromptSubmit", command) }));
    await made.client.turn(made.threadId, "Go.");
    expect(shown(made.client)[1]).toBe("completed userPromptSubmit completed");
    expect(existsSync(join(made.cwd, "inside"))).toBe(true);
    expect(existsSync(join(outside, "x"))).toBe(false);
    expect(readFileSync(join(made.cwd, "seen"), "utf8")).not.toContain("hidden");
    // The home is hidden: hooks do not read its config.toml, or journals.
    expect(readFileSync(join(made.cwd, "home.txt"), "utf8")).not.toContain("config.toml");
  });

  it("[HOOK-7] that takes too long is ended, and decides nothing", async () => {
    const hooks = on("PreToolUse", "echo $$ > pid; sleep 600; exit 2", { timeout: 1 });
    const { client, threadId, cwd } = await stage(hooks, [run({ cmd: "touch made" }), say("Well.")]);
    await client.turn(threadId, "Make it.");
    expect(existsSync(join(cwd, "made"))).toBe(true);
    expect(shown(client)).toEqual(["started preToolUse running", "completed preToolUse failed"]);
    const { params } = client.told("hook/completed")[0]!;
    expect(params.run.entries[0].text).toContain("after 1 seconds");
    // On a busy machine its time may be over before the shell has come to write this.
    const pid = existsSync(join(cwd, "pid")) ? readFileSync(join(cwd, "pid"), "utf8").trim() : "none";
    await eventually(() => !existsSync(`/proc/${pid}`), "the hook is gone");
  });

  it("[HOOK-11] that hangs delays no other thread, and ends with an interrupt", async () => {
    const hooks = on("UserPromptSubmit", "grep -q hang && { echo $$ > pid; sleep 600; }; exit 0");
    const { client, threadId, cwd } = await stage(hooks, [say("Hello.")]);
    const turnId = await client.say(threadId, "hang");
    await eventually(() => existsSync(join(cwd, "pid")), "the hook runs");
    const other = await client.startThread({ cwd });
    await client.turn(other, "Hello?");
    await client.call("turn/interrupt", { threadId, turnId });
    await client.waitFor(
      ({ method, params }) => method === "turn/completed" && params.turn.id === turnId,
      "the end",
    );
    const pid = readFileSync(join(cwd, "pid"), "utf8").trim();
    await eventually(() => !existsSync(`/proc/${pid}`), "the hook is gone");
  });
});

describe("a project's hooks", () => {
  it("[HOOK-8] [HOOK-9] run once the user trusts their content, and not after a change", async () => {
    const { client, home, cwd } = await stage({}, [say("Yes.")]);
    markRepository(cwd);
    mkdirSync(join(cwd, ".codex"));
    const file = join(cwd, ".codex", "hooks.json");
    const write = (command: string) =>
      writeFileSync(file, JSON.stringify({ hooks: on("UserPromptSubmit", command) }));
    write("echo one >> ran");
    const ran = () => existsSync(join(cwd, "ran"));
    const list = async () => (await client.call("hooks/list", { cwds: [cwd] })).data[0];
    expect((await list()).hooks).toEqual([]);
    const set = (keyPath: string, value: unknown) =>
      client.call("config/value/write", { keyPath, value, mergeStrategy: "upsert" });
    await set(`projects."${cwd}".trust_level`, "trusted");
    const [untrusted] = (await list()).hooks;
    expect(untrusted).toMatchObject({
      eventName: "userPromptSubmit",
      handlerType: "command",
      command: "echo one >> ran",
      source: "project",
      sourcePath: file,
      trustStatus: "untrusted",
      enabled: true,
      isManaged: false,
      timeoutSec: 600,
    });
    const turn = async () => client.turn(await client.startThread({ cwd }), "Go.");
    await turn();
    expect(ran()).toBe(false);
    await set("hooks.state", { [untrusted.key]: { trusted_hash: untrusted.currentHash } });
    expect((await list()).hooks[0].trustStatus).toBe("trusted");
    await turn();
    expect(readFileSync(join(cwd, "ran"), "utf8")).toBe("one\n");
    write("echo two >> ran");
    expect((await list()).hooks[0].trustStatus).toBe("modified");
    await turn();
    expect(readFileSync(join(cwd, "ran"), "utf8")).toBe("one\n");
    writeFileSync(join(home, "hooks.json"), "{ no json");
    expect((await list()).errors).toMatchObject([{ path: join(home, "hooks.json") }]);
  });
});
