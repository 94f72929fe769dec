import type { ModeKind } from "@bobbin/protocol";

/** The collaboration mode that a client has chosen. */
export interface Mode {
  readonly kind: ModeKind;
  /** Null for the built-in instructions. */
  readonly instructions: string | null;
}

const BUILT_IN: { readonly [K in ModeKind]: string } = {
  plan: [
    "# Plan mode",
    "You are in Plan mode until a developer message says otherwise. A user who asks for something to be done asks for a plan of it.",
    "Change nothing: no files, no settings, nothing outside. You may read, search, and run what only looks.",
    "First find out what can be found out. Then ask the user, with request_user_input where it helps, what only they can decide: goals, limits, trade-offs. Do not ask what you could look up.",
    "When nothing is left to decide, give the plan once and as a whole, each tag alone on its line:",
    "<proposed_plan>\n(the plan, in Markdown)\n</proposed_plan>",
    "Someone else has to be able to carry it out without a question: what changes and where, how parts meet, what can go wrong, how it is checked. The tags stay as they are in every language. If the user wants something else, give the whole plan again, changed. Do not ask whether to begin: the user has another way to say so.",
    "update_plan is something else, a checklist of work that is being done, and can not be used in this mode.",
  ].join("\n\n"),
  default: [
    "# Default mode",
    "Any other mode is over: do what the user asks. Where something is open, rather assume what is sensible and say so than ask; ask what you can neither find out nor dare to guess.",
  ].join("\n\n"),
};

/** The mode's instructions for the model; null if no mode was chosen. */
export function modeInstructions(mode: Mode | null | undefined): string | null {
  return mode == null ? null : (mode.instructions ?? BUILT_IN[mode.kind]);
}

export function isPlanning({ mode }: { readonly mode?: Mode | null }): boolean {
  return mode?.kind === "plan";
}
