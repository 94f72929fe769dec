// request_permissions on the real program, with a scripted model.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CommandStage, commandStage } from "../support/command-stage.ts";
import { freshFolder } from "../support/folder.ts";
import type { Reply } from "../support/mock-model.ts";
import { callTool, outputOf, patchFiles, say } from "../support/model-replies.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const ask = (permissions: object, callId = "call_1"): Reply =>
  callTool("request_permissions", { reason: "I need it", permissions }, callId);
const patch = (path: string, callId = "call_2"): Reply => patchFiles(callId, `*** Add File: ${path}`, "+x");

const stage = (top = ['sandbox_mode = "workspace-write"']): Promise<CommandStage> =>
  commandStage([say("done")], top);

const METHOD = "item/permissions/requestApproval";
const asked = (client: WireClient): Promise<Received> =>
  client.waitFor(({ method }) => method === METHOD, "a question");

describe("request_permissions", () => {
  it.each(["turn", "session"])(
    "[PERMIT-1] granted for the %s lets files be written there so long",
    async (scope) => {
      const outside = await freshFolder("outside");
      const { model, cwd, client, threadId } = await stage();
      const write = { file_system: { write: [outside] } };
      model.reply(ask(write), patch(join(outside, "a.txt")), say("done"));
      const turnId = await client.say(threadId, "write there");
      const question = await asked(client);
      const permissions = { network: null, fileSystem: { read: null, write: [outside] } };
      expect(question.params).toMatchObject({
        itemId: "call_1",
        environmentId: "local",
        cwd,
        reason: "I need it",
        permissions,
      });
      client.send({
        id: question.id,
        result: { permissions: { fileSystem: permissions.fileSystem }, scope },
      });
      await client.turnCompleted(turnId);
      expect(outputOf(model, 1)).toBe(`Granted for this ${scope}: writing to ${outside}.`);
      expect(outputOf(model, 2)).toContain("Success. Updated the following files:");
      expect(client.told("item/fileChange/requestApproval")).toEqual([]);

      model.reply(patch(join(outside, "b.txt"), "call_3"), say("done"));
      const next = await client.say(threadId, "once more");
      if (scope === "turn") {
        const again = ({ method }: Received) => method === "item/fileChange/requestApproval";
        client.send({ id: (await client.waitFor(again, "a question")).id, result: { decision: "decline" } });
      }
      await client.turnCompleted(next);
      expect(client.told("item/fileChange/requestApproval")).toHaveLength(scope === "turn" ? 1 : 0);
    },
  );

  it.each([
    ["nothing", { permissions: {}, scope: "turn" }],
    ["more than was asked", { permissions: { network: { enabled: true } }, scope: "session" }],
  ])("[PERMIT-2] answered with %s grants nothing, and the model gets that answer", async (_, result) => {
    const { model, client, threadId } = await stage();
    model.reply(ask({ file_system: { write: ["/srv"] } }), say("done"));
    const turnId = await client.say(threadId, "write there");
    client.send({ id: (await asked(client)).id, result });
    await client.turnCompleted(turnId);
    expect(outputOf(model, 1)).toContain("No permissions were granted: the user declined it");
  });

  it("[PERMIT-3] asks only for missing permissions, and never for the home of the host", async () => {
    const { model, home, cwd, client, threadId } = await stage();
    await writeFile(join(cwd, "a"), "");
    model.reply(
      ask({ file_system: { read: ["/etc"], write: ["a"] } }),
      ask({ file_system: { write: [join(home, "rules")] } }, "call_2"),
      ask({ file_system: { write: ["/"] } }, "call_3"),
      say("done"),
    );
    await client.turn(threadId, "ask");
    expect(client.told(METHOD)).toEqual([]);
    expect(outputOf(model, 1)).toContain("Nothing is missing");
    expect(outputOf(model, 2)).toContain("the home of this host is never given away");
    expect(outputOf(model, 3)).toContain("the home of this host is never given away");
  });

  it("[PERMIT-4] is no tool of threads that have no sandbox, or may not ask", async () => {
    for (const top of [['sandbox_mode = "danger-full-access"'], ['approval_policy = "never"']]) {
      const { model, client, threadId } = await stage(top);
      await client.turn(threadId, "hello");
      const names = model.asked[0]!.body.tools.map(({ name }: { name: string }) => name);
      expect(names).not.toContain("request_permissions");
    }
  });
});
