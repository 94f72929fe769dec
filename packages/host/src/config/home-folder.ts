import { join, resolve } from "node:path";
import { fault, messageOf } from "../errors.ts";
import { userHomeFolder } from "../platform/user-home.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the home: `$BOBBIN_HOME`, else `$CODEX_HOME/bobbin`, else `~/.bobbin`. Clients that separate their state by
 * `CODEX_HOME` thus get separate threads, and the Codex CLI finds no file of ours that it could mistake for its own.
 */
export function homeDirectory(env: Environment = process.env): string {
  const configured = env["BOBBIN_HOME"];
  if (configured) return resolve(configured);
  return codexHome(env)?.home ?? join(defaultParent(), ".bobbin");
}

function defaultParent(): string {
  try {
    return userHomeFolder();
  } catch (cause) {
    throw fault("badConfig", messageOf(cause));
  }
}

/**
 * Returns the folder of `config.toml`: the home, but `$CODEX_HOME` itself for a home inside it, as clients write the
 * file there.
 */
export function configFolder(home: string, env: Environment = process.env): string {
  const codex = codexHome(env);
  return codex?.home === home ? codex.folder : home;
}

function codexHome(env: Environment): { readonly folder: string; readonly home: string } | undefined {
  const codexHome = env["CODEX_HOME"];
  if (!codexHome || env["BOBBIN_HOME"]) return undefined;
  const folder = resolve(codexHome);
  return { folder, home: join(folder, "bobbin") };
}
