import { join } from "node:path";
import { serviceTier } from "../model/service-tier.ts";
import type { Log } from "../observe/log.ts";
import type { Files } from "../platform/platform.ts";
import type {
  AgentSettings,
  DeclaredRole,
  RoleChoice,
  RoleDescription,
  Roles,
} from "../tool/children/helper-settings.ts";
import { readNicknames } from "./agent-settings.ts";
import { oneOf, type Table, text } from "./table-reader.ts";

interface RolePorts {
  readonly home: string;
  readonly files: Pick<Files, "readText" | "list">;
  readonly log: Pick<Log, "warn">;
  settings(): AgentSettings;
}

interface Role {
  readonly description: RoleDescription;
  /** Path of the role file; null for a role that config.toml alone declares. */
  readonly file: string | null;
  readonly nicknames: readonly string[] | null;
}

/** Limit on the length of a role file. */
const MAX_CHARACTERS = 256 * 1024;

/**
 * Roles of helpers: those of `config.toml`, and the files in `agents/` of the home. The list of roles is read once
 * per configuration. The file of a role is read again for each helper, so that edits take effect.
 */
export class RoleFiles implements Roles {
  readonly #ports: RolePorts;
  /** The settings for which `#roles` was read. */
  #of: AgentSettings | undefined;
  #roles: ReadonlyMap<string, Role> = new Map();
  #list: readonly RoleDescription[] = [];
  #reading: Promise<void> | undefined;

  constructor(ports: RolePorts) {
    this.#ports = ports;
  }

  ready(): Promise<void> | undefined {
    if (this.#of === this.#ports.settings()) return undefined;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  list(): readonly RoleDescription[] {
    return this.#list;
  }

  async choose(name: string): Promise<RoleChoice | { readonly problem: string }> {
    await this.ready();
    const role = this.#roles.get(name);
    if (role === undefined) {
      const names = this.#list.map((one) => one.name);
      const others =
        names.length === 0 ? "There are none: leave agent_type out." : `There are: ${names.join(", ")}.`;
      return { problem: `There is no agent_type ${JSON.stringify(name)}. ${others}` };
    }
    const { file, nicknames } = role;
    if (file === null) return { settings: {}, developerInstructions: null, nicknames };
    try {
      const { table, at } = await this.#table(file);
      return { ...choiceOf(table, at), nicknames };
    } catch (cause) {
      return { problem: `The agent_type ${name} cannot be used: ${(cause as Error).message}` };
    }
  }

  async #read(): Promise<void> {
    const settings = this.#ports.settings();
    const roles = new Map<string, Role>();
    for (const [name, declared] of settings.roles) await this.#add(roles, declared, name);
    const declared = new Set([...settings.roles.values()].map(({ configFile }) => configFile));
    for (const file of await this.#found())
      if (!declared.has(file))
        await this.#add(roles, { description: null, configFile: file, nicknames: null }, undefined);
    this.#roles = roles;
    // If the list has not changed, the same object is kept, so that the tools made from it need not be made again.
    const list = [...roles.values()].map(({ description }) => description);
    if (JSON.stringify(list) !== JSON.stringify(this.#list)) this.#list = list;
    this.#of = settings;
  }

  /** Adds a role. An invalid one is logged and left out, and the others stay usable. */
  async #add(roles: Map<string, Role>, declared: DeclaredRole, key: string | undefined): Promise<void> {
    const { configFile: file } = declared;
    try {
      const { table, at } = file === null ? { table: {}, at: "" } : await this.#table(file);
      const name = text(table, "name", at)?.trim() || key;
      if (name === undefined) throw new Error(`${file} has no name`);
      const description = text(table, "description", at)?.trim() || declared.description;
      if (description === null) throw new Error(`agents.${name}.description is required`);
      if (roles.has(name)) throw new Error(`the agent role ${name} is defined twice`);
      const { settings } = choiceOf(table, at);
      const { model = null, effort = null } = settings;
      roles.set(name, {
        description: { name, description, model, effort },
        file,
        nicknames: readNicknames(table, at) ?? declared.nicknames,
      });
    } catch (cause) {
      this.#ports.log.warn("an agent role is ignored", { problem: (cause as Error).message });
    }
  }

  async #found(): Promise<readonly string[]> {
    const folder = join(this.#ports.home, "agents");
    const entries = await this.#ports.files.list(folder).catch(() => []);
    const names = entries.filter((entry) => !entry.folder && entry.name.endsWith(".toml"));
    return names.map(({ name }) => join(folder, name)).sort();
  }

  async #table(file: string): Promise<{ readonly table: Table; readonly at: string }> {
    const written = await this.#ports.files.readText(file);
    if (written === undefined) throw new Error(`there is no file ${file}`);
    if (written.length > MAX_CHARACTERS) throw new Error(`${file} is too large`);
    const { parse } = await import("@decimalturn/toml-patch");
    try {
      return { table: parse(written) as Table, at: `${file}: ` };
    } catch (cause) {
      throw new Error(`${file}: ${(cause as Error).message}`, { cause });
    }
  }
}

/**
 * Reads the settings that a role file may choose. All other keys are ignored, because a helper has its parent's
 * permissions.
 */
function choiceOf(table: Table, at: string): Pick<RoleChoice, "settings" | "developerInstructions"> {
  const model = text(table, "model", at);
  const effort = text(table, "model_reasoning_effort", at);
  const summary = oneOf(table, "model_reasoning_summary", ["auto", "concise", "detailed", "none"], at);
  const verbosity = oneOf(table, "model_verbosity", ["low", "medium", "high"], at);
  const personality = oneOf(table, "personality", ["none", "friendly", "pragmatic"], at);
  const tier = text(table, "service_tier", at);
  return {
    settings: {
      ...(model !== undefined && { model }),
      ...(effort !== undefined && { effort }),
      ...(summary !== undefined && { summary }),
      ...(verbosity !== undefined && { verbosity }),
      ...(personality !== undefined && { personality }),
      ...(tier !== undefined && { serviceTier: serviceTier(tier) }),
    },
    developerInstructions: text(table, "developer_instructions", at)?.trim() || null,
  };
}
