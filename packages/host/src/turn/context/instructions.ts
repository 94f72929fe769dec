import type { SandboxPolicy } from "@bobbin/protocol";
import { modeInstructions } from "../../core/life/collaboration-modes.ts";
import type { ThreadSettings } from "../../core/life/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { ContextItem } from "../../model/model.ts";
import { CODE_REVIEW_INSTRUCTIONS } from "./code-review-instructions.ts";
import { message } from "./conversation.ts";

const BASE = [
  "You are an agent that works with a person on their computer, most often on code.",
  "Do what is asked, and no more; look before you change something, and check what you changed.",
  "If something is unclear and you cannot find it out, ask. Say honestly what you did, what you did not, and what you are not sure of.",
  "Answer briefly, in the language of the person, in Markdown where it helps.",
].join("\n");

const MANNERS: { readonly [P in NonNullable<ThreadSettings["personality"]>]: string | undefined } = {
  none: undefined,
  friendly: "Be warm and encouraging.",
  pragmatic: "Be direct and matter-of-fact.",
};

/** The instructions of a model call: those of the thread, of the configuration, or the built-in ones. */
export function baseInstructions({ load, docs, settings, turn }: ThreadState): string {
  if (turn?.kind === "review") return CODE_REVIEW_INSTRUCTIONS;
  const manner = settings.personality && MANNERS[settings.personality];
  return [load.baseInstructions ?? configured(docs, "base") ?? BASE, ...(manner ? [manner] : [])].join(
    "\n\n",
  );
}

/** The developer messages before the conversation: developer instructions, project docs, mode, and environment. */
export function preamble(
  { load, docs, settings, turn }: ThreadState,
  host: { readonly now: number; readonly shell: string },
): readonly ContextItem[] {
  // Code reviews have their own instructions.
  const mode = turn?.kind === "review" ? null : modeInstructions(settings.mode);
  const developer = load.developerInstructions ?? configured(docs, "developer");
  const texts = [
    ...(developer ? [developer] : []),
    ...docs
      .filter((doc) => doc.as === undefined)
      .map(({ path, text }) => `Instructions for this project, from ${path}:\n\n${text}`),
    ...(mode === null ? [] : [`<collaboration_mode>\n${mode}\n</collaboration_mode>`]),
    environment(settings, host),
  ];
  return texts.map((text) => message("developer", text));
}

function configured(docs: ThreadState["docs"], kind: "base" | "developer"): string | undefined {
  return docs.find((doc) => doc.as === kind)?.text;
}

function environment(
  { cwd, approvalPolicy, sandbox }: ThreadSettings,
  { now, shell }: { readonly now: number; readonly shell: string },
): string {
  // oxlint-disable-next-line no-restricted-globals -- a conversion, not the clock
  const date = new Date(now).toISOString().slice(0, 10);
  const approvals = typeof approvalPolicy === "string" ? approvalPolicy : "granular";
  return [
    "<environment_context>",
    `  <cwd>${cwd}</cwd>`,
    `  <approval_policy>${approvals}</approval_policy>`,
    `  <sandbox_mode>${sandboxMode(sandbox)}</sandbox_mode>`,
    `  <network_access>${networkAccess(sandbox)}</network_access>`,
    `  <shell>${shell}</shell>`,
    `  <current_date>${date}</current_date>`,
    "</environment_context>",
  ].join("\n");
}

function sandboxMode({ type }: SandboxPolicy): string {
  return type.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function networkAccess(sandbox: SandboxPolicy): string {
  if (sandbox.type === "dangerFullAccess") return "enabled";
  const { networkAccess: access } = sandbox;
  return access === true || access === "enabled" ? "enabled" : "restricted";
}
