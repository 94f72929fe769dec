import type { ExternalAgentConfigMigrationItemType, MigrationDetails } from "@bobbin/protocol";
import type { Scope } from "./import-scope.ts";

export type ItemType = ExternalAgentConfigMigrationItemType;

/** One pending import: an item type in a scope. */
export interface PendingImport {
  readonly itemType: ItemType;
  readonly description: string;
  readonly details: MigrationDetails | null;
  /** Performs the import, and reports each part. An exception makes the whole item fail. */
  run(report: Report): Promise<void>;
}

export interface Report {
  success(source: string, target: string): void;
  failure(source: string, message: string): void;
}

/** Finds pending imports of one item type. Returns undefined if there is none. Throws if a file cannot be read. */
export interface Planner {
  readonly itemType: ItemType;
  plan(scope: Scope): Promise<PendingImport | undefined>;
}

const NO_DETAILS = {
  plugins: [],
  skills: [],
  sessions: [],
  mcpServers: [],
  hooks: [],
  subagents: [],
  commands: [],
} satisfies MigrationDetails;

/** Fills in the other lists as empty ones, because clients require all lists. */
export function details(some: MigrationDetails): MigrationDetails {
  return { ...NO_DETAILS, ...some };
}

export function named(names: readonly string[]): { name: string }[] {
  return names.map((name) => ({ name }));
}

/** An import error with a message for people. */
export class ImportProblem extends Error {}
