import { FEATURES, RUNTIME_FEATURES } from "../../config/features.ts";
import { fault } from "../../errors.ts";
import { accessOf, type HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { page } from "../replies/list-page.ts";

/** Handlers for features that can be switched: by `[features]`, or by a client while the host runs. */
export function featureHandlers({ configs, registry }: HandlerContext): MethodHandlers {
  return {
    async "experimentalFeature/list"({ cursor, limit, threadId }, { connection, reply }) {
      if (threadId != null) await registry.find(threadId, accessOf(connection));
      else await configs.load();
      const all = FEATURES.map((feature) => ({
        ...feature,
        enabled: configs.isEnabled(feature.name, threadId ?? undefined),
      }));
      reply(page(all, cursor, limit));
    },

    async "experimentalFeature/enablement/set"({ enablement }, { reply }) {
      const { requirements } = await configs.load();
      const known = RUNTIME_FEATURES.filter((name) => Object.hasOwn(enablement, name));
      for (const name of known) {
        const pinned = requirements.features[name];
        if (pinned !== undefined && pinned !== enablement[name]) throw fault("featurePinned", name, pinned);
      }
      for (const name of known) configs.switchFeature(name, enablement[name]!);
      // Unknown features are ignored: the reply does not list them.
      reply({ enablement: Object.fromEntries(known.map((name) => [name, enablement[name]!])) });
    },
  };
}
