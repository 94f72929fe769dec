import type { ThreadState } from "../state.ts";
import { isDirect } from "./mcp-server-answers.ts";
import type { PendingRequest } from "./records.ts";

/** Whether a request stays open after its turn, because its call continues. */
export function outlivesTurn({ rap }: ThreadState, request: PendingRequest): boolean {
  return isDirect(request) || rap.late.some((late) => late.callId === request.callId);
}
