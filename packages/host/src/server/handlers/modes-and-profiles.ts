import { allowedProfiles } from "../../config/requirements.ts";
import { PERMISSION_PROFILES } from "../../config/sandbox-settings.ts";
import { type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { page } from "../replies/list-page.ts";

/**
 * Handlers for lists that clients let users choose from: provider capabilities, collaboration modes, permission
 * profiles. An empty list is a valid answer.
 */
export function modeAndProfileHandlers(context: HandlerContext): MethodHandlers {
  return {
    "modelProvider/capabilities/read"(_params, { reply }) {
      reply({ imageGeneration: false, webSearch: false });
    },

    "collaborationMode/list"(_params, { reply }) {
      reply({
        data: [
          { name: "Plan", mode: "plan", model: null, reasoning_effort: "medium" },
          { name: "Default", mode: "default", model: null, reasoning_effort: null },
        ],
      });
    },

    "permissionProfile/list"({ cursor, limit }, { connection, reply }) {
      const reach = reachOf(context, connection);
      const profiles = [...PERMISSION_PROFILES].map(([id, mode]) => ({
        id,
        description: null,
        allowed:
          reach.config.requirements.sandboxModes?.includes(mode) !== false &&
          (mode !== "danger-full-access" || reach.grants("full-access")),
      }));
      const usable = allowedProfiles(reach.config);
      const own = [...reach.config.permissionProfiles.values()].map(({ id, description }) => ({
        id,
        description,
        allowed: usable.has(id),
      }));
      reply(page([...profiles, ...own], cursor, limit));
    },
  };
}
