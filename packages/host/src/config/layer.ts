import { createHash } from "node:crypto";
import type { ConfigLayer, ConfigLayerMetadata, ConfigLayerSource } from "@bobbin/protocol";
import type { Table } from "./table-reader.ts";

interface LayerContent {
  readonly name: ConfigLayerSource;
  /** Path of the layer's file; null for the command line. */
  readonly file: string | null;
  /** Text of the file; undefined if it does not exist. */
  readonly text?: string | undefined;
  readonly table: Table;
  /** Why the layer is ignored; null if it is used. */
  readonly disabledReason?: string | null;
}

/** One source of configuration values: a file, or the command line. */
export class Layer implements ConfigLayer {
  readonly name: ConfigLayerSource;
  readonly file: string | null;
  readonly text: string | undefined;
  /** The layer's values as JSON. */
  readonly config: Table;
  readonly disabledReason: string | null;
  #version: string | undefined;

  constructor({ name, file, text, table, disabledReason }: LayerContent) {
    this.name = name;
    this.file = file;
    this.text = text;
    this.config = plain(table) as Table;
    this.disabledReason = disabledReason ?? null;
  }

  /** Digest of the values. It does not depend on the formatting of the file. */
  get version(): string {
    this.#version ??= `sha256:${createHash("sha256")
      .update(JSON.stringify(sorted(this.config)))
      .digest("hex")}`;
    return this.#version;
  }

  /** The layer in the shape of the protocol. */
  toJSON(): ConfigLayer {
    const { name, version, config, disabledReason } = this;
    return { name, version, config, disabledReason };
  }
}

type AnyLayer = Pick<ConfigLayer, "name" | "version" | "config" | "disabledReason">;

/** Merges all layers that are not disabled. `layers` starts with the one of the highest precedence. */
export function mergeLayers(layers: readonly Pick<AnyLayer, "config" | "disabledReason">[]): Table {
  return layers
    .filter(({ disabledReason }) => disabledReason === null)
    .map(({ config }) => config as Table)
    .reduceRight((below, above) => mergeTables(below, above), {});
}

/** For each value of the merged table, by its dotted path, the layer that the value comes from. */
export function originsOf(layers: readonly AnyLayer[]): Record<string, ConfigLayerMetadata> {
  const counted = layers.filter(({ disabledReason }) => disabledReason === null);
  const paths = [...leaves(mergeLayers(counted))];
  return Object.fromEntries(
    paths.map((path) => {
      const { name, version } = counted.find(({ config }) => valueAt(config, path) !== undefined)!;
      return [path.join("."), { name, version }];
    }),
  );
}

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Converts TOML values to JSON values: big integers become numbers, dates become strings. Keys keep the order of the
 * file.
 */
export function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  if ("toISOString" in value) return String(JSON.parse(JSON.stringify(value)));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

/** Sorts the keys of all tables, so that equal values give equal digests. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isTable(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

/** Merges two tables. Nested tables are merged, any other value of `above` replaces the one of `below`. */
export function mergeTables(below: Table, above: Table): Table {
  const entries = Object.entries(above).map(([key, value]): [string, unknown] => {
    const under = Object.hasOwn(below, key) ? below[key] : undefined;
    return [key, isTable(under) && isTable(value) ? mergeTables(under, value) : value];
  });
  return Object.fromEntries([...Object.entries(below), ...entries]);
}

function* leaves(value: unknown, path: readonly string[] = []): Iterable<readonly string[]> {
  if (typeof value !== "object" || value === null) return yield path;
  for (const [key, inner] of Object.entries(value)) yield* leaves(inner, [...path, key]);
}

/** The value at a path of keys; undefined if there is none. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Table)[key];
  }
  return at;
}
