import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** `$BOBBIN_HOME`, else `~/.bobbin`. */
export function homeDirectory(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const asked = env["BOBBIN_HOME"];
  return asked ? resolve(asked) : join(homedir(), ".bobbin");
}
