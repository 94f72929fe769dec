import { type Fault, fault } from "../../errors.ts";
import type { ThreadRecord } from "../records.ts";
import type { Aside, Ask } from "../requests/records.ts";
import { resolve } from "../requests/resolve-request.ts";
import type { ThreadState } from "../state.ts";
import { findCall } from "../turn/call-list.ts";
import { isOutside } from "../turn/call-stages.ts";
import { runningCalls } from "../turn/phase.ts";
import type { RapCommand } from "./commands.ts";
import { outsideCall } from "./deferred-calls.ts";
import { isFullFor } from "./memory-limit.ts";
import type { OutsideCall } from "./records.ts";

type AskChoice = Extract<RapCommand, { kind: "askChoice" }>;
type AskOAuth = Extract<RapCommand, { kind: "askOAuth" }>;

/** Limit on the open questions per call, including those whose answer was not delivered yet. */
const MAX_QUESTIONS = 16;

/**
 * A tool server asks the user to choose, while its call waits. A repeated question is ignored until the answer was
 * delivered. After that the repeat counts as a new question, unless the sender named it (`named`).
 */
export function askChoice(state: ThreadState, command: AskChoice): readonly ThreadRecord[] | Fault {
  const { requests, rap, facts } = state;
  const { at, callId, requestId, server, prompt, choices, fallback, responseUrl, key, named } = command;
  const asking = callOf(state, callId);
  const known =
    requests.some(({ aside }) => aside?.kind === "choice" && aside.key === key) ||
    rap.choices.some((choice) => choice.key === key) ||
    (named && rap.keys.includes(key));
  if (asking === undefined || known) return [];
  const open = [...requests, ...rap.choices].filter((one) => one.callId === callId);
  if (open.length >= MAX_QUESTIONS || isFullFor(state, command)) return fault("overloaded");
  const { turnId } = asking;
  const ask: Ask = {
    method: "item/tool/requestUserInput",
    params: {
      threadId: facts.id,
      turnId,
      itemId: callId,
      questions: [
        {
          id: "choice",
          header: asking.call.server.slice(0, 12),
          question: prompt,
          options: choices.map((label) => ({ label, description: "" })),
          isOther: false,
          isSecret: false,
        },
      ],
      isBlocking: true,
      autoResolutionMs: null,
    },
  };
  const aside: Aside = { kind: "choice", server, responseUrl, choices, fallback, key };
  return [{ type: "requestSent", request: { ...ask, id: requestId, at, turnId, callId, aside } }];
}

/** Asks the user for an authorization in the browser. The journal does not contain the URL. */
export function askOAuth(state: ThreadState, command: AskOAuth): readonly ThreadRecord[] {
  const { at, callId, requestId } = command;
  const asking = callOf(state, callId);
  if (asking === undefined) return [];
  const { turnId, call } = asking;
  // Only the newest URL is valid, so earlier authorization requests of the call are withdrawn.
  const before = state.requests.filter((one) => one.callId === callId && one.aside?.kind === "oauth");
  const ask: Ask = {
    method: "mcpServer/elicitation/request",
    params: {
      threadId: state.facts.id,
      turnId,
      serverName: call.server,
      mode: "url",
      elicitationId: `${callId}-${requestId}`,
      message: `${call.server} needs your authorization to go on with ${call.tool}.`,
      url: "",
      _meta: null,
    },
  };
  const text = `${call.tool} needs the user's authorization, who was asked for it in the browser. The call ${callId} goes on by itself when that is given; do not call it again for this.`;
  return [
    ...before.flatMap((request) => resolve(request, at, { kind: "cleared" })),
    { type: "requestSent", request: { ...ask, id: requestId, at, turnId, callId, aside: { kind: "oauth" } } },
    ...(before.length > 0 ? [] : ([{ type: "callNoted", turnId, at, text }] as const)),
  ];
}

/** The call that a tool server still works on, in the running turn or deferred; undefined if there is none. */
export function callOf(
  state: ThreadState,
  callId: string,
): { readonly turnId: string; readonly call: OutsideCall } | undefined {
  const { turn, rap } = state;
  const found = findCall(runningCalls(state), callId);
  if (turn && found !== undefined && isOutside(found)) {
    return { turnId: turn.id, call: outsideCall(state, found) };
  }
  const late = rap.late.find((call) => call.callId === callId);
  return late && { turnId: late.turnId, call: late };
}
