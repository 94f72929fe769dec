import type { CallEffect } from "../core/next.ts";
import type { ThreadState } from "../core/state.ts";
import type { CallStage } from "../core/turn/calls.ts";
import { OUTCOME_UNKNOWN } from "../core/turn/restart.ts";
import { type LiveOutput, refusal, type Step, type Tool } from "../tool/tool.ts";
import type { Toolbox } from "../tool/toolbox.ts";

/** Has the tool that a call names say what comes next. */
export async function nextStep(
  toolbox: Toolbox,
  { turnId, call, stage }: CallEffect,
  thread: ThreadState,
  now: number,
  signal: AbortSignal,
  live: LiveOutput,
): Promise<Step> {
  const found = await toolbox.find(thread, call);
  if ("refused" in found) return withoutTool(stage) ?? found.refused;
  const { tool, args } = found;
  const shown = thread.turn?.open.find(({ id }) => id === call.callId);
  const invocation = { thread, turnId, call, args, startedAt: shown?.startedAtMs ?? now, now };
  switch (stage.kind) {
    case "proposed":
      return sentVia(tool, await tool.begin(invocation));
    case "heard":
      return sentVia(
        tool,
        await tool.heard!(invocation, { name: stage.question, method: stage.method }, stage.answer),
      );
    case "dispatched":
      // Another tool server has the name by now: it is not to get what was meant for the first.
      return stage.via === tool.via
        ? tool.perform!({ ...invocation, plan: stage.plan }, signal, live)
        : refusal(TOOL_GONE);
    case "waiting":
      return tool.late?.(invocation, !stage.unacknowledged) ?? tooLate(stage);
    default:
      throw new Error(`a call that is ${stage.kind} has no next step`);
  }
}

const TOO_LATE = "The tool did not answer in time.";
const TOOL_GONE =
  "The tool is not there any more, and whether it had its effect is not known. Look before you try again.";

function tooLate({ unacknowledged }: Extract<CallStage, { kind: "waiting" }>): Step {
  return refusal(unacknowledged ? OUTCOME_UNKNOWN : TOO_LATE);
}

function sentVia({ via }: Tool, step: Step): Step {
  return step.kind === "dispatch" && via !== undefined ? { ...step, via } : step;
}

/** What a call comes to whose tool went away while it was under way. */
function withoutTool(stage: CallStage): Step | undefined {
  if (stage.kind === "waiting") return tooLate(stage);
  return stage.kind === "dispatched" ? refusal(TOOL_GONE) : undefined;
}
