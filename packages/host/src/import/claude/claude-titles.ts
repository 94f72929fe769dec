import { textAt } from "../session/session-line-fields.ts";
import type { JsonObject } from "../text-files.ts";

/**
 * Collects the titles in a session's lines. The user's title takes precedence, then the last one from a model, then a
 * summary.
 */
export class ClaudeTitles {
  #own: string | undefined;
  #made: string | undefined;
  #summary: string | undefined;

  look(line: JsonObject): void {
    switch (line["type"]) {
      case "custom-title":
        this.#own = textAt(line, "customTitle")?.trim() || this.#own;
        break;
      case "ai-title":
        this.#made = textAt(line, "aiTitle")?.trim() || this.#made;
        break;
      case "summary":
        this.#summary ??= textAt(line, "summary")?.trim() || undefined;
        break;
    }
  }

  get name(): string | undefined {
    return this.#own ?? this.#made ?? this.#summary;
  }
}
