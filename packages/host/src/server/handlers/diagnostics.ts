import { loadReasons } from "../../thread/load-reasons.ts";
import { BOBBIN_VERSION } from "../../version.ts";
import { maySee } from "../authorize.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";

const DEFAULT_LOG_LINES = 200;

export function diagnosticsHandlers(context: HandlerContext): MethodHandlers {
  const { registry, idle, platform, metrics } = context;
  return {
    "server/diagnostics"({ threadIds }, { connection, reply }) {
      const { principal } = connection.meta;
      const wanted =
        threadIds == null
          ? [...registry.loaded()]
          : [...new Set(threadIds)].flatMap((threadId) => registry.get(threadId) ?? []);
      const seen = wanted.filter(({ owner }) => maySee(principal, owner));
      const threads = seen.map((actor) => ({
        threadId: actor.id,
        resident: actor.resident,
        memoryBytes: actor.memoryBytes,
        recencyAt: Math.floor(actor.updatedAt / 1000),
        ...loadReasons(actor, idle),
      }));
      const { hostId } = registry;
      reply({
        gauges: metrics.gaugeValues(),
        process: platform.process(),
        threads,
        hostId,
        version: BOBBIN_VERSION,
        startedAt: context.startedAt,
      });
    },

    async "server/logs/read"({ cursor, limit, level }, { reply }) {
      const query = { cursor: cursor ?? null, limit: limit ?? DEFAULT_LOG_LINES, level: level ?? "info" };
      reply(await context.logs.read(query));
    },
  };
}
