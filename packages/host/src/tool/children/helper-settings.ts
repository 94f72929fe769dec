import type { HelperSettings } from "../../core/children/helper-thread-state.ts";

/** Configuration of helpers (`[agents]`). */
export interface AgentSettings {
  readonly enabled: boolean;
  /** Limit on the open helpers of all threads below one root thread (a thread that a client started). */
  readonly maxThreads: number;
  /** Limit on the nesting of helpers. With 1, helpers cannot start helpers. */
  readonly maxDepth: number;
  /** The model of helpers whose call names none; null for the parent's model. */
  readonly defaultModel: string | null;
  readonly defaultEffort: string | null;
  /** Roles declared in `config.toml`, by name. */
  readonly roles: ReadonlyMap<string, DeclaredRole>;
}

/** A role as `config.toml` declares it. */
export interface DeclaredRole {
  readonly description: string | null;
  /** The role's own config file, with settings and instructions, and possibly with a description and nicknames. */
  readonly configFile: string | null;
  readonly nicknames: readonly string[] | null;
}

/** A role as the model sees it in the description of `spawn_agent`. */
export interface RoleDescription {
  readonly name: string;
  readonly description: string;
  /** The model that the role sets. A call cannot choose another one. Null if the role sets none. */
  readonly model: string | null;
  readonly effort: string | null;
}

/** The settings that a role gives to a new helper. */
export interface RoleChoice {
  readonly settings: HelperSettings;
  readonly developerInstructions: string | null;
  readonly nicknames: readonly string[] | null;
}

export interface Roles {
  /** Resolves when `list` is complete; undefined if it already is. */
  ready(): Promise<void> | undefined;
  list(): readonly RoleDescription[];
  /** Reads the settings of a role. `problem`: why the role cannot be used. */
  choose(name: string): Promise<RoleChoice | { readonly problem: string }>;
}
