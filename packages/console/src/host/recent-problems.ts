import type { Bobbin, Notification } from "@bobbin/client";
import { signal } from "@preact/signals";

export interface Problem {
  readonly key: string;
  readonly atMs: number;
  readonly text: string;
  readonly threadId: string | null;
}

const MAX_PROBLEMS = 50;

/** What went wrong since the page was opened, the latest first. */
export const recentProblems = signal<readonly Problem[]>([]);

let lastKey = 0;

export function watchForProblems(bobbin: Bobbin): void {
  bobbin.onNotification((notification) => {
    const text = problemIn(notification);
    if (text === undefined) return;
    lastKey += 1;
    const { params } = notification;
    const threadId = "threadId" in params ? (params.threadId ?? null) : null;
    const problem = { key: String(lastKey), atMs: Date.now(), text, threadId };
    recentProblems.value = [problem, ...recentProblems.value].slice(0, MAX_PROBLEMS);
  });
}

/** The problem that a notification is about, if it is about one. */
export function problemIn({ method, params }: Notification): string | undefined {
  switch (method) {
    case "error":
      return params.willRetry ? `${params.error.message} (tried again)` : params.error.message;
    case "warning":
      return params.message;
    case "configWarning":
      return params.details === null ? params.summary : `${params.summary}: ${params.details}`;
    case "thread/status/changed":
      return params.status.type === "systemError" ? "A thread failed" : undefined;
    case "mcpServer/startupStatus/updated":
      return params.error === null ? undefined : `MCP server ${params.name}: ${params.error}`;
    default:
      return undefined;
  }
}
