import { parse, parseDocument } from "@decimalturn/toml-patch";
import { ConfigError } from "../bad-config-error.ts";
import { readOverride, set } from "../overrides.ts";
import type { Table } from "../table-reader.ts";
import { keyPosition } from "./key-position.ts";
import { unusedKeys } from "./request-keys.ts";
import { unknownKeys } from "./unknown-keys.ts";

/** Warning about a key that is not in the catalogue; most often it is misspelled. */
export interface KeyWarning {
  /** Text for people, with the position and the key that was probably meant. */
  readonly message: string;
  /** Where the key is written: a file, or a `-c` option. */
  readonly place: KeyFile | { readonly option: string };
}

interface KeyFile {
  readonly file: string;
  /** Lines and columns count from 1. `endColumn` is the column after the key. */
  readonly line: number;
  readonly column: number;
  readonly endColumn: number;
}

/**
 * Returns a warning for each unknown key of a configuration file. A file that is not TOML gives none: its reader
 * reports it.
 */
export function fileKeyWarnings({
  file,
  text,
}: {
  readonly file: string;
  readonly text: string;
}): readonly KeyWarning[] {
  const bare = text.replace(/^\uFEFF/, "");
  let table: Table;
  try {
    table = parse(bare) as Table;
  } catch {
    return [];
  }
  const unknown = unknownKeys(table);
  if (unknown.length === 0) return [];
  const { cst } = parseDocument(bare);
  return unknown.map(({ path, likely }) => {
    const { line, column, endColumn } = keyPosition(cst, path);
    const message = `${file}:${line}:${column}: ${words(path, likely)}`;
    return { message, place: { file, line, column, endColumn } };
  });
}

/**
 * Returns a warning for each unknown key of `-c key=value` options. Malformed options give none: `readOverride`
 * refuses them.
 */
export function flagKeyWarnings(overrides: readonly string[]): readonly KeyWarning[] {
  return overrides.flatMap((override) => {
    const table: Record<string, unknown> = {};
    try {
      set(table, ...readOverride(override, parse));
    } catch (cause) {
      if (cause instanceof ConfigError) return [];
      throw cause;
    }
    return unknownKeys(table).map(({ path, likely }) => ({
      message: `-c ${override.slice(0, 200)}: ${words(path, likely)}`,
      place: { option: override },
    }));
  });
}

/** Limit on the length of a key in a message. */
const MOST_LETTERS = 300;

/** Limit on the warnings about one request. */
const MOST_OF_REQUEST = 20;

interface RequestKeyWarnings {
  /** A sentence about each unknown key. */
  readonly unknown: readonly string[];
  /** A sentence about each key that counts in config.toml, but not in a request. */
  readonly unused: readonly string[];
}

/** Checks the keys in the `config` of a request. */
export function requestKeyWarnings(method: string, table: Table): RequestKeyWarnings {
  const unknown = unknownKeys(table, { most: MOST_OF_REQUEST });
  return {
    unknown: unknown.map(({ path, likely }) => `config of ${method}: ${words(path, likely)}`),
    unused: unusedKeys(table).map((key) => `config of ${method}: \`${key}\` has no effect in a request`),
  };
}

function words(path: readonly (string | number)[], likely: string | null): string {
  const name = path
    .filter((key) => typeof key === "string")
    .join(".")
    .slice(0, MOST_LETTERS);
  const meant = likely === null ? "" : `; did you mean \`${likely}\`?`;
  return `unknown configuration key \`${name}\`${meant}`;
}
