import { createHash } from "node:crypto";
import type { ConfigLayer, ConfigLayerMetadata, ConfigLayerSource } from "@bobbin/protocol";
import { configPath, readConfigFile } from "../config/config-file.ts";
import { readOverride, set } from "../config/load.ts";
import { fault, messageOf } from "../errors.ts";
import type { Files } from "../platform/platform.ts";

/** Keys and values, whatever they are. */
export type Table = { readonly [key: string]: unknown };

/** What is configured where, as it is on disk now: `config.toml`, and above it what the command line said. */
export class ConfigLayers {
  readonly #files: Pick<Files, "readText">;
  readonly #home: string;
  readonly path: string;
  readonly #overrides: readonly string[];

  constructor(files: Pick<Files, "readText">, home: string, overrides: readonly string[]) {
    this.#files = files;
    this.#home = home;
    this.path = configPath(home);
    this.#overrides = overrides;
  }

  /** The higher ones first. */
  async read(): Promise<readonly ConfigLayer[]> {
    return this.of(await this.text());
  }

  /** The file as it is now; undefined if there is none. */
  async text(): Promise<string | undefined> {
    try {
      return await readConfigFile(this.#files, this.#home);
    } catch (cause) {
      throw fault("badConfig", messageOf(cause));
    }
  }

  /** As they would be with this in the file. */
  async of(text: string | undefined): Promise<readonly ConfigLayer[]> {
    const user: ConfigLayerSource = { type: "user", file: this.path, profile: null };
    if (text === undefined && this.#overrides.length === 0) return [layer(user, {})];
    const { parse } = await import("@decimalturn/toml-patch");
    const table = text === undefined ? {} : this.#parsed(text, parse);
    if (this.#overrides.length === 0) return [layer(user, table)];
    const flags: Record<string, unknown> = {};
    for (const override of this.#overrides) set(flags, ...readOverride(override, parse));
    return [layer({ type: "sessionFlags" }, flags), layer(user, table)];
  }

  /** Someone may be in the middle of editing it: then that is the answer, in words. */
  #parsed(text: string, parse: (text: string) => object): Table {
    try {
      return parse(text) as Table;
    } catch (cause) {
      throw fault("badConfig", `${this.path}: ${(cause as Error).message}`);
    }
  }

  /** All layers in one table. */
  async merged(): Promise<Table> {
    return mergeLayers(await this.read());
  }
}

export function mergeLayers(layers: readonly ConfigLayer[]): Table {
  return layers.map(({ config }) => config as Table).reduceRight((below, above) => merge(below, above), {});
}

/** Which layer each value of the merged table comes from, by dotted path. */
export function originsOf(layers: readonly ConfigLayer[]): Record<string, ConfigLayerMetadata> {
  const paths = [...leaves(mergeLayers(layers))];
  return Object.fromEntries(
    paths.map((path) => {
      const { name, version } = layers.find(({ config }) => has(config, path))!;
      return [path.join("."), { name, version }];
    }),
  );
}

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function layer(name: ConfigLayerSource, table: Table): ConfigLayer {
  const config = plain(table);
  const hash = createHash("sha256").update(JSON.stringify(config)).digest("hex");
  return { name, version: `sha256:${hash}`, config, disabledReason: null };
}

/** TOML knows whole numbers and dates that JSON does not. Keys in order, so that the same values hash alike. */
export function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  if ("toISOString" in value) return String(JSON.parse(JSON.stringify(value)));
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, plain(inner)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function merge(below: Table, above: Table): Table {
  const entries = Object.entries(above).map(([key, value]): [string, unknown] => {
    const under = Object.hasOwn(below, key) ? below[key] : undefined;
    return [key, isTable(under) && isTable(value) ? merge(under, value) : value];
  });
  return Object.fromEntries([...Object.entries(below), ...entries]);
}

function* leaves(value: unknown, path: readonly string[] = []): Iterable<readonly string[]> {
  if (typeof value !== "object" || value === null) return yield path;
  for (const [key, inner] of Object.entries(value)) yield* leaves(inner, [...path, key]);
}

function has(value: unknown, path: readonly string[]): boolean {
  return valueAt(value, path) !== undefined;
}

/** Undefined if there is none. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Table)[key];
  }
  return at;
}
