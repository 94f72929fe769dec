import type { KeyWarning } from "./keys/key-warnings.ts";
import type { LayeredConfig } from "./layered-config.ts";

/** Finds unknown keys in configuration files and `-c` options; most of them are misspelled. */
export class KeyWarningCheck {
  readonly #layers: Pick<LayeredConfig, "files">;
  readonly #overrides: readonly string[];
  /** The last checked texts, and the warnings about them. */
  #found: { readonly in: string; readonly warnings: readonly KeyWarning[] } | undefined;

  constructor(layers: Pick<LayeredConfig, "files">, overrides: readonly string[]) {
    this.#layers = layers;
    this.#overrides = overrides;
  }

  /**
   * Checks the current files, except those of projects. An unreadable file gives no warning here, because the code
   * that reads the configuration reports it.
   */
  async read(): Promise<readonly KeyWarning[]> {
    const files = await this.#layers.files().catch(() => []);
    if (files.length === 0 && this.#overrides.length === 0) return [];
    const texts = JSON.stringify(files);
    if (this.#found?.in === texts) return this.#found.warnings;
    // The catalogue of keys is loaded on demand: most runs over stdio have no configuration.
    const { fileKeyWarnings, flagKeyWarnings } = await import("./keys/key-warnings.ts");
    const warnings = [...files.flatMap(fileKeyWarnings), ...flagKeyWarnings(this.#overrides)];
    this.#found = { in: texts, warnings };
    return warnings;
  }
}
