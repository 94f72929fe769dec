import type { CallEffect } from "../core/next.ts";
import { readableAnswer } from "../core/requests/recorded-answer-check.ts";
import type { ThreadState } from "../core/state.ts";
import type { CallStage } from "../core/turn/call-stages.ts";
import { OUTCOME_UNKNOWN } from "../core/turn/dead-host-recovery.ts";
import type { ThreadJournal } from "../store/journal.ts";
import { type LiveOutput, refusal, type Step, type Tool } from "../tool/tool.ts";
import type { Toolbox } from "../tool/toolbox.ts";

/** Asks the tool of a call for the next step. */
export async function nextStep(
  toolbox: Toolbox,
  { turnId, call, stage }: CallEffect,
  thread: ThreadState,
  now: number,
  signal: AbortSignal,
  live: LiveOutput,
  journal: Pick<ThreadJournal, "isHeld">,
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
        await tool.heard!(
          invocation,
          { name: stage.question, method: stage.method },
          readableAnswer(stage.method, stage.answer),
        ),
      );
    case "dispatched":
      // Since the dispatch, a tool of another server has taken this name. That server must not get the call.
      if (stage.via !== tool.via) return refusal(TOOL_GONE);
      // The store refuses only writes of a host that lost the thread. Calling the tool here would repeat a call that
      // the other host makes.
      if (!(await journal.isHeld()) || signal.aborted) throw new Error("the call was given up");
      return tool.perform!({ ...invocation, plan: stage.plan }, signal, live);
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

/** The step of a call whose tool was removed in between. */
function withoutTool(stage: CallStage): Step | undefined {
  if (stage.kind === "waiting") return tooLate(stage);
  return stage.kind === "dispatched" ? refusal(TOOL_GONE) : undefined;
}
