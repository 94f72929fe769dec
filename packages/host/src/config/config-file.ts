import { join } from "node:path";
import type { Files } from "../platform/platform.ts";
import { ConfigError } from "./config-error.ts";

export function configPath(home: string): string {
  return join(home, "config.toml");
}

/** Reads `config.toml`. Undefined if there is none; a ConfigError if it is there and cannot be read. */
export async function readConfigFile(
  files: Pick<Files, "readText">,
  home: string,
): Promise<string | undefined> {
  const path = configPath(home);
  try {
    return await files.readText(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === "EISDIR" ? "it is a folder" : (cause as Error).message;
    throw new ConfigError(`${path} cannot be read: ${why}`, { cause });
  }
}
