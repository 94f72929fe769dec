import type { SessionSource } from "@bobbin/protocol";

/** The kind of a thread's source in the index. No filter exists for the last two. */
export type SourceKind =
  | "cli"
  | "vscode"
  | "exec"
  | "appServer"
  | "unknown"
  | "subAgentReview"
  | "subAgentCompact"
  | "subAgentThreadSpawn"
  | "subAgentOther"
  | "subAgentMemory"
  | "custom";

const SUB_AGENTS: readonly SourceKind[] = [
  "subAgentReview",
  "subAgentCompact",
  "subAgentThreadSpawn",
  "subAgentOther",
  "subAgentMemory",
];
// Custom sources that count as interactive, as in the Codex CLI.
const INTERACTIVE_CUSTOM: ReadonlySet<string> = new Set(["atlas", "chatgpt"]);

export function kindOf(source: SessionSource): SourceKind {
  if (typeof source === "string") return source;
  if ("custom" in source) return "custom";
  const { subAgent } = source;
  if (typeof subAgent !== "string") return "other" in subAgent ? "subAgentOther" : "subAgentThreadSpawn";
  switch (subAgent) {
    case "review":
      return "subAgentReview";
    case "compact":
      return "subAgentCompact";
    case "memory_consolidation":
      return "subAgentMemory";
  }
}

/** Whether the source is interactive. Lists show only such threads by default. */
export function isInteractive(source: SessionSource): boolean {
  if (typeof source === "string") return source === "cli" || source === "vscode";
  return "custom" in source && INTERACTIVE_CUSTOM.has(source.custom);
}

export interface SourceFilter {
  /** The values of `interactive` that can match. */
  readonly interactive: readonly (0 | 1)[];
  /** Undefined for any kind. */
  readonly kinds: readonly string[] | undefined;
}

/**
 * The filter for the requested kinds of sources. `related`: the query asks for children or descendants, and then all
 * kinds are the default.
 */
export function sourceFilter(requestedKinds: readonly string[] | undefined, related: boolean): SourceFilter {
  if (requestedKinds === undefined && related) return { interactive: [1, 0], kinds: undefined };
  if (requestedKinds === undefined || requestedKinds.length === 0)
    return { interactive: [1], kinds: undefined };
  const kinds = [
    ...new Set(
      requestedKinds.flatMap((kind): readonly string[] => (kind === "subAgent" ? SUB_AGENTS : [kind])),
    ),
  ];
  const people = kinds.filter((kind) => kind === "cli" || kind === "vscode").length;
  if (people === kinds.length) return { interactive: [1], kinds };
  return { interactive: people === 0 ? [0] : [1, 0], kinds };
}
