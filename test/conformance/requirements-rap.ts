// Every MUST, MUST NOT, SHOULD and SHOULD NOT of the tool protocol's specification, in our words, with the pages that
// it stands on (docs/docs/rap/spec in hydro-project/infinity): what its two sides promise, and what is left to others.
import { pendingRapLines, rapRuntimeLines } from "./requirements-rap-runtime.ts";
import { rapServerLines } from "./requirements-rap-server.ts";

/** By id: the pages, and what is said. */
export type RapLines = { readonly [id: string]: readonly [pages: string, says: string] };

/** No code of ours can hold these. docs/tool-servers.md tells them to those who can. */
const rapOthersLines = {
  "RAPO-1": ["overview lifecycle", "Tools document their security implications, and how long they take."],
  "RAPO-2": ["invocation", "A tool that decides by user_id implements that access control."],
  "RAPO-3": ["toolsets", "A display script returns a string."],
  "RAPO-4": ["result", "Results hold no credentials, tokens or internal ids."],
  "RAPO-5": ["result", "Errors for the model say what it can do about them."],
  "RAPO-6": [
    "subscriptions",
    "Events are checked to be from where they claim to be before they are sent on.",
  ],
  "RAPO-7": [
    "oauth",
    "Authorizations are asked for with the least scopes that will do, and before the work.",
  ],
  "RAPO-8": ["choice", "Labels say what they allow, and ask for no more than is needed."],
  "RAPO-9": [
    "views",
    "A view is sent after what changes it; clients clean its content before they render it.",
  ],
  "RAPO-10": ["views", "Clients render the views that they know at once, and ignore others."],
  "RAPO-11": ["overview transport", "Servers and hosts are reached over HTTPS in production."],
  "RAPO-12": ["migration", "State that moves to another server is encrypted and authenticated on its way."],
  "RAPO-13": ["subscriptions", "Agents cancel the subscriptions that they no longer need."],
} as const satisfies RapLines;

export const rapLines: RapLines = { ...rapServerLines, ...rapRuntimeLines };

export const rapPending: readonly string[] = pendingRapLines;
export const rapOthers: RapLines = rapOthersLines;

/** All pages that ask something of someone. */
export const rapPages: readonly string[] = [
  "overview",
  "lifecycle",
  "transport",
  "toolsets",
  "invocation",
  "result",
  "cancellation",
  "closure",
  "migration",
  "oauth",
  "subscriptions",
  "choice",
  "views",
];
