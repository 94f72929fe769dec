// What else than commands a model judges in place of a person: on the real program, with a local model that plays the
// agent and the reviewer.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, type Reply } from "../support/mock-model.ts";
import { callTool, say } from "../support/model-replies.ts";
import { answer, rapHome } from "../support/rap-stage.ts";
import {
  APPROVED,
  Cast,
  DECLINED,
  DENIED,
  REVIEWED,
  reviewStage,
  reviewStory,
  verdict,
} from "../support/review-stage.ts";
import { FakeToolServer } from "../support/tool-server.ts";

describe("with auto review", () => {
  const patch = (path: string) =>
    callTool("apply_patch", { input: `*** Begin Patch\n*** Add File: ${path}\n+hello\n*** End Patch\n` });

  it("[AUTOREV-9] a patch is judged with its files and its content", async () => {
    const path = join(await freshFolder("outside"), "a.txt");
    const { cast, client, threadId, cwd } = await reviewStage([patch(path), say("done")], [verdict("allow")]);
    const from = client.frames.length;
    await client.turn(threadId, "go");
    expect(reviewStory(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      ...APPROVED,
      "item/completed completed",
      "turn completed",
    ]);
    expect(readFileSync(path, "utf8")).toBe("hello\n");
    const { params } = client.told("item/autoApprovalReview/started")[0]!;
    expect(params).toMatchObject({
      targetItemId: "call_1",
      action: { type: "applyPatch", cwd, files: [path] },
    });
    expect(cast.reviewer[0]!.shown.action.changes).toEqual([
      { path, kind: { type: "add" }, diff: "hello\n" },
    ]);
  });

  it("[AUTOREV-9] a patch that is denied changes nothing", async () => {
    const path = join(await freshFolder("outside"), "a.txt");
    const { client, threadId } = await reviewStage([patch(path), say("done")], [verdict("deny")]);
    const from = client.frames.length;
    await client.turn(threadId, "go");
    expect(reviewStory(client.frames.slice(from))).toEqual(DECLINED);
    expect(existsSync(path)).toBe(false);
  });

  it("[AUTOREV-9] permissions are granted for the turn, or not at all", async () => {
    const outside = await freshFolder("outside");
    const permissions = { file_system: { write: [outside] } };
    const asks = (callId: string) =>
      callTool("request_permissions", { reason: "To write", permissions }, callId);
    const { cast, client, threadId } = await reviewStage(
      [asks("call_1"), asks("call_2"), say("done"), asks("call_3"), say("done")],
      [verdict("deny"), verdict("allow")],
    );
    const from = client.frames.length;
    await client.turn(threadId, "go");
    expect(reviewStory(client.frames.slice(from))).toEqual([...DENIED, ...APPROVED, "turn completed"]);
    expect(client.told("item/autoApprovalReview/started")[0]!.params).toMatchObject({
      targetItemId: "call_1",
      action: {
        type: "requestPermissions",
        reason: "To write",
        permissions: { network: null, fileSystem: { write: [outside] } },
      },
    });
    expect(cast.outputs(2)).toEqual([
      expect.stringMatching(/No permissions were granted: the automatic reviewer denied it/),
      `Granted for this turn: writing to ${outside}.`,
    ]);
    // The next turn has to ask again.
    await client.turn(threadId, "go");
    expect(cast.reviewer).toHaveLength(3);
  });

  it("[AUTOREV-9] input to a process outside of the sandbox is judged with its text", async () => {
    const write: Reply = (response, asked) => {
      const [, id] = /session ID (\d+)/.exec(JSON.stringify(asked.body.input))!;
      const args = { session_id: Number(id), chars: "hello\n", yield_time_ms: 500 };
      return callTool("write_stdin", args, "call_2")(response, asked);
    };
    const cat = {
      cmd: "cat",
      login: false,
      tty: true,
      yield_time_ms: 300,
      sandbox_permissions: "require_escalated",
    };
    const { cast, client, threadId, cwd } = await reviewStage(
      [callTool("exec_command", cat), write, say("done")],
      [verdict("allow"), verdict("deny")],
    );
    await client.turn(threadId, "go");
    const { params } = client.told("item/autoApprovalReview/started")[1]!;
    expect(params).toMatchObject({
      targetItemId: "call_1",
      action: {
        type: "writeStdin",
        approvalId: "call_2",
        processId: expect.stringMatching(/^\d+$/),
        stdin: "hello\n",
        cwd,
      },
    });
    expect(cast.lastOutput).toMatch(/Nothing was written: the automatic reviewer denied it/);
    await client.call("thread/backgroundTerminals/clean", { threadId });
  });

  it("[AUTOREV-9] a call of a tool server is judged with its arguments", async () => {
    const server = await FakeToolServer.start({ wipe: { annotations: { destructive: true } } });
    const cast = new Cast(
      [callTool("wipe", { disk: "a" }, "call_1"), callTool("wipe", { disk: "b" }, "call_2"), say("done")],
      [verdict("deny"), verdict("allow")],
    );
    const model = await MockModel.start(cast.reply);
    const { home, cwd } = await rapHome(model.url, { servers: { desk: server }, top: REVIEWED });
    const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
    const client = await host.join(undefined, { experimentalApi: true });
    const threadId = await client.startThread({ cwd });
    const turnId = await client.say(threadId, "go");
    const heard = await server.next("/invoke");
    await answer(heard, "wiped");
    await client.turnCompleted(turnId);
    expect(JSON.stringify(heard.body)).toContain('"disk":"b"');
    const reviews = client.told("item/autoApprovalReview/completed").map(({ params }) => params);
    expect(reviews.map(({ review, targetItemId }) => [review.status, targetItemId])).toEqual([
      ["denied", "call_1"],
      ["approved", "call_2"],
    ]);
    expect(reviews[0]!.action).toEqual({
      type: "mcpToolCall",
      server: expect.any(String),
      toolName: "wipe",
      connectorId: null,
      connectorName: null,
      toolTitle: null,
    });
    expect(cast.reviewer[0]!.shown.action.call).toMatchObject({ arguments: '{"disk":"a"}' });
    expect(cast.outputs(2)).toEqual([
      expect.stringMatching(/not made: the automatic reviewer denied it/),
      "wiped",
    ]);
  });

  it("[AUTOREV-9] a question to the user is still asked", async () => {
    const options = [{ label: "Tea", description: "Hot." }];
    const questions = [{ id: "q", header: "Q", question: "Tea?", options }];
    const { client, threadId } = await reviewStage(
      [callTool("request_user_input", { questions }), say("done")],
      [verdict("allow")],
    );
    const turnId = await client.say(threadId, "go");
    const question = await client.about(threadId, "item/tool/requestUserInput");
    client.send({ id: question.id, result: { answers: { q: { answers: ["Tea"] } } } });
    await client.turnCompleted(turnId);
    expect(client.told("item/autoApprovalReview/started")).toEqual([]);
  });

  it("[AUTOREV-12] a person who grants permissions can have all that the turn does judged", async () => {
    const outside = await freshFolder("outside");
    const file = join(outside, "a.txt");
    const permissions = { file_system: { write: [outside] } };
    const run = (cmd: string, callId: string) => callTool("exec_command", { cmd, login: false }, callId);
    const { cast, client, threadId } = await reviewStage(
      [
        callTool("request_permissions", { reason: "To write", permissions }),
        run("echo allowed", "call_2"),
        run("echo denied", "call_3"),
        patch(file),
        say("done"),
        run("echo later", "call_5"),
        say("done"),
      ],
      [verdict("allow"), verdict("deny")],
      // No reviewer is configured: the person asks for one.
      REVIEWED.slice(0, 2),
    );
    const turnId = await client.say(threadId, "go");
    const question = await client.about(threadId, "item/permissions/requestApproval");
    const granted = { fileSystem: { read: null, write: [outside] } };
    client.send({
      id: question.id,
      result: { permissions: granted, scope: "turn", strictAutoReview: true },
    });
    await client.turnCompleted(turnId);
    const reviews = client.told("item/autoApprovalReview/completed").map(({ params }) => params);
    expect(reviews.map(({ review, action }) => [action.type, review.status])).toEqual([
      ["command", "approved"],
      ["command", "denied"],
      ["applyPatch", "denied"],
    ]);
    expect(existsSync(file)).toBe(false);
    expect(cast.outputs(2).at(-1)).toMatch(/allowed/);
    expect(cast.outputs(3).at(-1)).toMatch(/not run: the automatic reviewer denied it/);
    await client.turn(threadId, "and now");
    expect(cast.lastOutput).toMatch(/later/);
    expect(client.told("item/autoApprovalReview/started")).toHaveLength(3);
  });

  it("[AUTOREV-12] a strict review does not go with permissions for the session", async () => {
    const outside = await freshFolder("outside");
    const permissions = { file_system: { write: [outside] } };
    const { cast, client, threadId } = await reviewStage(
      [callTool("request_permissions", { reason: "To write", permissions }), say("done")],
      [verdict("allow")],
      REVIEWED.slice(0, 2),
    );
    const turnId = await client.say(threadId, "go");
    const question = await client.about(threadId, "item/permissions/requestApproval");
    const granted = { fileSystem: { read: null, write: [outside] } };
    client.send({
      id: question.id,
      result: { permissions: granted, scope: "session", strictAutoReview: true },
    });
    await client.turnCompleted(turnId);
    expect(cast.lastOutput).toMatch(/No permissions were granted: a strict review/);
  });
});
