import { type ConfigLayers, isTable, type Table } from "../../catalog/config-layers.ts";
import type { Handlers } from "../call.ts";
import type { HandlerContext } from "./context.ts";

/** There are no accounts here: who pays for a model is between the provider's key and the provider. */
export function accountHandlers({ rateLimits }: HandlerContext, layers: ConfigLayers): Handlers {
  return {
    async "account/read"(_params, { reply }) {
      reply({ account: null, requiresOpenaiAuth: needsLogin(await layers.merged()), workspaceRouting: null });
    },

    // What is not known is null, which is not the same as no limit; clients that ask at their start take no error.
    "account/rateLimits/read"(_params, { reply }) {
      reply({
        accountId: null,
        ordinaryUsageAllowed: null,
        rateLimitResetCredits: null,
        rateLimitUpsell: null,
        ...rateLimits.read(),
      });
    },

    "account/bedrock/checkGovCloudRequirements"(_params, { reply }) {
      reply({ isGovCloud: false, shouldWarn: false });
    },
  };
}

/** Clients show a login before anything else when told so, hence only where the provider says it itself. */
function needsLogin(config: Table): boolean {
  const id = config["model_provider"];
  const providers = config["model_providers"];
  if (typeof id !== "string" || !isTable(providers) || !Object.hasOwn(providers, id)) return false;
  const provider = providers[id];
  return isTable(provider) && provider["requires_openai_auth"] === true;
}
