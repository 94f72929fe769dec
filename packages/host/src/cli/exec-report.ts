import type { Notification } from "@bobbin/client";
import type { Turn } from "@bobbin/protocol";
import type { QuestionReport } from "./exec-question-answers.ts";

/** Receives the events of a turn and prints them; implemented as text and as JSON. */
export interface ExecReport extends QuestionReport {
  started(thread: { readonly id: string; readonly model: string; readonly cwd: string }): void;
  notification(notification: Notification): void;
  /** One line about a helper thread of the turn. */
  helper(line: string): void;
  /** Called if the command fails before the turn begins, or if the turn ends without `turn/completed`. */
  failed(message: string): void;
}

export function turnProblem(error: Turn["error"]): string {
  if (error === null) return "the turn failed";
  const { message, additionalDetails } = error;
  return additionalDetails ? `${message} (${additionalDetails})` : message;
}
