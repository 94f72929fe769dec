import { Fault, fault } from "../../errors.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { page } from "../replies/list-page.ts";

export function modelHandlers(context: HandlerContext): MethodHandlers {
  return {
    async "model/list"({ cursor, limit, includeHidden, modelProvider: id }, { reply }) {
      const { providers, config } = context;
      if (id != null && providers.find(id) === undefined) throw notConfigured(id);
      // If the configured provider does not exist, the models of another one are listed. Starting a thread reports
      // the error.
      const provider = providers.find(id ?? config.modelProvider) ?? providers.get(providers.ids[0]!);
      const models = (await provider.models()).filter((model) => includeHidden || !model.hidden);
      const shown = models.map((model) => ({ ...model, isDefault: model.id === config.model }));
      reply(page(shown, cursor, limit));
    },
  };
}

/** The error has the fields by which clients of the Codex CLI recognize it. */
function notConfigured(modelProvider: string): Fault {
  const { code, message } = fault("modelProviderNotConfigured", modelProvider.slice(0, 200));
  return new Fault(code, message, { type: code, modelProvider });
}
