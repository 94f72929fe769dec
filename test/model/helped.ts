import type { ContextItem } from "../../packages/host/src/model/model.ts";
import type { ModelScript, ModelScripts } from "../simulation/fake-model.ts";
import { textOf } from "./conversation.ts";

/** The helper tool that the model calls for each word. */
const CALLS: Readonly<Record<string, (childId: string) => { readonly name: string; readonly args: object }>> =
  {
    spawn: () => ({ name: "spawn_agent", args: { message: "a task" } }),
    wait: (childId) => ({ name: "wait_agent", args: { targets: [childId], timeout_ms: 3_600_000 } }),
    send: (target) => ({ name: "send_input", args: { target, message: "another task" } }),
    close: (target) => ({ name: "close_agent", args: { target } }),
    resume: (id) => ({ name: "resume_agent", args: { id } }),
  };

/**
 * A model that does with its helper what the user says, one call per word, and then answers. Helpers answer at once,
 * and no two answers are equal.
 */
export const helped: ModelScripts = ({ context }, _random, call) => {
  const since = context.findLastIndex(isSaid);
  const words = textOf(context[since]).split(" ");
  const outputs = context.slice(since + 1).filter(({ type }) => type === "toolOutput");
  const next = CALLS[words[outputs.length] ?? ""];
  return next === undefined ? spoken(call) : called(next(lastHelper(context)));
};

function spoken(call: number): ModelScript {
  return { steps: [{ do: "say", pieces: ["result ", `${call};`] }] };
}

function called({ name, args }: { readonly name: string; readonly args: object }): ModelScript {
  return { steps: [{ do: "call", name, namespace: "multi_agent_v1", args }] };
}

/** Whether an item is input from a user, or from the parent thread. */
function isSaid(item: ContextItem): boolean {
  return (
    item.type === "message" && item.role === "user" && !textOf(item).startsWith("<subagent_notification>")
  );
}

/** The helper that was started last. */
function lastHelper(context: readonly ContextItem[]): string {
  for (const item of context.toReversed()) {
    const found = item.type === "toolOutput" ? /"agent_id":"([^"]+)"/.exec(String(item.output)) : null;
    if (found !== null) return found[1]!;
  }
  return "nobody";
}
