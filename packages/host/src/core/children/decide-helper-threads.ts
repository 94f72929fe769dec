import type { CollabAgentState } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { HelperCommand } from "./commands.ts";
import {
  inOrder,
  isAwaited,
  isBeingClosed,
  spawnFailed,
  spawnSettled,
  waitsSettled,
} from "./helper-call-outcomes.ts";
import { findHelper, type Helper, isFinal, SHUT_DOWN } from "./helper-thread-state.ts";

/** Decides commands about a thread's helpers. Commands about unknown helpers have no effect. */
export function decideHelperThreads(state: ThreadState, command: HelperCommand): readonly ThreadRecord[] {
  if (state.status.type === "notLoaded") return [];
  const { at, childId } = command;
  const helper = findHelper(state.helpers, childId);
  if (helper === undefined) return [];
  switch (command.kind) {
    case "helperMade":
      if (helper.start === null) return [];
      return [{ type: "helperMade", at, childId, heard: command.heard }, ...spawnSettled(state, at, childId)];
    case "helperFailed":
      if (helper.start !== null)
        return [{ type: "helperClosed", at, childId }, ...spawnFailed(state, at, childId, command.why)];
      return hear(state, helper, {
        at,
        seq: helper.heard,
        taken: [],
        states: [{ status: "errored", message: command.why }],
        closed: true,
      });
    case "helperInputTaken": {
      const { inputId, seq } = command;
      if (!helper.inputs.some(({ id }) => id === inputId)) return [];
      return [{ type: "helperInputTaken", at, childId, inputId, seq }];
    }
    case "hearHelper":
      if (helper.start !== null || command.seq <= helper.heard) return [];
      return hear(state, helper, command);
  }
}

/**
 * Records the news from a helper's journal. The model learns of a helper's end exactly once: from the output of the
 * tool call that waits for the end, or from a note before the next model call.
 */
function hear(
  state: ThreadState,
  before: Helper,
  {
    at,
    seq,
    taken,
    states,
    closed,
  }: Omit<Extract<HelperCommand, { kind: "hearHelper" }>, "kind" | "childId">,
): readonly ThreadRecord[] {
  const { childId } = before;
  const inputs = before.inputs.filter(({ id }) => !taken.includes(id));
  const known = before.inputs.filter(({ id }) => taken.includes(id));
  const steps = ended({ ...before, inputs }, states, closed).map(
    ({ next, isEnd }) =>
      (now: ThreadState): readonly ThreadRecord[] => {
        const awaited = isEnd && isAwaited(now, childId) && (closed || inputs.length === 0);
        const untold = isEnd && !awaited && !isBeingClosed(now, childId);
        return [
          { type: "helperHeard", at, childId, seq, state: next, untold },
          ...(awaited ? waitsSettled(now, at, childId, next) : []),
        ];
      },
  );
  return [
    // The helper has these inputs already: the host that delivered them died before it recorded the delivery.
    ...known.map(
      ({ id }): ThreadRecord => ({ type: "helperInputTaken", at, childId, inputId: id, seq: null }),
    ),
    ...inOrder(state, steps),
    ...(closed ? ([{ type: "helperClosed", at, childId }] as const) : []),
  ];
}

/** The successive states of a helper. `isEnd`: the state ends the helper's work. */
function ended(
  { state, inputs }: Helper,
  heard: readonly CollabAgentState[],
  closed: boolean,
): readonly { readonly next: CollabAgentState; readonly isEnd: boolean }[] {
  let atWork = !isFinal(state) || inputs.length > 0;
  const states = heard.map((next) => {
    const isEnd = atWork && isFinal(next);
    atWork = !isFinal(next) || inputs.length > 0;
    return { next, isEnd };
  });
  // Closing the thread of a busy helper ends the helper's work.
  return closed && atWork ? [...states, { next: SHUT_DOWN, isEnd: true }] : states;
}
