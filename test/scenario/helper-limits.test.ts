// What helpers may do: no more than their parents, and not more of them than is configured.
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asked, COMMAND_QUESTION, WRITES_THERE_ONLY } from "../support/command-stage.ts";
import { freshFolder } from "../support/folder.ts";
import {
  helper,
  helperCalls,
  helperStage,
  type Parts,
  plays,
  type Scene,
  shownTo,
  spawned,
} from "../support/helper-stage.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { hasSandbox } from "../support/sandbox-here.ts";

const spawn = (message: string, more: object = {}): readonly [string, object] => [
  "spawn_agent",
  { message, ...more },
];
const wait = (scene: Scene, nth = 0): { readonly calls: readonly (readonly [string, object])[] } => ({
  calls: [["wait_agent", { targets: [spawned(scene, nth)] }]],
});

/** What the calls of a part came to. */
const outputsOf = (model: MockModel, part: string): readonly string[] =>
  shownTo(model, part).filter((text) => !text.startsWith("play"));

/** The requests that the model got from threads that play a part. */
const askedBy = (model: MockModel, part: string) =>
  model.asked.filter(({ body }) => JSON.stringify(body.input.at(-1)).includes(`play ${part}`));

describe("helpers", () => {
  it("[HELPER-6] are limited by the configuration; a closed one makes room", async () => {
    const { client, threadId, model } = await helperStage(
      {
        parent: [
          { calls: [spawn("play child"), spawn("play child"), spawn("play child")] },
          (scene) => ({ calls: [["close_agent", { target: spawned(scene) }]] }),
          () => ({ calls: [spawn("play child")] }),
          () => ({ calls: [["resume_agent", { id: "01a1e7f0-0000-7000-8000-000000000000" }]] }),
          (scene) => ({ calls: [["resume_agent", { id: spawned(scene) }]] }),
          { say: "done" },
        ],
        child: [{ say: "child is done" }],
      },
      { tables: ["[agents]", "max_threads = 2"] },
    );
    await client.turn(threadId, "play parent");
    const outputs = outputsOf(model, "parent");
    const refused = expect.stringContaining("The limit of 2 open agents is reached.");
    const started = expect.stringContaining("agent_id");
    expect(outputs.filter((text) => !text.includes("subagent_notification"))).toEqual([
      started,
      started,
      refused,
      expect.stringContaining("previous_status"),
      started,
      refused,
      refused,
    ]);
    const states = helperCalls(client, threadId).map(({ tool, status }) => `${tool} ${status}`);
    expect(states.filter((one) => one.startsWith("spawnAgent")).sort()).toEqual([
      "spawnAgent completed",
      "spawnAgent completed",
      "spawnAgent completed",
      "spawnAgent failed",
    ]);
  });

  it("[HELPER-7] have no helpers of their own unless the configuration allows it, and are counted together", async () => {
    const parts: Parts = {
      parent: [{ calls: [spawn("play child")] }, wait, { say: "done" }],
      child: [
        { calls: [spawn("play grandchild"), spawn("play grandchild")] },
        ({ outputs }) => ({ say: outputs.join("\n") }),
      ],
      grandchild: [{ calls: [spawn("play nobody")] }, ({ outputs }) => ({ say: outputs[0]! })],
    };
    const flat = await helperStage(parts);
    await flat.client.turn(flat.threadId, "play parent");
    const names = (body: { tools: { name?: string }[] }) => body.tools.map(({ name }) => name);
    expect(names(askedBy(flat.model, "parent")[0]!.body)).toContain("multi_agent_v1");
    expect(names(askedBy(flat.model, "child")[0]!.body)).not.toContain("multi_agent_v1");
    expect(outputsOf(flat.model, "parent")[1]).toContain(
      "There is no tool named multi_agent_v1.spawn_agent.",
    );

    const deep = await helperStage(parts, { tables: ["[agents]", "max_threads = 2", "max_depth = 2"] });
    await deep.client.turn(deep.threadId, "play parent");
    const { id: childId } = await helper(deep.client);
    const { id, source, sessionId } = await helper(deep.client, 2);
    expect(source).toMatchObject({
      subAgent: { thread_spawn: { parent_thread_id: childId, depth: 2 } },
    });
    expect(sessionId).toBe(deep.threadId);
    const [, result] = outputsOf(deep.model, "parent");
    expect(result).toContain(id);
    // With its parent's and its own there are two.
    expect(result).toContain("The limit of 1 open agents is reached.");
    // Who follows the first thread sees what all of them do.
    await deep.client.about(id, "turn/started");
  });

  it("[HELPER-7] do not exist if the configuration disables them", async () => {
    const { client, threadId, model } = await helperStage(
      { parent: [{ say: "done" }] },
      { tables: ["[agents]", "enabled = false"] },
    );
    await client.turn(threadId, "play parent");
    expect(JSON.stringify(model.asked[0]!.body.tools)).not.toContain("spawn_agent");
  });

  it("[HELPER-10] have the roles of the configuration, which set model, effort, instructions and names, and nothing else", async () => {
    const model = await MockModel.start(
      plays({
        parent: [
          { calls: [spawn("play child", { agent_type: "reader", model: "another" })] },
          wait,
          () => ({ calls: [spawn("play child", { agent_type: "nobody" })] }),
          () => ({ calls: [spawn("play child", { agent_type: "reader", fork_context: true })] }),
          () => ({ calls: [spawn("play other", { model: "another", reasoning_effort: "high" })] }),
          (scene) => wait(scene, 4),
          { say: "done" },
        ],
        child: [{ say: "child is done" }],
        other: [{ say: "other is done" }],
      }),
    );
    const { home, cwd } = await modelHome("responses", model.url, {
      top: ['sandbox_mode = "read-only"', 'developer_instructions = "Be brief."'],
      provider: [
        "[agents.reader]",
        'description = "Reads things."',
        'config_file = "reader.toml"',
        'nickname_candidates = ["Ann"]',
        "[agents.broken]",
        'description = "Is not there."',
        'config_file = "nowhere.toml"',
      ],
    });
    const role = [
      'model = "small"',
      'model_reasoning_effort = "low"',
      'developer_instructions = "Only read."',
      'sandbox_mode = "danger-full-access"',
      'approval_policy = "never"',
    ];
    await writeFile(join(home, "reader.toml"), role.join("\n"));
    await mkdir(join(home, "agents"));
    const found = ['name = "writer"', 'description = "Writes things."', 'developer_instructions = "Write."'];
    await writeFile(join(home, "agents", "writer.toml"), found.join("\n"));
    const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
    const client = await host.join(undefined, { experimentalApi: true });
    const threadId = await client.startThread({ cwd });
    await client.turn(threadId, "play parent");
    const child = await helper(client);
    expect(child).toMatchObject({ agentRole: "reader", agentNickname: "Ann" });
    const { body } = askedBy(model, "child")[0]!;
    expect([body.model, body.reasoning.effort]).toEqual(["small", "low"]);
    const input = JSON.stringify(body.input);
    expect(input).toContain("Only read.");
    expect(input).not.toContain("Be brief.");
    const settings = await client.call("thread/resume", { threadId: child.id });
    expect([settings.sandbox.type, settings.approvalPolicy]).toEqual(["readOnly", "on-request"]);
    const outputs = outputsOf(model, "parent");
    expect(outputs[2]).toBe('There is no agent_type "nobody". There are: reader, writer.');
    expect(outputs[3]).toContain("leave out agent_type");
    const other = askedBy(model, "other")[0]!.body;
    expect([other.model, other.reasoning.effort]).toEqual(["another", "high"]);
    const tools = JSON.stringify(model.asked[0]!.body.tools);
    expect(tools).toContain("- reader: Reads things. (always model small, reasoning effort low)");
    expect(tools).toContain("- writer: Writes things.");
    expect(tools).not.toContain("broken");
    await host.logged(({ msg }) => msg === "an agent role is ignored");
  });

  it("[HELPER-11] begin with their parents' conversation if they are forked, and with their task alone otherwise", async () => {
    const { client, threadId, model } = await helperStage({
      first: [{ say: "the first answer" }],
      parent: [
        { calls: [spawn("play forked", { fork_context: true })] },
        (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)] }], spawn("play fresh")] }),
        { say: "done" },
      ],
      forked: [{ say: "forked is done" }],
      fresh: [{ say: "fresh is done" }],
    });
    await client.turn(threadId, "play first");
    await client.turn(threadId, "play parent");
    const { forkedFromId, id } = await helper(client);
    expect(forkedFromId).toBe(threadId);
    const texts = (part: string): string => JSON.stringify(askedBy(model, part)[0]!.body.input);
    expect(texts("forked")).toMatch(/play first.*the first answer.*play parent.*play forked/);
    // A call that is under way is its parent's.
    expect(texts("forked")).not.toContain("spawn_agent");
    await helper(client, 2);
    await client.waitFor(({ params }) => params?.item?.text === "fresh is done", "the other helper's end");
    expect(texts("fresh")).not.toMatch(/play first|play parent/);
    // What was copied is not taken for what the helper did.
    const waited = helperCalls(client, threadId).find(({ tool }) => tool === "wait");
    expect(waited.agentsStates).toEqual({
      [id]: { status: "completed", message: "forked is done" },
    });
  });

  it("refuse invalid calls with a reason that the model can act on", async () => {
    const calls: readonly (readonly [string, object])[] = [
      ["spawn_agent", {}],
      ["spawn_agent", { message: " " }],
      ["spawn_agent", { message: "a", items: [] }],
      ["spawn_agent", { items: [] }],
      ["spawn_agent", { items: [{ type: "picture" }] }],
      ["spawn_agent", { items: [{ type: "local_image" }] }],
      ["wait_agent", { targets: [] }],
      ["wait_agent", { targets: ["a"], timeout_ms: 0 }],
      ["send_input", { target: "a" }],
      ["close_agent", { target: "a" }],
      ["resume_agent", { id: "a" }],
      ["spawn_agent", { message: "a", mood: "good" }],
    ];
    const { client, threadId, model } = await helperStage({
      parent: [{ calls }, { say: "done" }],
    });
    await client.turn(threadId, "play parent");
    expect(outputsOf(model, "parent")).toEqual([
      "Give one of message and items.",
      "The message is empty.",
      "Give either message or items, not both.",
      "There are no items.",
      expect.stringContaining('"picture" is not known'),
      "An item of the type local_image needs path.",
      "Name at least one agent.",
      "timeout_ms has to be greater than zero.",
      "Give one of message and items.",
      expect.stringContaining("There is no open agent with the id a."),
      expect.stringContaining("There is no open agent with the id a."),
      expect.stringContaining("The arguments do not fit multi_agent_v1.spawn_agent"),
    ]);
    expect(client.told("thread/started")).toHaveLength(1);
  });
});

describe.skipIf(!hasSandbox)("the permissions of a helper", () => {
  const escalated = (cmd: string): readonly [string, object] => [
    "exec_command",
    { cmd, sandbox_permissions: "require_escalated", justification: "why" },
  ];

  it("[HELPER-8] are those of its parent: sandbox, policy, folder and roots", async () => {
    const outside = await freshFolder("outside");
    const { client, threadId, cwd, model } = await helperStage(
      {
        parent: [{ calls: [spawn("play child")] }, wait, { say: "done" }],
        child: [
          { calls: [["exec_command", { cmd: `touch inside ${outside}/out`, login: false }]] },
          { calls: [escalated(`touch ${outside}/out`)] },
          { say: "child is done" },
        ],
      },
      { top: WRITES_THERE_ONLY, params: { approvalPolicy: "never" } },
    );
    await client.turn(threadId, "play parent");
    expect([existsSync(join(cwd, "inside")), existsSync(join(outside, "out"))]).toEqual([true, false]);
    // Under `never` nobody is asked for more, in a helper neither.
    expect(client.told(COMMAND_QUESTION)).toEqual([]);
    expect(outputsOf(model, "child")[1]).toMatch(/not|never|refus/i);
    const { id } = await helper(client);
    const parent = await client.call("thread/resume", { threadId });
    const child = await client.call("thread/resume", { threadId: id });
    for (const key of ["sandbox", "approvalPolicy", "approvalsReviewer", "cwd", "runtimeWorkspaceRoots"])
      expect(child[key], key).toEqual(parent[key]);
  });

  it("[HELPER-8] shrink as soon as its parent's shrink, and what was revoked from the helper itself stays revoked", async () => {
    const { client, threadId, cwd } = await helperStage(
      {
        parent: [{ calls: [spawn("play child")] }, wait, { say: "done" }],
        child: [{ calls: [["exec_command", { cmd: "touch one", login: false }]] }, { say: "child is done" }],
        more: [
          () => ({ calls: [["send_input", { target: childId, message: "play again" }]] }),
          () => ({ calls: [["wait_agent", { targets: [childId] }]] }),
          { say: "done" },
        ],
        again: [{ calls: [["exec_command", { cmd: "touch two", login: false }]] }, { say: "again is done" }],
      },
      { top: WRITES_THERE_ONLY },
    );
    await client.turn(threadId, "play parent");
    const { id: childId } = await helper(client);
    const sandboxOf = async (): Promise<string> => {
      return (await client.call("thread/resume", { threadId: childId })).sandbox.type;
    };
    // A person narrows the helper alone.
    await client.call("thread/settings/update", { threadId: childId, sandboxPolicy: { type: "readOnly" } });
    await client.turn(threadId, "play more");
    expect([await sandboxOf(), existsSync(join(cwd, "two"))]).toEqual(["readOnly", false]);
    await client.call("thread/settings/update", {
      threadId: childId,
      sandboxPolicy: { type: "dangerFullAccess" },
    });
    // A person narrows the parent: its model cannot go around that.
    await client.call("thread/settings/update", { threadId, sandboxPolicy: { type: "readOnly" } });
    await client.turn(threadId, "play more");
    expect([await sandboxOf(), existsSync(join(cwd, "two"))]).toEqual(["readOnly", false]);
    expect(existsSync(join(cwd, "one"))).toBe(true);
  });

  it("[HELPER-9] include its parent's grants for the session, as long as the parent has them", async () => {
    const { client, threadId } = await helperStage(
      {
        grant: [{ calls: [escalated("echo one")] }, { say: "granted" }],
        parent: [{ calls: [spawn("play child")] }, wait, { say: "done" }],
        child: [{ calls: [escalated("echo one")] }, { say: "child is done" }],
        own: [{ calls: [escalated("echo two")] }, { say: "own is done" }],
        parental: [{ calls: [spawn("play own")] }, wait, { say: "done" }],
        again: [{ calls: [escalated("echo two")] }, { say: "asked" }],
      },
      { top: WRITES_THERE_ONLY },
    );
    const answered = async (text: string, decision: string): Promise<string> => {
      const from = client.frames.length;
      const turnId = await client.say(threadId, text);
      const { id, params } = await asked(client, { from });
      client.send({ id, result: { decision } });
      await client.turnCompleted(turnId);
      return params.threadId;
    };
    await answered("play grant", "acceptForSession");
    const from = client.frames.length;
    await client.turn(threadId, "play parent");
    expect(client.frames.slice(from).filter(({ method }) => method === COMMAND_QUESTION)).toEqual([]);
    const { data } = await client.call("thread/grants/list", { threadId });
    await client.call("thread/grants/revoke", { threadId, grantId: data[0].id });
    // What was taken from the parent is taken from its helpers.
    expect(await answered("play parent", "decline")).not.toBe(threadId);
    // What people grant to a helper is not its parent's.
    expect(await answered("play parental", "acceptForSession")).not.toBe(threadId);
    expect(await answered("play again", "decline")).toBe(threadId);
  });
});
