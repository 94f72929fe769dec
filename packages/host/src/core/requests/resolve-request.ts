import type { ToolRequestUserInputResponse } from "@bobbin/protocol";
import { abortAsideReviews } from "../approval-reviews/review-end.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { serverAnswered } from "./mcp-server-answers.ts";
import { networkAnswered } from "./network-questions.ts";
import { type Aside, isSealed, type PendingRequest, type RequestAnswer } from "./records.ts";

/** The records for an answered request: that it is resolved, and the consequences of the answer. */
export function resolve(request: PendingRequest, at: number, answer: RequestAnswer): readonly ThreadRecord[] {
  const { id: requestId, callId, aside } = request;
  const sealed = isSealed(request) ? { sealed: true as const } : {};
  const resolved: ThreadRecord = { type: "requestResolved", at, requestId, answer, ...sealed };
  if (aside?.kind === "network") return [resolved, ...networkAnswered(request, aside, at, answer)];
  if (aside?.kind === "server") return [resolved, ...serverAnswered(request, aside, at, answer)];
  // The tool server gets no choice if its question was withdrawn.
  if (aside?.kind !== "choice" || answer.kind === "cleared") return [resolved];
  const { server, responseUrl, key } = aside;
  const choice = { requestId, callId, server, responseUrl, key, selected: selected(aside, answer) };
  return [resolved, { type: "choiceMade", at, choice }];
}

/**
 * Withdraws the requests of an ended call. `goesOn`: the call's command continues in the background, and its network
 * questions stay.
 */
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

/** Withdraws all questions about network hosts, because the commands or the turn have ended. */
export function clearNetwork(state: ThreadState, at: number): readonly ThreadRecord[] {
  return [
    ...state.requests
      .filter(({ aside }) => aside?.kind === "network")
      .flatMap((request) => resolve(request, at, { kind: "cleared" })),
    ...abortAsideReviews(state, at),
  ];
}

/** The index of the user's choice. If the answer is none of the choices, the fallback. */
function selected({ choices, fallback }: Extract<Aside, { kind: "choice" }>, answer: RequestAnswer): number {
  if (answer.kind !== "result") return fallback;
  const { answers } = answer.result as ToolRequestUserInputResponse;
  const [label] = Object.values(answers).flatMap((one) => one?.answers ?? []);
  const index = label === undefined ? -1 : choices.indexOf(label);
  return index < 0 ? fallback : index;
}
