import type { LastHooks } from "../hooks/records.ts";
import type { TurnState } from "../state.ts";
import type { CallState } from "./call-stages.ts";
import { callsOf, type TurnPhase } from "./phase.ts";
import type { Compacting } from "./records.ts";

/**
 * A running turn in a checkpoint. The format on disk is older than `TurnPhase`: several fields together encode the
 * phase.
 */
export type CheckpointTurn = Omit<TurnState, "phase" | "pendingInput"> & {
  readonly unheard: boolean;
  /** Whether the model's answer is complete. */
  readonly sampled: boolean;
  readonly retryAt: number | null;
  readonly shown: boolean;
  readonly compacting: Compacting | null;
  readonly calls: readonly CallState[];
  readonly lastHooks?: LastHooks | undefined;
};

export function turnInCheckpoint({ phase, pendingInput, ...turn }: TurnState): CheckpointTurn {
  return {
    ...turn,
    unheard: pendingInput,
    sampled: phase.kind !== "sampling" && phase.kind !== "compacting",
    retryAt: "due" in phase ? phase.due : null,
    shown: phase.kind === "sampling" && phase.shown,
    compacting: phase.kind === "compacting" ? phase.how : null,
    calls: callsOf({ phase }),
    ...(phase.kind === "hooks" && { lastHooks: phase.event }),
  };
}

export function turnFromCheckpoint(saved: CheckpointTurn): TurnState {
  const { unheard, sampled, retryAt, shown, compacting, calls, lastHooks, ...turn } = saved;
  const phase = phaseOf({ sampled, retryAt, shown, compacting, calls, lastHooks, attempt: turn.attempt });
  return { ...turn, pendingInput: unheard, phase };
}

type PhaseFields = Pick<
  CheckpointTurn,
  "sampled" | "retryAt" | "shown" | "compacting" | "calls" | "lastHooks" | "attempt"
>;

/** Decodes the phase. */
function phaseOf(saved: PhaseFields): TurnPhase {
  const { sampled, retryAt: due, shown, compacting, calls, lastHooks, attempt } = saved;
  if (compacting !== null) return { kind: "compacting", due, how: compacting };
  if (!sampled) return { kind: "sampling", due, shown, calls };
  if (lastHooks !== undefined) return { kind: "hooks", event: lastHooks };
  if (calls.some(({ stage }) => stage.kind !== "settled")) return { kind: "calling", calls };
  return attempt === 0 ? { kind: "shell" } : { kind: "ending" };
}
