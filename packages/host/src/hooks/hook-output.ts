import type { HookOutputEntry, HookRunStatus } from "@bobbin/protocol";
import { isTable } from "./hook-config.ts";
import { EVENTS, type HookEvent } from "./hook-events.ts";

/** How a hook's process ended. */
export interface HookExit {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why the process could not be started or exceeded its time limit; null if it ended by itself. */
  readonly error: string | null;
}

/** The parsed outcome of one hook. */
export interface HookVerdict {
  readonly status: HookRunStatus;
  readonly entries: readonly HookOutputEntry[];
  readonly block?: string;
  readonly stop?: boolean;
  readonly context?: string;
  readonly feedback?: string;
  /** Replacement of the tool call's input. */
  readonly input?: unknown;
  readonly permission?: { readonly allow: boolean; readonly message: string };
}

type Loose = { readonly [key: string]: unknown };

/** Interprets a hook's exit code and output. `decides` is false for an async hook, whose decisions are ignored. */
export function readExit(event: HookEvent, exit: HookExit, decides: boolean): HookVerdict {
  if (exit.error !== null) return failed(exit.error);
  if (exit.code === 2 && decides && event in BLOCKING) return refused(event, exit.stderr.trim());
  if (exit.code !== 0) {
    const how = exit.code === null ? "was killed by a signal" : `ended with exit code ${exit.code}`;
    const why = exit.stderr.trim();
    return failed(why === "" ? `The hook ${how}.` : `The hook ${how}: ${why}`);
  }
  const stdout = exit.stdout.trim();
  if (stdout === "" || event === "sessionEnd" || event === "interrupt") return QUIET;
  const output = parsed(stdout);
  if (output === undefined) return plainText(event, stdout, decides);
  const problem = shapeProblem(event, output);
  if (problem !== undefined) return failed(`The hook's JSON cannot be used: ${problem}.`);
  return withMessage(output, decided(event, output, decides));
}

const QUIET: HookVerdict = { status: "completed", entries: [] };

/** Events at which exit code 2 refuses something. */
const BLOCKING: { readonly [E in HookEvent]?: true } = {
  preToolUse: true,
  permissionRequest: true,
  postToolUse: true,
  userPromptSubmit: true,
  stop: true,
  subagentStop: true,
};

function refused(event: HookEvent, reason: string): HookVerdict {
  if (reason === "") return failed("The hook ended with exit code 2 and did not write a reason to stderr.");
  if (event === "permissionRequest") return denied(reason);
  return blocked(event, reason);
}

function blocked(event: HookEvent, reason: string): HookVerdict {
  const entries = [{ kind: "feedback", text: reason } as const];
  const feedback = event === "postToolUse" ? { feedback: reason } : {};
  return { status: "blocked", entries, block: reason, ...feedback };
}

function denied(message: string): HookVerdict {
  const entries = [{ kind: "feedback", text: message } as const];
  return { status: "blocked", entries, permission: { allow: false, message } };
}

function failed(text: string): HookVerdict {
  return { status: "failed", entries: [{ kind: "error", text }] };
}

/** The JSON object that a hook printed; undefined if its output is something else. */
function parsed(stdout: string): Loose | undefined {
  if (!stdout.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(stdout);
    return isTable(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** At the start of a thread and at a prompt, output that is not JSON becomes context for the model. */
function plainText(event: HookEvent, stdout: string, decides: boolean): HookVerdict {
  const isJson = stdout.startsWith("{") || stdout.startsWith("[");
  const mustBeJson = decides && (event === "stop" || event === "subagentStop");
  if (isJson || mustBeJson) return failed("The hook's output is not a JSON object.");
  if (event !== "sessionStart" && event !== "subagentStart" && event !== "userPromptSubmit") return QUIET;
  return { status: "completed", entries: [{ kind: "context", text: stdout }], context: stdout };
}

type Shape = { readonly [key: string]: "boolean" | "string" | "any" | readonly string[] | Shape };

const UNIVERSAL: Shape = {
  continue: "boolean",
  stopReason: "string",
  suppressOutput: "boolean",
  systemMessage: "string",
};
const CONTEXT: Shape = { hookEventName: "string", additionalContext: "string" };
const BLOCK: Shape = { ...UNIVERSAL, decision: ["block"], reason: "string" };

const SHAPES: { readonly [E in HookEvent]: Shape } = {
  preToolUse: {
    ...UNIVERSAL,
    decision: ["approve", "block"],
    reason: "string",
    hookSpecificOutput: {
      ...CONTEXT,
      permissionDecision: ["allow", "deny", "ask"],
      permissionDecisionReason: "string",
      updatedInput: "any",
    },
  },
  permissionRequest: {
    ...UNIVERSAL,
    hookSpecificOutput: {
      hookEventName: "string",
      decision: {
        behavior: ["allow", "deny"],
        message: "string",
        interrupt: "boolean",
        updatedInput: "any",
        updatedPermissions: "any",
      },
    },
  },
  postToolUse: { ...BLOCK, hookSpecificOutput: { ...CONTEXT, updatedMCPToolOutput: "any" } },
  preCompact: UNIVERSAL,
  postCompact: UNIVERSAL,
  sessionStart: { ...UNIVERSAL, hookSpecificOutput: CONTEXT },
  sessionEnd: UNIVERSAL,
  userPromptSubmit: { ...BLOCK, hookSpecificOutput: CONTEXT },
  subagentStart: { ...UNIVERSAL, hookSpecificOutput: CONTEXT },
  subagentStop: BLOCK,
  stop: BLOCK,
  interrupt: UNIVERSAL,
};

/** Finds unknown fields. A misspelled field would be a decision without effect. */
function shapeProblem(event: HookEvent, output: Loose): string | undefined {
  return misfit(output, SHAPES[event], "");
}

function misfit(value: Loose, shape: Shape, at: string): string | undefined {
  for (const [key, found] of Object.entries(value)) {
    const wanted = Object.hasOwn(shape, key) ? shape[key]! : undefined;
    const name = `${at}${key}`;
    if (wanted === undefined) return `\`${name}\` is not known`;
    if (found === null || wanted === "any") continue;
    if (typeof wanted === "string") {
      if (typeof found !== wanted) return `\`${name}\` is no ${wanted}`;
    } else if (Array.isArray(wanted)) {
      if (!wanted.includes(found)) return `\`${name}\` is not one of ${wanted.join(", ")}`;
    } else {
      if (!isTable(found)) return `\`${name}\` is no object`;
      const inside = misfit(found, wanted as Shape, `${name}.`);
      if (inside !== undefined) return inside;
    }
  }
  return undefined;
}

function withMessage({ systemMessage }: Loose, verdict: HookVerdict): HookVerdict {
  if (typeof systemMessage !== "string") return verdict;
  return { ...verdict, entries: [{ kind: "warning", text: systemMessage }, ...verdict.entries] };
}

/** Reads the decision of an output with a valid shape. */
function decided(event: HookEvent, output: Loose, decides: boolean): HookVerdict {
  const specific = isTable(output["hookSpecificOutput"]) ? output["hookSpecificOutput"] : {};
  const context = textOf(specific["additionalContext"]);
  const added: HookVerdict =
    context === undefined || !EVENTS[event].addsContext
      ? QUIET
      : { status: "completed", entries: [{ kind: "context", text: context }], context };
  if (!decides) return added;
  const verdict = decisionOf(event, output, specific);
  if (verdict === undefined) return added;
  if (verdict.status === "failed") return verdict;
  return { ...added, ...verdict, entries: [...added.entries, ...verdict.entries] };
}

function decisionOf(event: HookEvent, output: Loose, specific: Loose): HookVerdict | undefined {
  switch (event) {
    case "preToolUse":
      return ofCall(output, specific);
    case "permissionRequest":
      return ofPermission(output, specific);
    case "postToolUse":
      if (output["suppressOutput"] === true) return unsupported("suppressOutput");
      if (specific["updatedMCPToolOutput"] != null) return unsupported("updatedMCPToolOutput");
      if (output["continue"] === false) {
        const why = textOf(output["stopReason"]) ?? "The hook stopped this.";
        const feedback = textOf(output["reason"]) ?? why;
        return { status: "stopped", entries: [{ kind: "stop", text: why }], feedback };
      }
      return ofBlock(event, output);
    case "subagentStart":
    case "sessionEnd":
    case "interrupt":
      return undefined;
    default:
      if (output["continue"] === false) return stopped(output);
      return ofBlock(event, output);
  }
}

function stopped({ stopReason }: Loose): HookVerdict {
  const text = textOf(stopReason) ?? "The hook stopped this.";
  return { status: "stopped", entries: [{ kind: "stop", text }], stop: true };
}

function ofBlock(event: HookEvent, { decision, reason }: Loose): HookVerdict | undefined {
  if (decision !== "block") {
    if (event === "postToolUse" && reason != null) return failed("`reason` needs a `decision`.");
    return undefined;
  }
  const why = textOf(reason);
  return why === undefined ? failed('`decision: "block"` needs a `reason`.') : blocked(event, why);
}

function ofCall(output: Loose, specific: Loose): HookVerdict | undefined {
  const more = unsupportedIn(output);
  if (more !== undefined) return unsupported(more);
  const { permissionDecision, permissionDecisionReason, updatedInput } = specific;
  if (permissionDecision == null && permissionDecisionReason == null && updatedInput == null) {
    if (output["decision"] === "approve") return unsupported('decision: "approve"');
    if (output["decision"] == null && output["reason"] != null) return failed("`reason` needs a `decision`.");
    return ofBlock("preToolUse", output);
  }
  if (permissionDecision === "deny") {
    const why = textOf(permissionDecisionReason);
    return why === undefined
      ? failed('`permissionDecision: "deny"` needs a `permissionDecisionReason`.')
      : blocked("preToolUse", why);
  }
  if (permissionDecision === "allow" && updatedInput != null)
    return { status: "completed", entries: [], input: updatedInput };
  if (updatedInput != null) return failed('`updatedInput` needs `permissionDecision: "allow"`.');
  return unsupported(`permissionDecision: ${JSON.stringify(permissionDecision ?? null)}`);
}

function ofPermission(output: Loose, specific: Loose): HookVerdict | undefined {
  const more = unsupportedIn(output);
  if (more !== undefined) return unsupported(more);
  const decision = isTable(specific["decision"]) ? specific["decision"] : undefined;
  if (decision === undefined) return undefined;
  if (decision["updatedInput"] != null) return unsupported("updatedInput");
  if (decision["updatedPermissions"] != null) return unsupported("updatedPermissions");
  if (decision["interrupt"] === true) return unsupported("interrupt");
  if (decision["behavior"] === "allow")
    return { status: "completed", entries: [], permission: { allow: true, message: "" } };
  if (decision["behavior"] === "deny")
    return denied(textOf(decision["message"]) ?? "The hook gave no reason.");
  return failed("`decision` needs a `behavior`.");
}

function unsupportedIn(output: Loose): string | undefined {
  if (output["continue"] === false) return "continue: false";
  if (output["stopReason"] != null) return "stopReason";
  return output["suppressOutput"] === true ? "suppressOutput" : undefined;
}

function unsupported(what: string): HookVerdict {
  return failed(`\`${what}\` means nothing at this event.`);
}

function textOf(value: unknown): string | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" ? undefined : text;
}
