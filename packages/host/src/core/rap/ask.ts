import { type Fault, fault } from "../../errors.ts";
import type { RapCommand } from "../commands.ts";
import type { ThreadRecord } from "../records.ts";
import type { Aside, Ask } from "../requests/records.ts";
import { resolve } from "../requests/resolve.ts";
import type { ThreadState } from "../state.ts";
import { findCall } from "../turn/call-list.ts";
import { isOutside } from "../turn/calls.ts";
import { outsideCall } from "./late.ts";
import type { OutsideCall } from "./records.ts";
import { isFullFor } from "./weight.ts";

type AskChoice = Extract<RapCommand, { kind: "askChoice" }>;
type AskOAuth = Extract<RapCommand, { kind: "askOAuth" }>;

/** Of one call at once, those on the way back to their server included. */
const MAX_QUESTIONS = 16;

/**
 * A tool server asks the user, for a call that goes on waiting. The same question is not asked again while the first
 * waits for its answer, or the answer is on its way. After that it is a new one, unless its sender says that it is not.
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

/** The user is to allow something elsewhere. Where that is, is nowhere but in the question that clients get. */
export function askOAuth(state: ThreadState, command: AskOAuth): readonly ThreadRecord[] {
  const { at, callId, requestId } = command;
  const asking = callOf(state, callId);
  if (asking === undefined) return [];
  const { turnId, call } = asking;
  // The last address counts; the one before may not be good any more.
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

/** A call that somebody outside still works on. */
export function callOf(
  state: ThreadState,
  callId: string,
): { readonly turnId: string; readonly call: OutsideCall } | undefined {
  const { turn, rap } = state;
  const found = turn ? findCall(turn.calls, callId) : undefined;
  if (turn && found !== undefined && isOutside(found)) {
    return { turnId: turn.id, call: outsideCall(state, found) };
  }
  const late = rap.late.find((call) => call.callId === callId);
  return late && { turnId: late.turnId, call: late };
}
