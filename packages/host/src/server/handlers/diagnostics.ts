import type { Handlers } from "../call.ts";
import type { HandlerContext } from "./context.ts";

export function diagnosticsHandlers({ registry, idle, platform, metrics }: HandlerContext): Handlers {
  return {
    "server/diagnostics"(_params, { reply }) {
      const threads = [...registry.loaded()].map((actor) => ({
        threadId: actor.id,
        resident: actor.resident,
        subscribers: actor.subscriptions.size,
        turnId: actor.activeTurn ?? null,
        pendingRequests: actor.requests.length,
        pendingCalls: actor.pendingCalls,
        descendants: 0,
        unloadsInMs: idle.remainingMs(actor),
      }));
      reply({ gauges: metrics.gaugeValues(), process: platform.process(), threads });
    },
  };
}
