import type { LoadedThreadDiagnostics } from "@bobbin/protocol";
import { bytesText, counted, durationText } from "../parts/quantity-text.ts";

/** Why a thread is loaded, in words; the most important reason first. */
export function loadReasons(thread: LoadedThreadDiagnostics): readonly string[] {
  const { turnId, pendingRequests, pendingCalls, descendants, subscribers, unloadsInMs, resident } = thread;
  const toolServerSubscriptions = thread.toolServerSubscriptions ?? 0;
  const reasons = [
    turnId === null ? "" : "a turn runs",
    thread.workDue ? "work is due" : "",
    pendingRequests === 0 ? "" : counted(pendingRequests, "question waits", "questions wait"),
    pendingCalls === 0 ? "" : counted(pendingCalls, "tool call runs", "tool calls run"),
    descendants === 0 ? "" : counted(descendants, "helper works", "helpers work"),
    toolServerSubscriptions === 0
      ? ""
      : counted(toolServerSubscriptions, "tool server subscription", "tool server subscriptions"),
    thread.isOpenHelper ? "its parent has not closed it" : "",
    subscribers === 0 ? "" : counted(subscribers, "client follows it", "clients follow it"),
    unloadsInMs === null ? "" : `it is unloaded in ${durationText(unloadsInMs)}`,
  ].filter((reason) => reason !== "");
  const all = reasons.length === 0 ? ["nothing keeps it"] : reasons;
  return resident ? all : [...all, "its memory was freed until it is used"];
}

/** Why a thread is loaded, and about how much memory it takes, in one line. */
export function loadSummary(thread: LoadedThreadDiagnostics): string {
  const reasons = loadReasons(thread).join(", ");
  return thread.memoryBytes == null ? reasons : `${reasons} · about ${bytesText(thread.memoryBytes)}`;
}

/** Why a thread is loaded, and about how much memory it takes, as sentences. */
export function loadText(thread: LoadedThreadDiagnostics): string {
  const reasons = `Loaded: ${loadReasons(thread).join(", ")}.`;
  return thread.memoryBytes == null
    ? reasons
    : `${reasons} It takes about ${bytesText(thread.memoryBytes)} of memory.`;
}
