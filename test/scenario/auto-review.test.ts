// A model judges approvals in place of a person: on the real program, with a local model that plays the agent and the
// reviewer. The orders are those that the Codex CLI was recorded with.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { type Asked, MockModel, type Reply, responses, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const say = (text: string): Reply => stream(responses.stream(responses.message(text)));
const escalated = (cmd: string, callId = "call_1"): Reply => {
  const args = { cmd, login: false, sandbox_permissions: "require_escalated", justification: "May I?" };
  return stream(responses.stream(responses.call("exec_command", JSON.stringify(args), callId)));
};
const verdict = (outcome: "allow" | "deny", more: object = {}): Reply =>
  say(
    JSON.stringify({
      risk_level: "high",
      user_authorization: "low",
      outcome,
      rationale: "A reason.",
      ...more,
    }),
  );

const REVIEWED = [
  'sandbox_mode = "workspace-write"',
  'approval_policy = "on-request"',
  'approvals_reviewer = "auto_review"',
];

/** A model that plays two parts, each with its own replies, the last one again and again. */
class Cast {
  readonly agent: Asked[] = [];
  readonly reviewer: Asked[] = [];
  readonly reply: Reply;

  constructor(agent: readonly Reply[], reviewer: readonly Reply[]) {
    this.reply = (response, asked) => {
      const reviews = asked.body.instructions.includes("in place of a person");
      const [seen, replies] = reviews ? [this.reviewer, reviewer] : [this.agent, agent];
      seen.push(asked);
      return replies[Math.min(seen.length, replies.length) - 1]!(response, asked);
    };
  }

  /** What the agent was given for its last call of a tool. */
  get lastOutput(): string {
    const outputs = this.agent
      .at(-1)!
      .body.input.filter(({ type }: { type: string }) => type === "function_call_output");
    return outputs.at(-1).output;
  }
}

interface Stage {
  readonly cast: Cast;
  readonly host: HostProcess;
  readonly client: WireClient;
  readonly threadId: string;
  readonly cwd: string;
  readonly home: string;
}

async function stage(
  agent: readonly Reply[],
  reviewer: readonly Reply[],
  top: readonly string[] = REVIEWED,
): Promise<Stage> {
  const cast = new Cast(agent, reviewer);
  const model = await MockModel.start(cast.reply);
  const { home, cwd } = await modelHome("responses", model.url, { top });
  const host = await spawnHost({
    home,
    args: ["--listen", "ws://127.0.0.1:0"],
    env: { SHELL: "/bin/bash" },
  });
  const client = await host.join(undefined, { experimentalApi: true });
  return { cast, host, client, threadId: await client.startThread({ cwd }), cwd, home };
}

/** What became of a turn, in short. */
function story(frames: readonly Received[]): string[] {
  return frames.flatMap(({ method, params }) => {
    switch (method) {
      case "item/autoApprovalReview/started":
      case "item/autoApprovalReview/completed":
        return [`${method} ${params.review.status}`];
      case "turn/completed":
        return [`turn ${params.turn.status}`];
      case "guardianWarning":
      case "serverRequest/resolved":
      case "item/commandExecution/requestApproval":
      case "item/fileChange/requestApproval":
      case "item/permissions/requestApproval":
        return [method];
      default: {
        const { type, status } = params?.item ?? {};
        return type === "commandExecution" || type === "fileChange" ? [`${method} ${status}`] : [];
      }
    }
  });
}

describe("a command that asks, with auto review", () => {
  it("[AUTOREV-1] is judged by a model and runs when that allows it", async () => {
    const file = join(await freshFolder(), "a");
    const { cast, client, threadId, cwd } = await stage(
      [escalated(`touch ${file} && echo ran`), say("done")],
      [verdict("allow", { risk_level: "low", user_authorization: "high" })],
    );
    const from = client.frames.length;
    const turnId = await client.turn(threadId, "please touch it");
    const frames = client.frames.slice(from);
    expect(story(frames)).toEqual([
      "item/started inProgress",
      "item/autoApprovalReview/started inProgress",
      "guardianWarning",
      "item/autoApprovalReview/completed approved",
      "item/completed completed",
      "turn completed",
    ]);
    expect(existsSync(file)).toBe(true);
    expect(cast.lastOutput).toMatch(/exit code 0[\s\S]*ran/);
    const action = {
      type: "command",
      source: "unifiedExec",
      command: `/bin/bash -c 'touch ${file} && echo ran'`,
      cwd,
    };
    const [started] = client.told("item/autoApprovalReview/started");
    expect(started!.params).toEqual({
      threadId,
      turnId,
      startedAtMs: expect.any(Number),
      reviewId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      targetItemId: "call_1",
      review: { status: "inProgress", riskLevel: null, userAuthorization: null, rationale: null },
      action,
    });
    const [completed] = client.told("item/autoApprovalReview/completed");
    expect(completed!.params).toEqual({
      ...started!.params,
      completedAtMs: expect.any(Number),
      decisionSource: "agent",
      review: {
        status: "approved",
        riskLevel: "low",
        userAuthorization: "high",
        rationale: "A reason.",
      },
    });
  });
});
