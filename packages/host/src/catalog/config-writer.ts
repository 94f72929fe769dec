import { dirname, resolve } from "node:path";
import type { ConfigLayer, ConfigWriteResponse } from "@bobbin/protocol";
import { type Config, readConfig } from "../config/config.ts";
import { type ErrorCode, Fault, fault, messageOf } from "../errors.ts";
import type { Files } from "../platform/platform.ts";
import { type ConfigChange, changed, isWritable, keysOf } from "./config-edits.ts";
import { type ConfigLayers, mergeLayers, plain, type Table, valueAt } from "./config-layers.ts";

export interface ConfigEdits {
  readonly edits: readonly {
    readonly keyPath: string;
    readonly value: unknown;
    readonly mergeStrategy: ConfigChange["mergeStrategy"];
  }[];
  readonly expectedVersion?: string | null | undefined;
  readonly filePath?: string | null | undefined;
}

/** Changes `config.toml` and leaves in it what people have written around the values. */
export class ConfigWriter {
  readonly #files: Pick<Files, "replaceText">;
  readonly #layers: ConfigLayers;

  constructor(files: Pick<Files, "replaceText">, layers: ConfigLayers) {
    this.#files = files;
    this.#layers = layers;
  }

  /** All edits or none; gives what is configured from then on. */
  async write({ edits, expectedVersion, filePath }: ConfigEdits): Promise<{
    readonly reply: ConfigWriteResponse;
    readonly config: Config;
  }> {
    const { path } = this.#layers;
    if (filePath != null && resolve(filePath) !== path) throw refused("configLayerReadonly");
    const text = await this.#layers.text();
    const before = await this.#layers.of(text);
    const { version } = user(before);
    if (expectedVersion != null && expectedVersion !== version) throw refused("configVersionConflict");
    const changes = edits.map(readEdit);
    const { parse, patch } = await import("@decimalturn/toml-patch");
    const table = text === undefined ? {} : (parse(text) as Table);
    const wanted = changes.reduce(changed, table);
    const next = edits.length === 0 ? text : patched(patch, text ?? "", wanted);
    const after = await this.#layers.of(next);
    // Whatever people have written in it, it has to say what was asked for, and all else that it said before.
    if (JSON.stringify(user(after).config) !== JSON.stringify(plain(wanted)))
      throw fault("notSaved", "config.toml is written in a way that cannot be changed here");
    const config = valid(mergeLayers(after), dirname(path));
    if (user(after).version !== version) await this.#save(next!);
    const overridden = changes.map((change) => overriding(after, change.path)).find((one) => one !== null);
    return {
      reply: {
        status: overridden === undefined ? "ok" : "okOverridden",
        version: user(after).version,
        filePath: path,
        overriddenMetadata: overridden ?? null,
      },
      config,
    };
  }

  async #save(text: string): Promise<void> {
    try {
      await this.#files.replaceText(this.#layers.path, text.endsWith("\n") ? text : `${text}\n`);
    } catch (cause) {
      throw fault("notSaved", messageOf(cause));
    }
  }
}

/** What was a way to choose among configurations; written, it would be there and count for nothing. */
const LEGACY: ReadonlyMap<string, string> = new Map([
  ["profile", "is a legacy config selector and can no longer be written"],
  ["profiles", "contains legacy config profile tables and can no longer be written"],
]);

function readEdit({ keyPath, value, mergeStrategy }: ConfigEdits["edits"][number]): ConfigChange {
  const path = keysOf(keyPath);
  if (typeof path === "string") throw refused("configValidationError", path);
  const legacy = value == null ? undefined : LEGACY.get(path[0]!);
  if (legacy !== undefined) throw refused("configValidationError", `\`${path[0]}\` ${legacy}`);
  if (value != null && !isWritable(value))
    throw refused("configValidationError", "invalid value: null can not be written within a value");
  return { path, value: value ?? null, mergeStrategy };
}

function patched(patch: (text: string, table: Table) => string, text: string, wanted: Table): string {
  try {
    return patch(text, wanted);
  } catch (cause) {
    throw refused("configValidationError", `invalid value: ${(cause as Error).message}`);
  }
}

function valid(table: Table, home: string): Config {
  try {
    return readConfig(table, { home });
  } catch (cause) {
    throw refused("configValidationError", `Invalid configuration: ${(cause as Error).message}`);
  }
}

function user(layers: readonly ConfigLayer[]): ConfigLayer {
  return layers.find(({ name }) => name.type === "user")!;
}

/** What stands above a value that was written, if something does. */
function overriding(
  layers: readonly ConfigLayer[],
  path: readonly string[],
): ConfigWriteResponse["overriddenMetadata"] {
  const effective = valueAt(mergeLayers(layers), path);
  if (JSON.stringify(effective) === JSON.stringify(valueAt(user(layers).config, path))) return null;
  const above = layers.find(({ config }) => valueAt(config, path) !== undefined);
  if (above === undefined || above.name.type === "user") return null;
  const { name, version } = above;
  return {
    message: "Overridden by session flags",
    overridingLayer: { name, version },
    effectiveValue: effective ?? null,
  };
}

type WriteFault = "configLayerReadonly" | "configVersionConflict" | "configValidationError";

/** Clients look for the peer's own name of the code, too. */
function refused<C extends WriteFault & ErrorCode>(
  code: C,
  ...words: C extends "configValidationError" ? [string] : []
): Fault {
  const { message } = fault(code, ...(words as never));
  return new Fault(code, message, { config_write_error_code: code });
}
