import type { Notification } from "@bobbin/client";
import type { Turn } from "@bobbin/protocol";
import type { QuestionReport } from "./exec-questions.ts";

/** What a turn looks like to whoever started it. */
export interface ExecReport extends QuestionReport {
  started(thread: { readonly id: string; readonly model: string; readonly cwd: string }): void;
  notification(notification: Notification): void;
  /** It ended before there was a turn, or without the turn's end. */
  failed(message: string): void;
}

export function turnProblem(error: Turn["error"]): string {
  if (error === null) return "the turn failed";
  const { message, additionalDetails } = error;
  return additionalDetails ? `${message} (${additionalDetails})` : message;
}
