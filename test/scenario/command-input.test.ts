// Who is asked about input to commands that were left running: on the real program, with a local model.
import { describe, expect, it } from "vitest";
import { asked, COMMAND_QUESTION, commandStage } from "../support/command-stage.ts";
import type { Reply } from "../support/mock-model.ts";
import { callTool, escalated, outputOf, say } from "../support/model-replies.ts";
import type { WireClient } from "../support/wire-client.ts";

describe("input to a command outside of the sandbox", () => {
  const write =
    (args: object, callId: string): Reply =>
    (response, request) => {
      const [, id] = /session ID (\d+)/.exec(JSON.stringify(request.body.input))!;
      return callTool("write_stdin", { session_id: Number(id), ...args }, callId)(response, request);
    };
  const cat = escalated("cat", { tty: true, yield_time_ms: 250 });

  it("[APPROVE-14] needs approval of its text, once if it is accepted for the session", async () => {
    const { client, threadId, cwd } = await commandStage([
      cat,
      write({ chars: "one\u001b[2K\n" }, "call_2"),
      write({ chars: "two\n" }, "call_3"),
      say("done"),
    ]);
    const turnId = await client.say(threadId, "go");
    client.send({ id: (await asked(client)).id, result: { decision: "accept" } });
    const { id, params } = await asked(client, { nth: 2 });
    const command = `write_stdin --session-id ${await sessionId(client, threadId)} "one\\u001b[2K\\n"`;
    expect(params).toMatchObject({
      kind: "writeStdin",
      itemId: "call_1",
      approvalId: "call_2",
      command,
      commandActions: [{ type: "unknown", command }],
      cwd,
      reason: "The process can do more than the sandbox allows. It was started as: /bin/bash -c cat",
      availableDecisions: ["accept", "acceptForSession", "decline", "cancel"],
    });
    client.send({ id, result: { decision: "acceptForSession" } });
    await client.turnCompleted(turnId);
    expect(client.count(COMMAND_QUESTION)).toBe(2);
    expect(inputs(client)).toEqual(["one\u001b[2K\n", "two\n"]);
  });

  it("[APPROVE-14] is not written when it is declined; reading output and Ctrl-C need no approval", async () => {
    const { model, client, threadId } = await commandStage([
      cat,
      write({ chars: "no\n" }, "call_2"),
      write({ chars: "\u0003", yield_time_ms: 10_000 }, "call_3"),
      say("done"),
    ]);
    const turnId = await client.say(threadId, "go");
    client.send({ id: (await asked(client)).id, result: { decision: "accept" } });
    client.send({ id: (await asked(client, { nth: 2 })).id, result: { decision: "decline" } });
    await client.turnCompleted(turnId);
    expect(outputOf(model, 2)).toContain("Nothing was written: the user declined it");
    expect(client.count(COMMAND_QUESTION)).toBe(2);
    expect(inputs(client)).toEqual(["\u0003"]);
  });

  it.each(["accept", "acceptForSession"])(
    "[APPROVE-14] is not written if the policy has come to refuse it while the question was open (%s)",
    async (decision) => {
      const { model, client, threadId } = await commandStage([
        cat,
        write({ chars: "no\n" }, "call_2"),
        say("done"),
      ]);
      const turnId = await client.say(threadId, "go");
      client.send({ id: (await asked(client)).id, result: { decision: "accept" } });
      const { id } = await asked(client, { nth: 2 });
      await client.call("thread/settings/update", { threadId, approvalPolicy: "never" });
      client.send({ id, result: { decision } });
      await client.turnCompleted(turnId);
      expect(inputs(client)).toEqual([]);
      expect(outputOf(model, 2)).toContain("this thread is set to ask nobody");
    },
  );

  async function sessionId(client: WireClient, threadId: string): Promise<string> {
    const { data } = await client.call("thread/backgroundTerminals/list", { threadId });
    return data[0].processId;
  }

  const inputs = (client: WireClient): string[] =>
    client.told("item/commandExecution/terminalInteraction").map(({ params }) => params.stdin);
});
