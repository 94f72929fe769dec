import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { controlSocketPath } from "../server/listen/unix.ts";

/** The folder in which hosts of a home listen for commands of the same user. */
function controlFolder(home: string): string {
  return dirname(controlSocketPath(home));
}

/** The socket on which a host listens for `bobbin` commands, besides the addresses of `--listen`. */
export function commandSocketPath(home: string): string {
  return join(controlFolder(home), `${process.pid}.sock`);
}

/** All sockets in the folder, the one of `--listen unix://` first. Killed hosts leave their sockets behind. */
export function controlSockets(home: string): readonly string[] {
  const folder = controlFolder(home);
  const paths = namesIn(folder)
    .filter((name) => name.endsWith(".sock"))
    .map((name) => join(folder, name));
  const first = controlSocketPath(home);
  return paths.sort((a, b) => Number(b === first) - Number(a === first) || a.localeCompare(b));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
