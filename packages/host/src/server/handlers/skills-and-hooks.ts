import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { ConfigWriter } from "../../config/edit/config-writer.ts";
import type { LayeredConfig } from "../../config/layered-config.ts";
import { isTable } from "../../config/layered-config.ts";
import { Fault, fault } from "../../errors.ts";
import { hookMetadata } from "../../hooks/configured-hooks.ts";
import { isInAllowedFolders } from "../../platform/allowed-folders.ts";
import { disabledIn, type SkillSelector, switched } from "../../skills/skill-switches.ts";
import { type ReadSkills, readSkills, type Skills } from "../../skills/skills.ts";
import { ownerOf } from "../authorize.ts";
import type { Connection } from "../connection.ts";
import { type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { isHostUser } from "../host-user-check.ts";
import type { Reach } from "../owner-access.ts";

/** Limit on the extra skill folders that clients may set. */
const MAX_EXTRA_ROOTS = 100;
/** Limit on the attempts of an edit. An attempt fails if another process writes config.toml at the same time. */
const MAX_TRIES = 5;

export function skillAndHookHandlers(context: HandlerContext, layers: LayeredConfig): MethodHandlers {
  const writer = new ConfigWriter(context.platform, layers);
  /** Extra skill folders that clients have set. They apply until the host ends. */
  let extraRoots: readonly string[] = [];
  /** The folders that a request names, or the default folder. Throws if the client may not access one of them. */
  const named = async (cwds: readonly string[] | undefined, reach: Reach) => {
    if (cwds === undefined || cwds.length === 0) return [reach.cwd];
    for (const [at, folder] of cwds.entries())
      if (folder !== reach.cwd) await reach.checkPath(`cwds[${at}]`, resolve(reach.cwd, folder));
    return cwds;
  };
  /** Reads skills after their folders are watched, so that a change after the read is noticed. */
  const watched = async (connection: Connection, reach: Reach, read: () => Promise<ReadSkills>) => {
    const first = await read();
    const places = await reach.places();
    const bounds = { isAllowed: (real: string) => isInAllowedFolders(real, places), signal: NEVER };
    return (await context.skillWatches.follow(connection, first.folders, bounds)) ? read() : first;
  };
  const switchSkill = async (selector: SkillSelector, enabled: boolean): Promise<void> => {
    for (let tries = 1; ; tries++) {
      const user = (await layers.read()).find(({ name }) => name.type === "user" && name.profile === null)!;
      const value = switched(isTable(user.config) ? user.config : {}, selector, enabled);
      const edits = [{ keyPath: "skills.config", value, mergeStrategy: "replace" as const }];
      try {
        const { config } = await writer.write({ edits, expectedVersion: user.version });
        return context.configure(config);
      } catch (cause) {
        const isLate = cause instanceof Fault && cause.code === "configVersionConflict";
        if (!isLate || tries >= MAX_TRIES) throw cause;
      }
    }
  };
  return {
    async "skills/list"({ cwds }, { connection, reply }) {
      const reach = reachOf(context, connection);
      const disabled = disabledIn(await layers.merged());
      const data = await Promise.all(
        (await named(cwds, reach)).map(async (folder) => {
          const cwd = resolve(reach.cwd, folder);
          const places = { home: context.home, userHome: homedir(), cwd, extraRoots, disabled };
          const { skills, errors }: Skills = await watched(connection, reach, () =>
            readSkills(reach.files, places),
          );
          return { cwd: folder, skills, errors };
        }),
      );
      reply({ data });
    },

    async "skills/config/write"({ path, name, enabled }, { reply }) {
      const selector = selectorOf(path ?? null, name ?? null);
      await switchSkill(selector, enabled);
      const disabled = disabledIn(await layers.merged());
      const isOff = disabled(
        "path" in selector ? selector.path : "",
        "name" in selector ? selector.name : "",
      );
      reply({ effectiveEnabled: !isOff });
    },

    "skills/extraRoots/set"({ extraRoots: roots }, { connection, reply }) {
      const relative = roots.find((root) => !isAbsolute(root) || root.includes("\0"));
      if (relative !== undefined) throw fault("invalidParams", "extraRoots", "must be absolute paths");
      if (roots.length > MAX_EXTRA_ROOTS)
        throw fault("invalidParams", "extraRoots", `must be at most ${MAX_EXTRA_ROOTS} paths`);
      extraRoots = roots.map((root) => resolve(root));
      reply({});
      context.notify(ownerOf(connection.meta.principal), "skills/changed", {});
    },

    async "hooks/list"({ cwds }, { connection, reply }) {
      const reach = reachOf(context, connection);
      const folders = await named(cwds, reach);
      // Hooks belong to the host's own user. They do not run in threads of subjects.
      const isOwn = isHostUser(connection.meta.principal);
      const data = folders.map(async (folder) => {
        if (!isOwn) return { cwd: folder, hooks: [], warnings: [], errors: [] };
        const { hooks, warnings, errors } = await context.hooks.list(resolve(reach.cwd, folder));
        return { cwd: folder, hooks: hooks.map(hookMetadata), warnings: [...warnings], errors: [...errors] };
      });
      reply({ data: await Promise.all(data) });
    },

    "app/list"(_params, { reply }) {
      reply({ data: [], nextCursor: null });
    },

    "plugin/installed"(_params, { reply }) {
      reply({ marketplaces: [], marketplaceLoadErrors: [] });
    },

    "plugin/list"(_params, { reply }) {
      reply({ marketplaces: [], marketplaceLoadErrors: [], featuredPluginIds: [] });
    },
  };
}

const NEVER = new AbortController().signal;

function selectorOf(path: string | null, name: string | null): SkillSelector {
  if (path !== null && name === null) {
    if (!isAbsolute(path)) throw fault("invalidParams", "path", "must be an absolute path");
    return { path };
  }
  if (name !== null && name.trim() !== "" && path === null) return { name };
  throw fault("invalidParams", "", "exactly one of `path` and `name` is required");
}
