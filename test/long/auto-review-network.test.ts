// Hosts that commands connect to, judged by a model: on the real program, with real processes and a local model that plays
// the agent and the reviewer.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasLocalName, localName } from "../support/local-name.ts";
import { silent } from "../support/mock-model.ts";
import { callTool, say } from "../support/model-replies.ts";
import { APPROVED, DENIED, reviewStage, reviewStory, verdict } from "../support/review-stage.ts";
import { hasSandbox } from "../support/sandbox-here.ts";

const { name = "", address = "" } = localName ?? {};

const CONFIG = [
  'approval_policy = "on-request"',
  'approvals_reviewer = "auto_review"',
  'default_permissions = "net"',
  "[permissions.net]",
  'extends = ":workspace"',
  "[permissions.net.network]",
  "enabled = true",
  "[permissions.net.network.domains]",
  `"${address}" = "allow"`,
];

let server: Server;
let port: number;
let served: number;

beforeEach(async () => {
  served = 0;
  server = createServer((_, reply) => {
    served++;
    reply.end("hello from outside\n");
  });
  await new Promise<void>((done) => server.listen(0, address, done));
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const curl = (path: string) => `curl -sS http://${name}:${port}/${path}`;
const run = (cmd: string, callId = "call_1") => callTool("exec_command", { login: false, cmd }, callId);

describe.runIf(hasSandbox && hasLocalName)("a host that a command connects to, with auto review", () => {
  it("[AUTOREV-14] is reviewed once for all connections of the command, with the command as its trigger", async () => {
    const cmd = `${curl("a")} & ${curl("b")} & wait; ${curl("c")}`;
    const { cast, client, threadId, cwd } = await reviewStage(
      [run(cmd), say("done")],
      [verdict("allow")],
      CONFIG,
    );
    const from = client.frames.length;
    const turnId = await client.turn(threadId, "go");
    expect(reviewStory(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      ...APPROVED,
      "item/completed completed",
      "turn completed",
    ]);
    expect(served).toBe(3);
    expect(client.told("item/autoApprovalReview/started")[0]!.params).toMatchObject({
      threadId,
      turnId,
      targetItemId: null,
      action: {
        type: "networkAccess",
        target: `http://${name}:${port}`,
        host: name,
        protocol: "http",
        port,
      },
    });
    expect(cast.reviewer).toHaveLength(1);
    expect(cast.reviewer[0]!.shown.action).toMatchObject({
      type: "networkAccess",
      trigger: { command: expect.stringContaining("curl"), cwd },
    });
  });

  it("[AUTOREV-14] is not connected to when the reviewer denies it, and the command goes on", async () => {
    const { cast, client, threadId } = await reviewStage(
      [run(`${curl("a")} -v; echo went on`), say("done")],
      [verdict("deny", { rationale: "Nobody asked for it." })],
      CONFIG,
    );
    const from = client.frames.length;
    await client.turn(threadId, "go");
    expect(reviewStory(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      ...DENIED,
      "item/completed completed",
      "turn completed",
    ]);
    expect(served).toBe(0);
    expect(cast.lastOutput).toContain("went on");
  });

  it("[AUTOREV-14] is given up with its turn", async () => {
    const { client, threadId } = await reviewStage([run(curl("a")), say("done")], [silent("")], CONFIG);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    await client.about(threadId, "item/autoApprovalReview/started");
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    expect(reviewStory(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      "item/autoApprovalReview/started inProgress",
      "item/autoApprovalReview/completed aborted",
      "item/completed failed",
      "turn interrupted",
    ]);
    expect(served).toBe(0);
  });
});
