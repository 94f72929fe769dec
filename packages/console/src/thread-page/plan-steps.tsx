import type { TurnPlanStep } from "@bobbin/protocol";
import { CheckIcon, PlanIcon } from "../parts/icons.tsx";

const STATES = { pending: "to do", inProgress: "in progress", completed: "done" } as const;

interface Props {
  readonly explanation: string | null;
  readonly steps: readonly TurnPlanStep[];
}

/** The plan that the model announced, with the state of each step. */
export function PlanSteps({ explanation, steps }: Props) {
  const done = steps.filter(({ status }) => status === "completed").length;
  return (
    <div class="plan" role="group" aria-label="Plan">
      <h3>
        <PlanIcon />
        Plan
        <span class="facts">{`${done} of ${steps.length}`}</span>
      </h3>
      {explanation ? <p class="dim">{explanation}</p> : null}
      <ol>
        {steps.map(({ step, status }, at) => (
          <li key={at} class={status}>
            <span class="box" aria-hidden="true">
              {status === "completed" ? <CheckIcon /> : null}
            </span>
            <span>{step}</span>
            <span class="visually-hidden">{STATES[status]}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
