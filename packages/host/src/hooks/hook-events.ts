import type { HookEventName, HookScope } from "@bobbin/protocol";

/** Events for which hooks can be configured. */
export type HookEvent = Exclude<HookEventName, "preModelRequest" | "postModelRequest">;

interface EventWords {
  /** Name in configuration files, and in the input of hooks. */
  readonly name: string;
  /** Name in keys of `[hooks.state]` and in digests. */
  readonly label: string;
  readonly scope: HookScope;
  /** Whether the event has names that `matcher` is compared with. */
  readonly matches: boolean;
  /** Whether a hook can add context for the model. */
  readonly addsContext: boolean;
}

const words = (
  name: string,
  label: string,
  more: Partial<Omit<EventWords, "name" | "label">> = {},
): EventWords => ({ name, label, scope: "turn", matches: true, addsContext: false, ...more });

/** All events, in the order in which lists show them. */
export const EVENTS: { readonly [E in HookEvent]: EventWords } = {
  preToolUse: words("PreToolUse", "pre_tool_use", { addsContext: true }),
  permissionRequest: words("PermissionRequest", "permission_request"),
  postToolUse: words("PostToolUse", "post_tool_use", { addsContext: true }),
  preCompact: words("PreCompact", "pre_compact"),
  postCompact: words("PostCompact", "post_compact"),
  sessionStart: words("SessionStart", "session_start", { scope: "thread", addsContext: true }),
  sessionEnd: words("SessionEnd", "session_end", { scope: "thread" }),
  userPromptSubmit: words("UserPromptSubmit", "user_prompt_submit", { matches: false, addsContext: true }),
  subagentStart: words("SubagentStart", "subagent_start", { scope: "thread", addsContext: true }),
  subagentStop: words("SubagentStop", "subagent_stop"),
  stop: words("Stop", "stop", { matches: false }),
  interrupt: words("Interrupt", "interrupt", { matches: false }),
};

export const EVENT_NAMES: ReadonlyMap<string, HookEvent> = new Map(
  (Object.keys(EVENTS) as HookEvent[]).map((event) => [EVENTS[event].name, event]),
);
