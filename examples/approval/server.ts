import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createToolServer, type ToolServer, type ToolServerOptions, tool } from "@bobbin/rap";
import { z } from "zod";

const ONCE = "Deploy this once";
const ALWAYS = "Deploy, and do not ask again in this thread";
const NO = "Do not deploy";

export interface ApprovalOptions extends Omit<ToolServerOptions, "name" | "tools"> {
  /** Folder of the file deployments.jsonl. */
  readonly folder: string;
}

/** An example of a tool that asks the user first. It does not deploy, but appends each deployment to a file. */
export function createApprovalServer({ folder, ...options }: ApprovalOptions): ToolServer {
  const deploy = tool({
    name: "deploy",
    description: "Deploys a service, after the user has agreed. May take as long as they think about it.",
    input: z.object({
      service: z.string().regex(/^[a-z][a-z0-9-]*$/),
      environment: z.enum(["staging", "production"]),
    }),
    annotations: { longRunning: true },
    async run({ service, environment }, ctx) {
      // Asks before any side effect: if this server restarts during the wait, `run` starts again.
      const { label } = await ctx.choose({
        prompt: `Deploy ${service} to ${environment}?`,
        choices: [ONCE, ALWAYS, NO],
        default: 2,
        remember: { key: `deploy to ${environment}`, labels: [ALWAYS] },
      });
      if (label === NO)
        return `The user does not want ${service} in ${environment}. Ask them what to do instead.`;
      const line = { service, environment, by: ctx.userId ?? null, at: new Date().toISOString() };
      await mkdir(folder, { recursive: true });
      await appendFile(join(folder, "deployments.jsonl"), `${JSON.stringify(line)}\n`);
      ctx.display({ type: "text", content: `${service} → ${environment}` });
      return { deployed: line };
    },
  });
  return createToolServer({ name: "approval", description: "Deployments", tools: [deploy], ...options });
}
