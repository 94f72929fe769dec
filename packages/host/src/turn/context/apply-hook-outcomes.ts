import type { ThreadRecord } from "../../core/records.ts";

type HooksEnded = Extract<ThreadRecord, { type: "hooksEnded" }>;

/** Applies the outcomes of hooks to the model's history: drops prompts that hooks blocked, and replaces tool outputs. */
export function withHookOutcomes(history: readonly ThreadRecord[]): readonly ThreadRecord[] {
  const ended = history.filter((record): record is HooksEnded => record.type === "hooksEnded");
  const blocked = new Set<string | null>();
  const feedback = new Map<string | null, HooksEnded>();
  for (const record of ended) {
    const { event, subject, outcome } = record;
    if (event === "userPromptSubmit" && isRefused(record)) blocked.add(subject);
    if (event === "postToolUse" && outcome.feedback !== undefined) feedback.set(subject, record);
  }
  if (blocked.size === 0 && feedback.size === 0) return history;
  return history.flatMap((record): readonly ThreadRecord[] => {
    if (record.type === "itemCompleted" && blocked.has(record.item.id)) return [];
    if (record.type !== "toolAnswered") return [record];
    const outcome = feedback.get(record.callId)?.outcome;
    if (outcome?.feedback === undefined) return [record];
    const { blobs: _, ...answered } = record;
    const success = record.success && outcome.block === undefined;
    return [{ ...answered, output: outcome.feedback, success }];
  });
}

/** Whether hooks refused the prompt. A refused prompt is not part of the conversation. */
export function isRefused({ outcome }: HooksEnded): boolean {
  return outcome.block !== undefined || outcome.stop === true;
}
