import { dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { ConfigLayer, ConfigLayerSource, ConfigWriteResponse } from "@bobbin/protocol";
import { type ErrorCode, Fault, fault, messageOf } from "../../errors.ts";
import type { Files, Liveness } from "../../platform/platform.ts";
import { withinRequirements } from "../apply-requirements.ts";
import { type Config, readConfig } from "../config.ts";
import { isTable, type LayeredConfig, mergeLayers, plain, type Table, valueAt } from "../layered-config.ts";
import type { Requirements } from "../requirements.ts";
import { type ConfigChange, changed, isWritable, keysOf } from "./config-edits.ts";
import { refuseProfile, refuseServers, refuseWrite } from "./edit-requirement-check.ts";
import { editToml } from "./toml-edit.ts";

export interface ConfigEditBatch {
  readonly edits: readonly {
    readonly keyPath: string;
    readonly value: unknown;
    readonly mergeStrategy: ConfigChange["mergeStrategy"];
  }[];
  readonly expectedVersion?: string | null | undefined;
  readonly filePath?: string | null | undefined;
}

interface WrittenConfig {
  readonly reply: ConfigWriteResponse;
  readonly config: Config;
}

export interface ConfigWriterPorts {
  readonly files: Pick<Files, "replaceText">;
  readonly liveness: Pick<Liveness, "exclusively">;
}

/**
 * Edits `config.toml`, and keeps its comments, order and formatting. Refuses each edit that `requirements.toml` does
 * not allow.
 */
export class ConfigWriter {
  readonly #ports: ConfigWriterPorts;
  readonly #layers: LayeredConfig;
  readonly #required: Pick<LayeredConfig, "requirements">;
  readonly #lock: string;

  /** `required` has the requirements. They are those of the edited home, unless the file belongs to a project. */
  constructor(
    ports: ConfigWriterPorts,
    layers: LayeredConfig,
    required: Pick<LayeredConfig, "requirements"> = layers,
  ) {
    this.#ports = ports;
    this.#layers = layers;
    this.#required = required;
    this.#lock = join(layers.home, "config.lock");
  }

  /**
   * Makes all edits or none, and returns the resulting configuration. Writes of one host are made in the order of the
   * calls. A lock file makes other hosts and commands of the same home wait, so that no write is lost.
   */
  write(edits: ConfigEditBatch): Promise<WrittenConfig> {
    const { liveness } = this.#ports;
    return this.#layers.exclusively(() => liveness.exclusively(this.#lock, () => this.#write(edits)));
  }

  async #write({ edits, expectedVersion, filePath }: ConfigEditBatch): Promise<WrittenConfig> {
    const { path } = this.#layers;
    const requirements = await this.#required.requirements();
    refuseWrite(requirements, edits);
    if (filePath != null && resolve(filePath) !== path) throw refused("configLayerReadonly");
    const text = await this.#layers.text();
    const before = await this.#layers.of(text);
    const { version } = user(before)!;
    if (expectedVersion != null && expectedVersion !== version) throw refused("configVersionConflict");
    const changes = edits.map(readEdit);
    const { parseDocument } = await import("@decimalturn/toml-patch");
    const wanted = changes.reduce(changed, user(before)!.config as Table);
    const next =
      changes.length === 0
        ? text
        : attempted(() => changes.reduce((now, change) => editToml(now, change, parseDocument), text ?? ""));
    // Checks the edited text: it must contain the requested values, and all other values unchanged.
    const after = await this.#layers.of(next).catch(notEditable);
    if (!isSaid(user(after)!.config, plain(wanted))) notEditable();
    const merged = mergeLayers(after);
    const config = valid(merged, dirname(path), requirements);
    refuseServers(requirements, edits, merged);
    refuseProfile(requirements, edits, merged);
    const written = user(after)!;
    if (written.version !== version) await this.#save(next!);
    const overridden = changes.map((change) => overriding(after, change.path)).find((one) => one !== null);
    return {
      reply: {
        status: overridden === undefined ? "ok" : "okOverridden",
        version: written.version,
        filePath: path,
        overriddenMetadata: overridden ?? null,
      },
      config,
    };
  }

  async #save(text: string): Promise<void> {
    try {
      await this.#ports.files.replaceText(this.#layers.path, text.endsWith("\n") ? text : `${text}\n`);
    } catch (cause) {
      throw fault("notSaved", messageOf(cause));
    }
  }
}

/** Keys that selected a configuration in older versions of the Codex CLI. They would have no effect now. */
const LEGACY: ReadonlyMap<string, string> = new Map([
  ["profile", "is a legacy config selector and can no longer be written"],
  ["profiles", "contains legacy config profile tables and can no longer be written"],
]);

function readEdit({ keyPath, value, mergeStrategy }: ConfigEditBatch["edits"][number]): ConfigChange {
  const path = keysOf(keyPath);
  if (typeof path === "string") throw refused("configValidationError", path);
  const legacy = value == null ? undefined : LEGACY.get(path[0]!);
  if (legacy !== undefined) throw refused("configValidationError", `\`${path[0]}\` ${legacy}`);
  if (value != null && !isWritable(value))
    throw refused("configValidationError", "invalid value: TOML has neither null nor half a character");
  return { path, value: value ?? null, mergeStrategy };
}

function attempted<T>(edit: () => T): T {
  try {
    return edit();
  } catch {
    return notEditable();
  }
}

function notEditable(): never {
  throw fault("notSaved", "config.toml is written in a way that cannot be changed here");
}

/** Whether two tables have equal values. An empty table equals a missing one. */
function isSaid(config: unknown, wanted: unknown): boolean {
  return isDeepStrictEqual(config, wanted) || isDeepStrictEqual(withoutEmpty(config), withoutEmpty(wanted));
}

function withoutEmpty(value: unknown): unknown {
  if (!isTable(value)) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, withoutEmpty(inner)]);
  const left = entries.filter(([, inner]) => inner !== undefined);
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

function valid(table: Table, home: string, requirements: Requirements): Config {
  try {
    return withinRequirements(readConfig(table, { home, requirements }));
  } catch (cause) {
    throw refused("configValidationError", `Invalid configuration: ${(cause as Error).message}`);
  }
}

/** The layer of `config.toml` itself, the only file that is written. A profile is a layer of type `user`, too. */
function user(layers: readonly ConfigLayer[]): ConfigLayer | undefined {
  return layers.find(({ name }) => name.type === "user" && name.profile === null);
}

/** Returns the layer whose value overrides a written one; null if there is none. */
function overriding(
  layers: readonly ConfigLayer[],
  path: readonly string[],
): ConfigWriteResponse["overriddenMetadata"] {
  const effective = valueAt(mergeLayers(layers), path);
  if (isDeepStrictEqual(effective, valueAt(user(layers)?.config, path))) return null;
  const above = layers.find(({ config }) => valueAt(config, path) !== undefined);
  if (above === undefined || above === user(layers)) return null;
  const { name, version } = above;
  return {
    message: overriddenBy(name),
    overridingLayer: { name, version },
    effectiveValue: effective ?? null,
  };
}

function overriddenBy(name: ConfigLayerSource): string {
  switch (name.type) {
    case "sessionFlags":
      return "Overridden by session flags";
    case "project":
      return `Overridden by project config: ${name.dotCodexFolder}/config.toml`;
    case "system":
      return `Overridden by managed config (system): ${name.file}`;
    case "user":
      return `Overridden by user config: ${name.file}`;
    default:
      return `Overridden by a layer above it: ${name.type}`;
  }
}

type WriteFault =
  | "configLayerReadonly"
  | "configPathNotFound"
  | "configVersionConflict"
  | "configValidationError";

/** Adds the error code in the field in which clients of the Codex CLI look for it. */
export function refused<C extends WriteFault & ErrorCode>(
  code: C,
  ...words: C extends "configValidationError" | "configPathNotFound" ? [string] : []
): Fault {
  const { message } = fault(code, ...(words as never));
  return new Fault(code, message, { config_write_error_code: code });
}
