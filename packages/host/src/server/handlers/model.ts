import type { Handlers } from "../call.ts";
import type { HandlerContext } from "./context.ts";
import { page } from "./page.ts";

export function modelHandlers(context: HandlerContext): Handlers {
  return {
    async "model/list"({ cursor, limit, includeHidden }, { reply }) {
      const { providers, config } = context;
      // A provider that is not there is told when a thread is started on it; a list never fails for it.
      const provider = providers.find(config.modelProvider) ?? providers.get(providers.ids[0]!);
      const models = (await provider.models()).filter((model) => includeHidden || !model.hidden);
      const shown = models.map((model) => ({ ...model, isDefault: model.id === config.model }));
      reply(page(shown, cursor, limit));
    },
  };
}
