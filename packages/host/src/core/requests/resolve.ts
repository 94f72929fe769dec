import type { ToolRequestUserInputResponse } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import { abortAsideReviews } from "../reviews/ended.ts";
import type { ThreadState } from "../state.ts";
import { networkAnswered } from "./network.ts";
import type { Aside, PendingRequest, RequestAnswer } from "./records.ts";

/** A question has its answer, and what a tool server asked is on its way back to it. */
export function resolve(request: PendingRequest, at: number, answer: RequestAnswer): readonly ThreadRecord[] {
  const { id: requestId, callId, aside } = request;
  const sealed = aside?.kind === "oauth" ? { sealed: true as const } : {};
  const resolved: ThreadRecord = { type: "requestResolved", at, requestId, answer, ...sealed };
  if (aside?.kind === "network") return [resolved, ...networkAnswered(request, aside, at, answer)];
  // Nobody waits for what was cleared.
  if (aside?.kind !== "choice" || answer.kind === "cleared") return [resolved];
  const { server, responseUrl, key } = aside;
  const choice = { requestId, callId, server, responseUrl, key, selected: selected(aside, answer) };
  return [resolved, { type: "choiceMade", at, choice }];
}

/** What was asked for a call is of no use when the call is over. `goesOn`: its command is not. */
export function clearAsides(
  state: ThreadState,
  at: number,
  callId: string,
  goesOn = false,
): readonly ThreadRecord[] {
  const asides = state.requests.filter(
    ({ aside, callId: of }) => aside !== undefined && of === callId && !(goesOn && aside.kind === "network"),
  );
  return [
    ...asides.flatMap((request) => resolve(request, at, { kind: "cleared" })),
    ...(goesOn ? [] : abortAsideReviews(state, at, callId)),
  ];
}

/** Withdraws what commands ask about hosts: they are gone, or the turn is that it belongs to. */
export function clearNetwork(state: ThreadState, at: number): readonly ThreadRecord[] {
  return [
    ...state.requests
      .filter(({ aside }) => aside?.kind === "network")
      .flatMap((request) => resolve(request, at, { kind: "cleared" })),
    ...abortAsideReviews(state, at),
  ];
}

/** It does not end with the turn: it is asked for a call that goes on without it. */
export function outlivesTurn({ rap }: ThreadState, { callId }: PendingRequest): boolean {
  return rap.late.some((late) => late.callId === callId);
}

/** A user who says nothing that was offered says what stands in for it. */
function selected({ choices, fallback }: Extract<Aside, { kind: "choice" }>, answer: RequestAnswer): number {
  if (answer.kind !== "result") return fallback;
  const { answers } = answer.result as ToolRequestUserInputResponse;
  const [label] = Object.values(answers).flatMap((one) => one?.answers ?? []);
  const index = label === undefined ? -1 : choices.indexOf(label);
  return index < 0 ? fallback : index;
}
