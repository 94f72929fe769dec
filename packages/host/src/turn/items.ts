import type { MessagePhase, ThreadItem, WebSearchAction } from "@bobbin/protocol";

/** Items of a model's answer as clients see them; those that have just begun have no end. */
export function agentMessage(id: string, text: string, phase: MessagePhase | null, times: Times): ThreadItem {
  return {
    type: "agentMessage",
    id,
    text,
    phase,
    memoryCitation: null,
    delivery: null,
    questions: null,
    ...times,
  };
}

export function plan(id: string, text: string, times: Times): ThreadItem {
  return { type: "plan", id, text, ...times };
}

export function reasoning(
  id: string,
  { summary, content }: { readonly summary: readonly string[]; readonly content: readonly string[] },
  times: Times,
): ThreadItem {
  return { type: "reasoning", id, summary: [...summary], content: [...content], ...times };
}

export function webSearch(
  id: string,
  { query, action }: { readonly query: string; readonly action: WebSearchAction | null },
  times: Times,
): ThreadItem {
  return { type: "webSearch", id, query, action, ...times };
}

export interface Times {
  readonly startedAtMs: number;
  readonly completedAtMs: number | null;
}
