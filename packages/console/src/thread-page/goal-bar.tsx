import type { ThreadGoal, ThreadGoalStatus } from "@bobbin/protocol";
import "../style/goal.css";
import { countText, durationText } from "../parts/quantity-text.ts";
import { attempt } from "../parts/request-failure.ts";
import type { ThreadPageData } from "./thread-page-data.ts";

const STATUS: Readonly<Record<ThreadGoalStatus, string>> = {
  active: "Active",
  paused: "Paused",
  blocked: "Blocked",
  usageLimited: "Usage limit reached",
  budgetLimited: "Budget used up",
  complete: "Reached",
};

const CHIP: Partial<Record<ThreadGoalStatus, string>> = {
  blocked: "failed",
  usageLimited: "waiting",
  budgetLimited: "waiting",
};

/** The goal of the thread: its state, what it has used, and buttons that change it. */
export function GoalBar({ page, goal }: { page: ThreadPageData; goal: ThreadGoal }) {
  const { status, objective, tokenBudget, tokensUsed } = goal;
  const { session, dialog } = page;
  const edit = () => {
    dialog.value = { kind: "goal" };
  };
  const set = (next: ThreadGoalStatus) => void attempt(() => session.setGoal({ status: next }));
  return (
    <section class="goal" aria-label="Goal">
      <div class="goal-text">
        <h2>Goal</h2>
        <p title={objective}>{objective}</p>
      </div>
      <div class="goal-facts">
        <span class={`chip ${CHIP[status] ?? ""}`}>{STATUS[status]}</span>
        <span class="facts">{usageText(goal)}</span>
        {tokenBudget === null ? null : (
          <progress aria-label="Part of the budget that is used" max={tokenBudget} value={tokensUsed} />
        )}
        <span class="goal-buttons">
          {status === "active" ? (
            <button type="button" class="small" onClick={() => set("paused")}>
              Pause
            </button>
          ) : null}
          {status === "active" || status === "complete" ? null : (
            // A goal that has used up its budget needs a larger one first, so the dialog is opened instead.
            <button
              type="button"
              class="small"
              onClick={() => (status === "budgetLimited" ? edit() : set("active"))}
            >
              Resume
            </button>
          )}
          <button type="button" class="quiet small" onClick={edit}>
            Change …
          </button>
          <button type="button" class="quiet small" onClick={() => void attempt(() => session.clearGoal())}>
            Clear
          </button>
        </span>
      </div>
    </section>
  );
}

function usageText({ tokensUsed, tokenBudget, timeUsedSeconds }: ThreadGoal): string {
  const budget = tokenBudget === null ? "" : ` of ${countText(tokenBudget)}`;
  const time = timeUsedSeconds === 0 ? "" : ` · ${durationText(timeUsedSeconds * 1000)}`;
  return `${countText(tokensUsed)}${budget} tokens${time}`;
}
