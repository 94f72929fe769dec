import "../style/goal.css";
import { attempt } from "../parts/request-failure.ts";
import { CancelButton, Dialog } from "./dialog.tsx";
import type { ThreadPageData } from "./thread-page-data.ts";

const MAX_OBJECTIVE = 4000;

/** Sets the goal of a thread, or changes it. */
export function GoalDialog({ page }: { page: ThreadPageData }) {
  const { goal } = page.session.state.value;
  return (
    <Dialog page={page} name="Goal of the thread">
      <form
        method="dialog"
        class="goal-form"
        onSubmit={(event) => {
          const form = new FormData(event.currentTarget);
          const budget = Number(form.get("budget"));
          const objective = String(form.get("objective")).trim();
          const tokenBudget = budget > 0 ? budget : null;
          void attempt(() => page.session.setGoal({ objective, tokenBudget, status: "active" }));
        }}
      >
        <p class="dim">
          The thread works towards its goal by itself, turn after turn, until it is reached, paused, or its
          budget is used up.
        </p>
        <label class="field">
          <span>Goal</span>
          <textarea
            class="text"
            name="objective"
            rows={4}
            required
            maxLength={MAX_OBJECTIVE}
            defaultValue={goal?.objective ?? ""}
          />
        </label>
        <label class="field">
          <span>Budget in tokens (empty: none)</span>
          <input
            class="text"
            name="budget"
            type="number"
            min={1}
            step={1}
            defaultValue={goal?.tokenBudget == null ? "" : String(goal.tokenBudget)}
          />
        </label>
        <div class="answers">
          <button type="submit" class="primary">
            {goal === null ? "Set the goal" : "Change the goal"}
          </button>
          <CancelButton page={page} />
        </div>
      </form>
    </Dialog>
  );
}
