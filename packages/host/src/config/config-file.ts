import { join } from "node:path";
import type { Files } from "../platform/platform.ts";
import { ConfigError } from "./bad-config-error.ts";
import { configFolder } from "./home-folder.ts";
import type { Table } from "./table-reader.ts";

/** Path of the user's `config.toml`. */
export function configPath(home: string): string {
  return join(configFolder(home), CONFIG_FILE);
}

export const CONFIG_FILE = "config.toml";

/**
 * Reads a configuration file. Returns undefined if it does not exist, and throws a ConfigError if it cannot be read.
 */
export async function readConfigFile(
  files: Pick<Files, "readText">,
  path: string,
): Promise<string | undefined> {
  try {
    // Strict, because a write would store the replacements of invalid bytes.
    return await files.readText(path, { strict: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === "EISDIR" ? "it is a folder" : (cause as Error).message;
    throw new ConfigError(`${path} cannot be read: ${why}`, { cause });
  }
}

export interface TomlFile {
  readonly file: string;
  readonly text: string;
  readonly table: Table;
}

/** Reads and parses TOML files. A file whose text has not changed is not parsed again. */
export class TomlReader {
  readonly #files: Pick<Files, "readText">;
  readonly #known: Map<string, TomlFile>;

  constructor(files: Pick<Files, "readText">, known = new Map<string, TomlFile>()) {
    this.#files = files;
    this.#known = known;
  }

  /** Returns a reader with the same cache that reads through other `files`. */
  through(files: Pick<Files, "readText">): TomlReader {
    return new TomlReader(files, this.#known);
  }

  /** Reads a file; undefined if it does not exist. Throws a ConfigError if it cannot be read or is not TOML. */
  async read(file: string): Promise<TomlFile | undefined> {
    const text = await readConfigFile(this.#files, file);
    return text === undefined ? undefined : this.parse(file, text);
  }

  async parse(file: string, text: string): Promise<TomlFile> {
    const known = this.#known.get(file);
    if (known?.text === text) return known;
    // The parser is loaded on demand: most runs over stdio have no configuration file.
    const { parse } = await import("@decimalturn/toml-patch");
    try {
      const read = { file, text, table: parse(text) as Table };
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      this.#known.set(file, read);
      return read;
    } catch (cause) {
      throw new ConfigError(`${file}: ${(cause as Error).message}`, { cause });
    }
  }
}

/** Limit on cached files. When it is reached, the cache is cleared. */
const MAX_KNOWN = 256;
