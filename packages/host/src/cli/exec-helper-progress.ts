import type { Notification } from "@bobbin/client";
import { turnProblem } from "./exec-report.ts";

/** Limit on the characters of a helper's task that are shown. */
const TASK_CHARACTERS = 100;

/**
 * A listener that shows the progress of helper threads (child threads that the model started): tasks, commands and ends,
 * one line each. `root`: the thread whose helpers are shown, because other clients of the host may have helpers, too.
 */
export function helperProgress(
  root: () => string | undefined,
  show: (line: string) => void,
): (notification: Notification) => void {
  const names = new Map<string, string>();
  return (notification) => {
    if (notification.method === "thread/started") {
      const { id, parentThreadId, agentNickname } = notification.params.thread;
      if (parentThreadId !== null && (parentThreadId === root() || names.has(parentThreadId)))
        names.set(id, agentNickname ?? "helper");
      return;
    }
    const { params } = notification as { readonly params?: { readonly threadId?: unknown } };
    const name = typeof params?.threadId === "string" ? names.get(params.threadId) : undefined;
    const line = name === undefined ? undefined : lineOf(notification);
    if (line !== undefined) show(`[${name}] ${line}`);
  };
}

function lineOf({ method, params }: Notification): string | undefined {
  switch (method) {
    case "item/started":
      return params.item.type === "commandExecution" ? `$ ${params.item.command}` : undefined;
    case "item/completed": {
      const { item } = params;
      if (item.type === "fileChange")
        return `${item.status}: ${item.changes.map(({ path }) => path).join(", ")}`;
      if (item.type !== "userMessage") return undefined;
      return firstLine(item.content.map((part) => (part.type === "text" ? part.text : "")).join(" "));
    }
    case "turn/completed": {
      const { status, error } = params.turn;
      return status === "failed" ? `failed: ${turnProblem(error)}` : status;
    }
    default:
      return undefined;
  }
}

function firstLine(text: string): string {
  const [line = "", ...rest] = text.trim().split("\n");
  const cut = line.slice(0, TASK_CHARACTERS);
  return cut === text.trim() && rest.length === 0 ? cut : `${cut}…`;
}
