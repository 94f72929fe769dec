import type { SessionSource } from "@bobbin/protocol";

/** The kind under which a source is kept; the last two match no filter of their own. */
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
// Products that name themselves and are talked to by people, as the peer knows them.
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

/** Whether people talk to it: what lists show unless they are asked for more. */
export function isInteractive(source: SessionSource): boolean {
  if (typeof source === "string") return source === "cli" || source === "vscode";
  return "custom" in source && INTERACTIVE_CUSTOM.has(source.custom);
}

export interface SourceFilter {
  /** The values of `interactive` that can match. */
  readonly interactive: readonly (0 | 1)[];
  /** Undefined: any kind. */
  readonly kinds: readonly string[] | undefined;
}

/** `related`: within a family all kinds are shown unless some are asked for. */
export function sourceFilter(asked: readonly string[] | undefined, related: boolean): SourceFilter {
  if (asked === undefined && related) return { interactive: [1, 0], kinds: undefined };
  if (asked === undefined || asked.length === 0) return { interactive: [1], kinds: undefined };
  const kinds = [
    ...new Set(asked.flatMap((kind): readonly string[] => (kind === "subAgent" ? SUB_AGENTS : [kind]))),
  ];
  const people = kinds.filter((kind) => kind === "cli" || kind === "vscode").length;
  if (people === kinds.length) return { interactive: [1], kinds };
  return { interactive: people === 0 ? [0] : [1, 0], kinds };
}
