import type { Config } from "./config/config.ts";
import { broadcastTo, Host } from "./host.ts";
import type { Journal } from "./journal/journal.ts";
import { memoryJournal } from "./journal/memory.ts";
import type { ModelProvider } from "./model/model.ts";
import { offlineProvider } from "./model/offline.ts";
import { ModelProviders } from "./model/providers.ts";
import type { Log } from "./observe/log.ts";
import { Metrics } from "./observe/metrics.ts";
import { Supervisor } from "./observe/supervise.ts";
import type { Platform } from "./platform/platform.ts";
import type { Connection } from "./server/connection.ts";
import type { HandlerContext } from "./server/handlers/context.ts";
import { initializeHandlers } from "./server/handlers/initialize.ts";
import { modelHandlers } from "./server/handlers/model.ts";
import { threadHandlers } from "./server/handlers/thread.ts";
import { turnHandlers } from "./server/handlers/turn.ts";
import { Queues } from "./server/queues.ts";
import { Registry } from "./thread/registry.ts";
import { Runner } from "./turn/runner.ts";

export interface HostOptions {
  readonly home: string;
  readonly cwd: string;
  readonly config: Config;
  readonly platform: Platform;
  readonly log: Log;
  /** Taken in place of the configured ones; for tests. */
  readonly providers?: readonly ModelProvider[];
  readonly journal?: Journal;
}

/** The only place where parts are wired. */
export function compose(options: HostOptions): { host: Host; metrics: Metrics } {
  const { platform, log, config, home, cwd } = options;
  const metrics = new Metrics();
  const supervisor = new Supervisor(log);
  const connections = new Set<Connection>();
  const providers = new ModelProviders(options.providers ?? [offlineProvider(platform)]);
  const registry: Registry = new Registry({
    platform,
    supervisor,
    journal: options.journal ?? memoryJournal(),
    broadcast: (actor, method, frame) => broadcastTo(connections, actor, method, frame),
    runner: (actor) => new Runner(actor, platform, (id) => providers.get(id), supervisor),
  });
  const context: HandlerContext = { home, cwd, config, platform, registry, providers };
  const requests = metrics.counter("bobbin_requests_total", "Requests answered, by method and outcome.");
  metrics.gauge("bobbin_connections", "Clients connected.", () => connections.size);
  metrics.gauge("bobbin_threads_loaded", "Threads loaded.", () => registry.size);
  const host = new Host(
    {
      handlers: {
        ...initializeHandlers(context),
        ...modelHandlers(context),
        ...threadHandlers(context),
        ...turnHandlers(context),
      },
      queues: new Queues(),
      ids: platform.ids,
      log,
      count: (method, outcome) => requests({ method, outcome }),
      platform,
      registry,
      supervisor,
    },
    connections,
  );
  return { host, metrics };
}
