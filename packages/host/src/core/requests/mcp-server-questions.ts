import type { McpServerElicitationRequestParams } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { findCall } from "../turn/call-list.ts";
import { callsOf, runningCalls } from "../turn/phase.ts";
import { withSpent } from "../turn/usage.ts";
import type { ServerQuestionCommand } from "./commands.ts";
import { isDirect } from "./mcp-server-answers.ts";
import type { Aside, Ask } from "./records.ts";
import { resolve } from "./resolve-request.ts";

/** Limit on open questions of MCP servers, per call. */
const MAX_QUESTIONS = 4;
/** Limit on open questions of MCP servers, per thread. */
const MAX_OF_THREAD = 16;

/** Decides commands about questions of MCP servers. Commands that come too late, or exceed a limit, have no effect. */
export function decideServerQuestions(
  state: ThreadState,
  command: ServerQuestionCommand,
): readonly ThreadRecord[] {
  switch (command.kind) {
    case "askForServer":
      return askForServer(state, command);
    case "withdrawQuestion": {
      const { at, requestId } = command;
      const request = state.requests.find(({ id, aside }) => id === requestId && aside?.kind === "server");
      return request === undefined ? [] : resolve(request, at, { kind: "cleared" });
    }
    case "serverSampled":
      return serverSampled(state, command);
  }
}

/** Adds the tokens that an MCP server's sampling used to those of the turn. */
function serverSampled(
  state: ThreadState,
  { at, callId, server, usage: spent }: Extract<ServerQuestionCommand, { kind: "serverSampled" }>,
): readonly ThreadRecord[] {
  const { turn } = state;
  if (turn === null || findCall(callsOf(turn), callId)?.stage.kind !== "dispatched") return [];
  const usage = withSpent(state.usage, spent);
  return [{ type: "serverSampled", turnId: turn.id, at, callId, server, spent, usage }];
}

/** Sends an MCP server's question to clients. The question belongs to a call of the running turn, or of a client. */
function askForServer(
  state: ThreadState,
  command: Extract<ServerQuestionCommand, { kind: "askForServer" }>,
): readonly ThreadRecord[] {
  const { turn, requests, facts, status } = state;
  const { at, requestId, callId, direct, server, question, sealed, grant } = command;
  if (status.type === "notLoaded") return [];
  const isOpen = findCall(runningCalls(state), callId)?.stage.kind === "dispatched";
  if (!direct && !isOpen) return [];
  const open = requests.filter(({ aside }) => aside?.kind === "server");
  if (open.length >= MAX_OF_THREAD) return [];
  if (open.filter((request) => request.callId === callId).length >= MAX_QUESTIONS) return [];
  const turnId = direct ? null : turn!.id;
  const ask = {
    method: "mcpServer/elicitation/request",
    params: { threadId: facts.id, turnId, serverName: server, ...question },
  } as Ask;
  const aside: Aside = {
    kind: "server",
    ...(direct && { direct: true }),
    ...(sealed && { sealed: true }),
    ...(grant !== null && { grant }),
  };
  const request = { ...ask, id: requestId, at, turnId: turnId ?? "", callId, aside };
  return [{ type: "requestSent", request }];
}

/** A question of an MCP server: the parameters of the elicitation request without thread, turn and server. */
export type ServerQuestion =
  | Omit<Extract<McpServerElicitationRequestParams, { mode: "form" }>, "threadId" | "turnId" | "serverName">
  | Omit<Extract<McpServerElicitationRequestParams, { mode: "url" }>, "threadId" | "turnId" | "serverName">;

/** Withdraws all questions of MCP servers, because the connections to the servers ended with their host. */
export function clearServerQuestions(state: ThreadState, at: number): readonly ThreadRecord[] {
  return state.requests
    .filter(({ aside }) => aside?.kind === "server")
    .flatMap((request) => resolve(request, at, { kind: "cleared" }));
}

/** Withdraws the questions that belong to clients' own calls of MCP tools, which do not end with a turn. */
export function clearDirectQuestions(state: ThreadState, at: number): readonly ThreadRecord[] {
  return state.requests.filter(isDirect).flatMap((request) => resolve(request, at, { kind: "cleared" }));
}
