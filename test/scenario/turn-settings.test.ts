// turn/settings/update: settings of the turn that runs, for its next calls of the model.
import { describe, expect, it } from "vitest";
import { spawnHost } from "../support/host-process.ts";
import { type Asked, MockModel, type Reply } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { callTool, escalated, say } from "../support/model-replies.ts";
import type { WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };
const NOBODY = "01a1e0d3-0000-7000-8000-000000000000";

/** A reply that waits until it is let go; `called` resolves when the model is called. */
function held(reply: Reply): { readonly reply: Reply; readonly called: Promise<void>; go(): void } {
  const gates = [0, 1].map(() => {
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { open: () => open(), opened };
  });
  const [call, release] = gates as [(typeof gates)[0], (typeof gates)[0]];
  return {
    called: call.opened,
    go: release.open,
    reply: async (response, asked) => {
      call.open();
      await release.opened;
      await reply(response, asked);
    },
  };
}

const settingsOf = ({ body }: Asked) => ({
  model: body.model,
  effort: body.reasoning?.effort,
  summary: body.reasoning?.summary,
  tier: body.service_tier,
});

describe.each(["stdio", "websocket"] as const)("settings of a running turn, on %s", (transport) => {
  async function stage(...replies: Reply[]) {
    const model = await MockModel.start(...replies);
    const { home, cwd } = await modelHome("responses", model.url, {
      top: ['sandbox_mode = "workspace-write"', 'approval_policy = "on-request"'],
    });
    const args = ["--listen", "ws://127.0.0.1:0", "--stdio"];
    const host = await spawnHost({ home, args, env: { SHELL: "/bin/sh" } });
    const [socket, stdio] = [await host.join(undefined, EXPERIMENTAL), host.stdio()];
    await stdio.initialize(EXPERIMENTAL);
    const [client, other] = transport === "stdio" ? [stdio, socket] : [socket, stdio];
    const threadId = await client.startThread({ cwd });
    return { model, client, other, threadId };
  }

  const update = async (client: WireClient, params: object): Promise<string> =>
    (await client.call("turn/settings/update", params)).status;

  it("[TURN-15] take effect at its next model call, and for no other turn", async () => {
    const first = held(callTool("update_plan", { plan: [] }));
    const { model, client, other, threadId } = await stage(first.reply, say("done"));
    await client.call("thread/settings/update", { threadId, effort: "low", serviceTier: "flex" });
    const turnId = await client.say(threadId, "go");
    await first.called;
    // A reply on each connection comes after what the turn's start has sent there.
    for (const one of [client, other]) await one.call("thread/loaded/list", {});
    const from = [client.frames.length, other.frames.length];
    const changes = { model: "another", summary: "detailed", serviceTier: null };
    expect(await update(other, { threadId, turnId, ...changes })).toBe("applied");
    expect(await update(client, { threadId, turnId, effort: "high", model: null })).toBe("applied");
    expect(await update(client, { threadId, turnId })).toBe("applied");
    // No client is sent anything because of it.
    for (const [at, one] of [client, other].entries())
      expect(one.frames.slice(from[at]).flatMap(({ method }) => method ?? [])).toEqual([]);
    expect((await client.call("thread/read", { threadId })).thread.model).toBe("mock-model");
    first.go();
    await client.turnCompleted(turnId);
    await client.turn(threadId, "again");
    const own = { model: "mock-model", effort: "low", summary: "auto", tier: "flex" };
    expect(model.asked.map(settingsOf)).toEqual([
      own,
      { model: "another", effort: "high", summary: "detailed", tier: undefined },
      own,
    ]);
  });

  it("[TURN-15] take effect for input that arrives while the model answers", async () => {
    const first = held(say("never heard"));
    const { model, client, threadId } = await stage(first.reply, say("done"));
    const turnId = await client.say(threadId, "go");
    await first.called;
    expect(await update(client, { threadId, turnId, model: "another" })).toBe("applied");
    const input = [{ type: "text", text: "more" }];
    await client.call("turn/steer", { threadId, expectedTurnId: turnId, input });
    await client.turnCompleted(turnId);
    first.go();
    expect(model.asked.map(settingsOf).map((one) => one.model)).toEqual(["mock-model", "another"]);
  });

  it("[TURN-15] set the reviewer of the next model call's approvals", async () => {
    const first = held(escalated("true", {}, "call_1"));
    const verdict = say(JSON.stringify({ outcome: "allow", rationale: "a reason" }));
    const { client, threadId } = await stage(
      first.reply,
      escalated("echo two", {}, "call_2"),
      verdict,
      say("done"),
    );
    const turnId = await client.say(threadId, "go");
    await first.called;
    expect(await update(client, { threadId, turnId, approvalsReviewer: "auto_review" })).toBe("applied");
    first.go();
    // The call of the model that ran then still asks a person.
    const { id } = await client.about(threadId, "item/commandExecution/requestApproval");
    client.send({ id, result: { decision: "accept" } });
    await client.about(threadId, "item/autoApprovalReview/completed");
    await client.turnCompleted(turnId);
    expect(client.count("item/commandExecution/requestApproval")).toBe(1);
  });

  it("[TURN-15] need a running turn, and are refused if they are unknown", async () => {
    const first = held(say("done"));
    const { client, threadId } = await stage(first.reply, say("done"));
    expect(await update(client, { threadId, turnId: NOBODY, model: "another" })).toBe("targetUnavailable");
    const turnId = await client.say(threadId, "go");
    await first.called;
    expect(await update(client, { threadId, turnId: NOBODY, model: "another" })).toBe("targetUnavailable");
    const refused = async (params: object) =>
      client.refusal("turn/settings/update", { threadId, turnId, ...params });
    expect(await refused({ cwd: "/" })).toEqual({
      code: -32602,
      message: "Invalid params: cwd: unknown field",
      data: { code: "invalidParams", retryable: false, path: "cwd" },
    });
    for (const wrong of [{ effort: "" }, { summary: "loud" }, { approvalsReviewer: "nobody" }])
      expect((await refused(wrong)).data.code).toBe("invalidParams");
    expect(await refused({ model: "" })).toMatchObject({ code: -32600, data: { code: "emptyModel" } });
    const environments = [{ environmentId: "local", cwd: "/" }];
    expect((await refused({ environments })).data.code).toBe("environmentsFixed");
    first.go();
    await client.turnCompleted(turnId);
    expect(await update(client, { threadId, turnId, model: "another" })).toBe("targetUnavailable");
    await client.call("thread/unload", { threadId });
    for (const missing of [threadId, NOBODY])
      expect(await client.refusal("turn/settings/update", { threadId: missing, turnId })).toEqual({
        code: -32600,
        message: `thread not found: ${missing}`,
        data: { code: "threadNotFound", retryable: false },
      });
  });
});
