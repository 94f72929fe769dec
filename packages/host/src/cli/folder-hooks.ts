import { configFolder } from "../config/home-folder.ts";
import { etcFolder } from "../config/layer-files.ts";
import { LayeredConfig } from "../config/layered-config.ts";
import { type FoundHooks, findHooks } from "../hooks/configured-hooks.ts";
import { hookLayers } from "../hooks/hook-layers.ts";
import type { Platform } from "../platform/platform.ts";

/** Finds the hooks that apply in a folder, including those of an untrusted project. */
export async function findFolderHooks(
  { files, env }: Pick<Platform, "files" | "env">,
  home: string,
  overrides: readonly string[],
  cwd: string,
): Promise<FoundHooks> {
  const layers = new LayeredConfig(files, home, overrides, { etc: etcFolder(env) });
  const snapshot = await layers.snapshot();
  const ports = {
    files,
    folder: configFolder(home),
    layers: () => hookLayers(layers, snapshot),
    projects: () => snapshot.config.projects,
  };
  return findHooks(ports, cwd, { untrusted: true });
}
