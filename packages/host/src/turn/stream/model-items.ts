import type { MessagePhase, ThreadItem, WebSearchAction } from "@bobbin/protocol";

// These functions build the thread items of a model's answer. `completedAtMs` is null for items that have just
// started.

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

export function webSearch(id: string, action: WebSearchAction, times: Times): ThreadItem {
  return { type: "webSearch", id, query: queryOf(action), action, results: null, ...times };
}

/** The query of a web search in one line, for display. */
function queryOf(action: WebSearchAction): string {
  switch (action.type) {
    case "search": {
      const [first = "", ...more] = action.queries ?? [];
      return action.query ?? (more.length > 0 ? `${first} ...` : first);
    }
    case "openPage":
      return action.url ?? "";
    case "findInPage": {
      const { pattern, url } = action;
      if (pattern === null) return url ?? "";
      return url === null ? `'${pattern}'` : `'${pattern}' in ${url}`;
    }
    case "other":
      return "";
  }
}

export interface Times {
  readonly startedAtMs: number;
  readonly completedAtMs: number | null;
}
