// Helpers: threads that a model starts.
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { helper, helperCalls, helperStage, shownTo, spawned } from "../support/helper-stage.ts";
import { asked } from "../support/rap-stage.ts";
import type { WireClient } from "../support/wire-client.ts";

const NOBODY = "00000000-0000-7000-8000-000000000000";

describe("a helper", () => {
  it("[HELPER-1] does its task in a thread of its own, and its parent's model has the result once", async () => {
    const { client, threadId, model, cwd } = await helperStage({
      parent: [
        { calls: [["spawn_agent", { message: "play child" }]] },
        (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)] }]] }),
        { say: "all done" },
      ],
      child: [{ say: "child is done" }],
      next: [{ say: "next" }],
    });
    const turnId = await client.turn(threadId, "play parent");
    const child = await helper(client);
    expect(child).toMatchObject({
      parentThreadId: threadId,
      sessionId: threadId,
      threadSource: "subagent",
      canAcceptDirectInput: true,
      agentRole: null,
      cwd,
      source: { subAgent: { thread_spawn: { parent_thread_id: threadId, depth: 1, agent_path: null } } },
    });
    expect(child.agentNickname).toMatch(/^[A-Z]\w+$/);
    const [spawn, wait] = helperCalls(client, threadId);
    expect(spawn).toMatchObject({
      tool: "spawnAgent",
      status: "completed",
      senderThreadId: threadId,
      receiverThreadIds: [child.id],
      prompt: "play child",
      model: "mock-model",
      agentsStates: { [child.id]: { status: "pendingInit", message: null } },
    });
    expect(wait).toMatchObject({
      tool: "wait",
      status: "completed",
      receiverThreadIds: [child.id],
      prompt: null,
      model: null,
      agentsStates: { [child.id]: { status: "completed", message: "child is done" } },
    });
    // The turn of a helper belongs to the turn that it was started for.
    const { params } = await client.about(child.id, "turn/completed");
    expect(params.turn).toMatchObject({ rootTurnId: turnId, status: "completed" });
    const { thread } = await client.call("thread/read", { threadId: child.id, includeTurns: true });
    expect(thread.turns[0]).toMatchObject({ rootTurnId: turnId });
    await client.turn(threadId, "play next");
    const shown = shownTo(model, "next").filter((text) => text.includes("child is done"));
    expect(shown).toEqual([
      JSON.stringify({ status: { [child.id]: { completed: "child is done" } }, timed_out: false }),
    ]);
  });

  it("[HELPER-2] reports its end to its parent's model if no call waits for it, once and before the next answer", async () => {
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { client, threadId, model } = await helperStage({
      parent: [{ calls: [["spawn_agent", { message: "play child" }]] }, { say: "started" }],
      child: [
        async () => {
          await answered;
          return { say: "late result" };
        },
      ],
      next: [{ say: "next" }],
      last: [{ say: "last" }],
    });
    await client.turn(threadId, "play parent");
    const { id } = await helper(client);
    answer();
    await client.about(id, "turn/completed");
    await eventually(async () => (await descendants(client, threadId)) === 0, "its parent has heard of it");
    await client.turn(threadId, "play next");
    const status = { agent_path: id, status: { completed: "late result" } };
    const told = `<subagent_notification>\n${JSON.stringify(status)}\n</subagent_notification>`;
    expect(shownTo(model, "next").slice(-2)).toEqual([told, "play next"]);
    await client.turn(threadId, "play last");
    expect(shownTo(model, "last").filter((text) => text === told)).toHaveLength(1);
  });

  it("[HELPER-3] asks its parent's clients, who answer for it", async () => {
    const { client, threadId, host } = await helperStage({
      parent: [
        { calls: [["spawn_agent", { message: "play child" }]] },
        (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)], timeout_ms: 600_000 }]] }),
        { say: "all done" },
      ],
      child: [{ calls: [["request_user_input", QUESTION]] }, ({ outputs }) => ({ say: outputs[0]! })],
    });
    const turnId = await client.say(threadId, "play parent");
    const question = await asked(client, "item/tool/requestUserInput");
    const { id } = await helper(client);
    expect(question.params.threadId).toBe(id);
    // Who comes later is asked as well, and what one has answered is gone for the other.
    const other = await host.join(undefined, { experimentalApi: true });
    await other.call("thread/resume", { threadId });
    const again = await asked(other, "item/tool/requestUserInput");
    expect([again.id, again.params.threadId]).toEqual([question.id, id]);
    other.send({ id: again.id, result: { answers: { q: { answers: ["A"] } } } });
    await client.about(id, "serverRequest/resolved");
    for (const one of [client, other]) await one.turnCompleted(turnId);
    expect(helperCalls(client, threadId)[1].agentsStates[id].message).toContain("A");
    expect(helperCalls(other, threadId).map(({ tool }) => tool)).toEqual(["wait"]);
  });

  it("[HELPER-4] takes more input, is interrupted, closed and opened again", async () => {
    const { client, threadId, model } = await helperStage({
      parent: [
        { calls: [["spawn_agent", { message: "play quick" }]] },
        (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)] }]] }),
        (scene) => ({ calls: [["send_input", { target: spawned(scene), message: "play slow" }]] }),
        async (scene) => {
          await slow;
          return {
            calls: [["send_input", { target: spawned(scene), message: "play other", interrupt: true }]],
          };
        },
        (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)] }]] }),
        (scene) => ({ calls: [["close_agent", { target: spawned(scene) }]] }),
        (scene) => ({ calls: [["send_input", { target: spawned(scene), message: "lost" }]] }),
        (scene) => ({ calls: [["resume_agent", { id: spawned(scene) }]] }),
        (scene) => ({ calls: [["send_input", { target: spawned(scene), message: "play quick" }]] }),
        (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene), NOBODY] }]] }),
        (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)] }]] }),
        { say: "all done" },
      ],
      quick: [{ say: "quick" }],
      slow: [
        () => {
          begun();
          return { hang: true };
        },
      ],
      other: [{ say: "other" }],
    });
    let begun = (): void => {};
    const slow = new Promise<void>((resolve) => {
      begun = resolve;
    });
    await client.turn(threadId, "play parent");
    const { id } = await helper(client);
    const outputs = shownTo(model, "parent").filter(
      (text) => text.startsWith("{") || text.startsWith("There"),
    );
    const done = (text: string) =>
      JSON.stringify({ status: { [id]: { completed: text } }, timed_out: false });
    const uuid = expect.stringMatching(/^\{"submission_id":"[-0-9a-f]{36}"\}$/);
    expect(outputs).toEqual([
      expect.stringContaining(id),
      done("quick"),
      uuid,
      uuid,
      done("other"),
      JSON.stringify({ previous_status: { completed: "other" } }),
      expect.stringContaining("There is no open agent"),
      JSON.stringify({ status: "pending_init" }),
      uuid,
      JSON.stringify({ status: { [NOBODY]: "not_found" }, timed_out: false }),
      done("quick"),
    ]);
    const turns = client.told("turn/completed").filter(({ params }) => params.threadId === id);
    expect(turns.map(({ params }) => params.turn.status)).toEqual([
      "completed",
      "interrupted",
      "completed",
      "completed",
    ]);
    expect(helperCalls(client, threadId).map(({ tool, status }) => `${tool} ${status}`)).toEqual([
      "spawnAgent completed",
      "wait completed",
      "sendInput completed",
      "sendInput completed",
      "wait completed",
      "closeAgent completed",
      "sendInput failed",
      "resumeAgent completed",
      "sendInput completed",
      "wait failed",
      "wait completed",
    ]);
  });
});

/** How many threads are at work for one. */
async function descendants(client: WireClient, threadId: string): Promise<number> {
  const { threads } = await client.call("server/diagnostics");
  const found = threads.find((one: { threadId: string }) => one.threadId === threadId);
  return found?.descendants ?? 0;
}

const QUESTION = {
  questions: [{ id: "q", header: "H", question: "Q?", options: [{ label: "A", description: "d" }] }],
};
