import { withApproval } from "../../packages/host/src/tool/consent/tool-approval.ts";
import { refusal, type ToolSource } from "../../packages/host/src/tool/tool.ts";
import { deedTool, nthDeed } from "./deeds.ts";

/** A tool that records what it did, and needs approval before. */
export function askedDeeds(done: number[]): ToolSource {
  const tool = withApproval(
    { ...deedTool(done), late: () => refusal("late") },
    ({ thread, turnId, call, args }) => ({
      key: "",
      ask: {
        method: "item/commandExecution/requestApproval",
        params: {
          threadId: thread.facts.id,
          turnId,
          itemId: call.callId,
          kind: "command",
          startedAtMs: 1,
          environmentId: null,
          command: `act ${nthDeed(args)}`,
        },
      },
    }),
  );
  return { tools: () => [tool] };
}
