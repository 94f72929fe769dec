import { join } from "node:path";
import type { Files } from "../platform/platform.ts";
import { joinRules, type Rules } from "./consent/rules.ts";
import { type BadRulesFile, readRulesFile } from "./consent/rules-file.ts";

export interface LoadedRules {
  readonly rules: Rules;
  /** Files that could not be read. Nothing that they allow counts. */
  readonly bad: readonly BadRulesFile[];
}

/** Loads the rules of the home: all files `rules/*.rules`. */
export async function loadRules(files: Pick<Files, "list" | "readText">, home: string): Promise<LoadedRules> {
  const folder = join(home, "rules");
  const names = (await files.list(folder))
    .filter(({ name, folder: isFolder }) => !isFolder && name.endsWith(".rules"))
    .map(({ name }) => name)
    .sort();
  const read = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      try {
        return readRulesFile(path, (await files.readText(path)) ?? "");
      } catch (cause) {
        return readRulesFile(path, null, (cause as Error).message);
      }
    }),
  );
  return {
    rules: joinRules(read.map(({ rules }) => rules)),
    bad: read.flatMap(({ bad }) => bad ?? []),
  };
}
