import { createHash } from "node:crypto";
import type { ThreadState } from "../core/state.ts";
import type { CallStep } from "../core/turn/call-stages.ts";
import type { FilesBefore } from "../core/turn/file-changes.ts";
import type { ToolCall } from "../core/turn/records.ts";
import type { Ids } from "../platform/platform.ts";
import type { Step } from "../tool/tool.ts";

type AskStep = Extract<Step, { kind: "ask" }>;

/**
 * The form in which a step of a call is recorded: a question gets its IDs, and a dispatch names the copies of the files
 * that the call will change (`before`).
 */
export function recordableStep(
  step: Step,
  ids: Ids,
  fingerprint: (asked: AskStep) => string,
  before: FilesBefore | undefined,
): CallStep {
  switch (step.kind) {
    case "ask":
      return { ...step, requestId: ids.integer(), reviewId: ids.uuid(), fingerprint: fingerprint(step) };
    case "dispatch": {
      const { changes: _, lasting: __, ...dispatch } = step;
      return before === undefined ? dispatch : { ...dispatch, before };
    }
    default:
      return step;
  }
}

/** Identifies the action of a request for approval: equal only for exactly the same action in the same folder. */
export function questionFingerprint(
  { namespace, name, arguments: args }: ToolCall,
  { settings }: ThreadState,
  { question, ask }: AskStep,
): string {
  // `question` and the permissions contain resolved paths, because a symlink in the arguments may point elsewhere by
  // now.
  const { permissions } = ask.params as { readonly permissions?: unknown };
  const exact = JSON.stringify([namespace, name, args, settings.cwd, question, permissions]);
  return createHash("sha256").update(exact).digest("hex");
}

/**
 * Whether the record of a dispatch must survive a power cut. It must if the effect survives: a tool server must not
 * get the same call twice, and the next host continues a plan that has changed files. Processes do not survive a
 * power cut.
 */
export function mustOutlivePower(step: Step): boolean {
  if (step.kind !== "dispatch") return false;
  if (step.lasting) return true;
  return step.again ? step.plan !== undefined : step.via !== undefined;
}
