import { maySee } from "../authorize.ts";
import type { Handlers } from "../call.ts";
import type { HandlerContext } from "./context.ts";

export function diagnosticsHandlers(context: HandlerContext): Handlers {
  const { registry, idle, platform, metrics } = context;
  return {
    "server/diagnostics"(_params, { connection, reply }) {
      const { principal } = connection.meta;
      const seen = [...registry.loaded()].filter(({ owner }) => maySee(principal, owner));
      const threads = seen.map((actor) => ({
        threadId: actor.id,
        resident: actor.resident,
        subscribers: actor.subscriptions.size,
        turnId: actor.activeTurn ?? null,
        pendingRequests: actor.requests.length,
        pendingCalls: actor.pendingCalls,
        descendants: actor.children,
        unloadsInMs: idle.remainingMs(actor),
      }));
      const { hostId } = registry;
      reply({ gauges: metrics.gaugeValues(), process: platform.process(), threads, hostId });
    },
  };
}
