import type {
  ExternalAgentConfigImportItemTypeFailure as Failure,
  ExternalAgentConfigImportItemTypeSuccess as Success,
  ExternalAgentConfigImportTypeResult as TypeResult,
} from "@bobbin/protocol";
import type { ItemType, Report } from "./pending-import.ts";

/** Order of item types in results. */
const ORDER: readonly ItemType[] = [
  "CONFIG",
  "SKILLS",
  "AGENTS_MD",
  "PLUGINS",
  "MCP_SERVER_CONFIG",
  "SUBAGENTS",
  "HOOKS",
  "COMMANDS",
  "SESSIONS",
  "MEMORY",
];

/** Result of one item. */
export class ItemResult implements Report {
  readonly itemType: ItemType;
  readonly #cwd: string | null;
  readonly successes: Success[] = [];
  readonly failures: Failure[] = [];

  constructor(itemType: ItemType, cwd: string | null) {
    this.itemType = itemType;
    this.#cwd = cwd;
  }

  success(
    source: string,
    target: string,
    more: { readonly cwd?: string; readonly title?: string | null } = {},
  ) {
    const { cwd = this.#cwd, title = null } = more;
    this.successes.push({ itemType: this.itemType, cwd, source, target, title });
  }

  failure(
    source: string | null,
    message: string,
    stage = "import",
    subErrorType: string | null = null,
  ): void {
    this.failures.push({
      itemType: this.itemType,
      errorType: null,
      subErrorType,
      failureStage: stage,
      message,
      cwd: this.#cwd,
      source,
    });
  }

  /** Marks the item as failed as a whole. */
  failed(message: string): void {
    this.failures.push({
      itemType: this.itemType,
      errorType: "external_agent_config_import_error",
      subErrorType: null,
      failureStage: "import_request_failed",
      message,
      cwd: this.#cwd,
      source: null,
    });
  }

  get view(): TypeResult {
    return { itemType: this.itemType, successes: [...this.successes], failures: [...this.failures] };
  }
}

/** Merges the results by item type, in the order of `ORDER`. */
export function byType(results: readonly TypeResult[]): TypeResult[] {
  const types = new Map<ItemType, { successes: Success[]; failures: Failure[] }>();
  for (const { itemType, successes, failures } of results) {
    const all = types.get(itemType) ?? { successes: [], failures: [] };
    for (const success of successes) all.successes.push(success);
    for (const failure of failures) all.failures.push(failure);
    types.set(itemType, all);
  }
  return ORDER.flatMap((itemType) => {
    const all = types.get(itemType);
    return all === undefined ? [] : [{ itemType, ...all }];
  });
}
