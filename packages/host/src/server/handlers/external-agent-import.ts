import { isAbsolute } from "node:path";
import { ownerOf } from "../authorize.ts";
import { type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { newSettings, settingsScope } from "../params/thread-settings.ts";

/** Handlers that import settings and threads of other agents into this home. */
export function externalAgentImportHandlers(context: HandlerContext): MethodHandlers {
  return {
    async "externalAgentConfig/detect"(params, { connection, reply }) {
      const reach = reachOf(context, connection);
      for (const cwd of params.cwds ?? []) await reach.checkPath("cwds", cwd);
      reply(await (await context.imports()).detect(params));
    },

    async "externalAgentConfig/import"(params, { connection, reply }) {
      const reach = reachOf(context, connection);
      for (const { cwd } of params.migrationItems) if (cwd) await reach.checkPath("cwd", cwd);
      const owner = ownerOf(connection.meta.principal);
      const scope = settingsScope(context, connection);
      const imports = await context.imports();
      await imports.import(params, {
        owner,
        // If the imported thread's provider is not configured here, the thread gets the default provider and model.
        settings: (folder, { model, modelProvider }) => {
          // An absolute path of another operating system is no path here; the user's home replaces it.
          const cwd = isAbsolute(folder) ? folder : context.platform.machine.userHome;
          const isThere = modelProvider !== null && context.providers.find(modelProvider) !== undefined;
          return newSettings({ cwd, ...(isThere && { modelProvider, model }) }, scope);
        },
        started: (importId) => reply({ importId }),
        progress: (importId, itemTypeResults) =>
          context.notify(owner, "externalAgentConfig/import/progress", { importId, itemTypeResults }),
        completed: (importId, itemTypeResults) =>
          context.notify(owner, "externalAgentConfig/import/completed", { importId, itemTypeResults }),
      });
    },

    async "externalAgentConfig/import/recordHistory"(params, { reply }) {
      reply({ importId: await (await context.imports()).record(params) });
    },

    async "externalAgentConfig/import/readHistories"(_params, { reply }) {
      reply({ data: await (await context.imports()).histories(), connectors: [] });
    },
  };
}
