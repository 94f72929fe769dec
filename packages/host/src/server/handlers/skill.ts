import { homedir } from "node:os";
import { resolve } from "node:path";
import { type ConfigLayers, isTable, type Table } from "../../catalog/config-layers.ts";
import { readSkills } from "../../catalog/skills.ts";
import type { Handlers } from "../call.ts";
import type { HandlerContext } from "./context.ts";

export function skillHandlers({ home, cwd, platform }: HandlerContext, layers: ConfigLayers): Handlers {
  return {
    async "skills/list"({ cwds }, { reply }) {
      const disabled = disabledIn(await layers.merged());
      const data = await Promise.all(
        asked(cwds, cwd).map(async (folder) => {
          const places = { home, userHome: homedir(), cwd: resolve(cwd, folder), disabled };
          return { cwd: folder, ...(await readSkills(platform.files, places)) };
        }),
      );
      reply({ data });
    },

    // No hook is ever run here; one that is configured and never heard of again would be worse than a word.
    async "hooks/list"({ cwds }, { reply }) {
      const { hooks } = await layers.merged();
      const configured = isTable(hooks) && Object.keys(hooks).length > 0;
      const warnings = configured ? ["Hooks are configured, but this host does not run hooks."] : [];
      reply({ data: asked(cwds, cwd).map((folder) => ({ cwd: folder, hooks: [], warnings, errors: [] })) });
    },

    "plugin/list"(_params, { reply }) {
      reply({ marketplaces: [], marketplaceLoadErrors: [], featuredPluginIds: [] });
    },
  };
}

function asked(cwds: readonly string[] | undefined, own: string): readonly string[] {
  return cwds === undefined || cwds.length === 0 ? [own] : cwds;
}

/** `[[skills.config]]` with `enabled = false`, by path of the SKILL.md or by name; the last word counts. */
function disabledIn({ skills }: Table): (path: string, name: string) => boolean {
  const list = isTable(skills) && Array.isArray(skills["config"]) ? skills["config"].filter(isTable) : [];
  return (path, name) =>
    list.findLast((one) => one["path"] === path || one["name"] === name)?.["enabled"] === false;
}
