import { resolve } from "node:path";
import { fault } from "../../errors.ts";
import { type PromptSearch, readPrompts } from "../../prompts/prompt-files.ts";
import { homePrompts, type PromptSearchPath, projectPrompts } from "../../prompts/prompt-folders.ts";
import type { Connection } from "../connection.ts";
import { type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { isHostUser } from "../host-user-check.ts";

const NO_FOLDERS: PromptSearchPath = { folders: [], warnings: [] };

/** Handlers for saved prompts: files in the home and in trusted projects. */
export function promptHandlers(context: HandlerContext): MethodHandlers {
  const { home, platform } = context;
  const find = async (connection: Connection, asked: string | null | undefined): Promise<PromptSearch> => {
    const reach = reachOf(context, connection);
    const cwd = resolve(reach.cwd, asked ?? "");
    if (cwd !== reach.cwd) await reach.checkPath("cwd", cwd);
    // The host's user decides which projects are trusted. Subjects get no prompts of projects.
    const project = isHostUser(connection.meta.principal)
      ? await projectPrompts(platform.files, { home, cwd, projects: reach.config.projects })
      : NO_FOLDERS;
    const found = await readPrompts(reach.files, [homePrompts(home), ...project.folders]);
    return { prompts: found.prompts, warnings: [...project.warnings, ...found.warnings] };
  };
  return {
    async "prompts/list"({ cwd }, { connection, reply }) {
      const { prompts, warnings } = await find(connection, cwd);
      reply({ data: prompts.map(({ prompt }) => prompt), warnings: [...warnings] });
    },

    async "prompts/read"({ name, cwd }, { connection, reply }) {
      const found = (await find(connection, cwd)).prompts.find(({ prompt }) => prompt.name === name);
      if (found === undefined) throw fault("promptNotFound", name);
      reply(found);
    },
  };
}
