import { homedir } from "node:os";
import { resolve } from "node:path";
import { type ConfigLayers, isTable, type Table } from "../../catalog/config-layers.ts";
import { readSkills } from "../../catalog/skills.ts";
import type { Handlers } from "../call.ts";
import type { Reach } from "../reach.ts";
import { type HandlerContext, reachOf } from "./context.ts";

export function skillHandlers(context: HandlerContext, layers: ConfigLayers): Handlers {
  /** The folders that a request names, or the one that threads start in. Throws if one of them is out of reach. */
  const named = async (cwds: readonly string[] | undefined, reach: Reach) => {
    if (cwds === undefined || cwds.length === 0) return [reach.cwd];
    for (const [at, folder] of cwds.entries())
      if (folder !== reach.cwd) await reach.checkPath(`cwds[${at}]`, resolve(reach.cwd, folder));
    return cwds;
  };
  return {
    async "skills/list"({ cwds }, { connection, reply }) {
      const reach = reachOf(context, connection);
      const disabled = disabledIn(await layers.merged());
      const data = await Promise.all(
        (await named(cwds, reach)).map(async (folder) => {
          const cwd = resolve(reach.cwd, folder);
          const places = { home: context.home, userHome: homedir(), cwd, disabled };
          return { cwd: folder, ...(await readSkills(reach.files, places)) };
        }),
      );
      reply({ data });
    },

    // No hook is ever run here; one that is configured and never heard of again would be worse than a word.
    async "hooks/list"({ cwds }, { connection, reply }) {
      const folders = await named(cwds, reachOf(context, connection));
      const { hooks } = await layers.merged();
      const configured = isTable(hooks) && Object.keys(hooks).length > 0;
      const warnings = configured ? ["Hooks are configured, but this host does not run hooks."] : [];
      reply({ data: folders.map((folder) => ({ cwd: folder, hooks: [], warnings, errors: [] })) });
    },

    "plugin/list"(_params, { reply }) {
      reply({ marketplaces: [], marketplaceLoadErrors: [], featuredPluginIds: [] });
    },
  };
}

/** `[[skills.config]]` with `enabled = false`, by path of the SKILL.md or by name; the last word counts. */
function disabledIn({ skills }: Table): (path: string, name: string) => boolean {
  const list = isTable(skills) && Array.isArray(skills["config"]) ? skills["config"].filter(isTable) : [];
  return (path, name) =>
    list.findLast((one) => one["path"] === path || one["name"] === name)?.["enabled"] === false;
}
