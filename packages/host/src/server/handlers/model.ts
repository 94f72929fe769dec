import type { HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { page } from "../replies/list-page.ts";

export function modelHandlers(context: HandlerContext): MethodHandlers {
  return {
    async "model/list"({ cursor, limit, includeHidden }, { reply }) {
      const { providers, config } = context;
      // If the configured provider does not exist, the models of another one are listed. Starting a thread reports
      // the error.
      const provider = providers.find(config.modelProvider) ?? providers.get(providers.ids[0]!);
      const models = (await provider.models()).filter((model) => includeHidden || !model.hidden);
      const shown = models.map((model) => ({ ...model, isDefault: model.id === config.model }));
      reply(page(shown, cursor, limit));
    },
  };
}
