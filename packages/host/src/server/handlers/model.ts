import type { Handlers } from "../call.ts";
import type { HandlerContext } from "./context.ts";
import { page } from "./page.ts";

export function modelHandlers({ providers, config }: HandlerContext): Handlers {
  return {
    async "model/list"({ cursor, limit, includeHidden }, { reply }) {
      const lists = await Promise.all([...providers.all].map((provider) => provider.models()));
      const models = lists.flat().filter((model) => includeHidden || !model.hidden);
      const shown = models.map((model) => ({ ...model, isDefault: model.id === config.model }));
      reply(page(shown, cursor, limit));
    },
  };
}
