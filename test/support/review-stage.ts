// Starts a real host whose threads have approvals reviewed by a model, with a local model that plays the agent and
// the reviewer.
import { type HostProcess, spawnHost } from "./host-process.ts";
import { type Asked, MockModel, type Reply } from "./mock-model.ts";
import { modelHome } from "./model-home.ts";
import { say } from "./model-replies.ts";
import type { Received, WireClient } from "./wire-client.ts";

export const verdict = (outcome: "allow" | "deny", more: object = {}): Reply => {
  const reason = { risk_level: "high", user_authorization: "low", rationale: "A reason." };
  return say(JSON.stringify({ ...reason, outcome, ...more }));
};

export const REVIEWED = [
  'sandbox_mode = "workspace-write"',
  'approval_policy = "on-request"',
  'approvals_reviewer = "auto_review"',
];

/** A request to the reviewer, and what it was shown. */
interface Shown {
  readonly asked: Asked;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent.
  readonly shown: any;
}

/** A model that plays two roles. Each role has its own replies, the last of which is repeated. */
export class Cast {
  readonly agent: Asked[] = [];
  readonly reviewer: Shown[] = [];
  readonly reply: Reply;

  constructor(agent: readonly Reply[], reviewer: readonly Reply[]) {
    this.reply = (response, asked) => {
      if (!asked.body.instructions.includes("in place of a person")) {
        const at = Math.min(this.agent.push(asked), agent.length);
        return agent[at - 1]!(response, asked);
      }
      const shown = JSON.parse(asked.body.input.at(-1).content[0].text);
      const at = Math.min(this.reviewer.push({ asked, shown }), reviewer.length);
      return reviewer[at - 1]!(response, asked);
    };
  }

  /** The outputs of the agent's tool calls in its nth request. */
  outputs(nth: number): string[] {
    return this.agent[nth]!.body.input.flatMap((item: { type: string; output: string }) =>
      item.type === "function_call_output" ? [item.output] : [],
    );
  }

  get lastOutput(): string {
    return this.outputs(this.agent.length - 1).at(-1)!;
  }
}

export interface ReviewStage {
  readonly cast: Cast;
  readonly host: HostProcess;
  readonly client: WireClient;
  readonly threadId: string;
  readonly cwd: string;
  readonly home: string;
}

export async function reviewStage(
  agent: readonly Reply[],
  reviewer: readonly Reply[],
  top: readonly string[] = REVIEWED,
  provider: readonly string[] = [],
): Promise<ReviewStage> {
  const cast = new Cast(agent, reviewer);
  const model = await MockModel.start(cast.reply);
  const { home, cwd } = await modelHome("responses", model.url, { top, provider });
  const host = await spawnHost({
    home,
    args: ["--listen", "ws://127.0.0.1:0"],
    env: { SHELL: "/bin/bash" },
  });
  const client = await host.join(undefined, { experimentalApi: true });
  return { cast, host, client, threadId: await client.startThread({ cwd }), cwd, home };
}

/** A summary of a turn. */
export function reviewStory(frames: readonly Received[]): string[] {
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

const reviewedAs = (status: string) => [
  "item/autoApprovalReview/started inProgress",
  "guardianWarning",
  `item/autoApprovalReview/completed ${status}`,
];

/** The frames of a review that approves, or does not. */
export const APPROVED = reviewedAs("approved");
export const DENIED = reviewedAs("denied");

/** The frames of a denied command or patch, and of the end of its turn. */
export const DECLINED = ["item/started inProgress", ...DENIED, "item/completed declined", "turn completed"];
