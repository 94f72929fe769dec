import type { Toolset } from "../wire/index.ts";
import { Background } from "./background.ts";
import { Calls } from "./calls.ts";
import { Choices } from "./choices.ts";
import { Delivering, defaultRetry } from "./deliver.ts";
import { handlerOf } from "./handler.ts";
import { consoleLog, told } from "./log.ts";
import type { ServeOptions, Serving } from "./node/serve.ts";
import { OAuthFlows } from "./oauth.ts";
import { defaultLimits, type ToolServerOptions } from "./options.ts";
import { pause, webPlatform } from "./platform.ts";
import { Bucket } from "./rate.ts";
import { memoryData } from "./store.ts";
import type { SubscriptionSnapshot } from "./subscription.ts";
import { Subscriptions } from "./subscriptions.ts";
import { Threads } from "./threads.ts";
import type { Subscription } from "./tool.ts";
import { readyTools, toolsetOf } from "./toolset.ts";

const STOP_MS = 30_000;

/** A tool server: an HTTP handler, and what goes on behind it. */
export interface ToolServer {
  /**
   * Answers a request; give it to whatever listens: `Bun.serve`, `Deno.serve`, a Worker's `fetch`, or `serve()`.
   * What a platform gives beside the request may be passed on: work goes on in its `waitUntil`.
   *
   * @example
   * export default { fetch: server.fetch };
   */
  readonly fetch: (request: Request, ...more: readonly unknown[]) => Promise<Response>;
  /**
   * Listens on Node.
   *
   * @example
   * const { url, close } = await server.serve({ port: 8790 });
   */
  serve(options?: ServeOptions): Promise<Serving>;
  /**
   * Takes up what was under way when the last process ended. `serve()` and the first request do it too.
   *
   * @example
   * await server.start();
   * console.log(`${server.subscriptions().length} subscriptions go on`);
   */
  start(): Promise<void>;
  /**
   * Subscriptions that are alive, to send events to those that an event is for.
   *
   * @example
   * for (const subscription of server.subscriptions("watch_repository"))
   *   if (subscription.state.repository === push.repository) await subscription.emit(push);
   */
  subscriptions(tool?: string): readonly Subscription[];
  /**
   * Takes over the `state` of a session that another instance migrates.
   *
   * @example
   * await server.adoptSession(await request.text());
   */
  adoptSession(state: string): Promise<void>;
  /**
   * Stops: calls get `graceMs` (5 s) to end, what is open is closed, and what is kept waits for the next start.
   *
   * @example
   * process.once("SIGTERM", () => void server.close());
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Makes a tool server. Throws if a tool is not as hosts want it.
 *
 * @example
 * const server = createToolServer({
 *   name: "dice",
 *   description: "Things that are left to chance",
 *   auth: bearer(process.env.DICE_TOKEN),
 *   tools: [roll],
 * });
 * await server.serve({ port: 8790 });
 */
export function createToolServer(options: ToolServerOptions): ToolServer {
  const { platform = webPlatform, log = consoleLog, data = memoryData(), url } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const { store } = data;
  const tools = readyTools(options);
  const toolset = (base: string): Toolset => toolsetOf(options, tools, base);
  toolset(url ?? "http://localhost");
  if (options.oauth !== undefined && url === undefined)
    throw new TypeError("oauth needs `url`: users come back to it from the service");
  if (options.data === undefined && options.tools.some(({ listen }) => listen !== undefined))
    throw new TypeError(
      "subscriptions must outlive the server: give it `data`, or say memoryData() if they need not",
    );

  const background = new Background(log);
  const delivering = new Delivering(platform, { ...defaultRetry, ...options.retry });
  const threads = new Threads({
    platform,
    store,
    folders: data.folders,
    log,
    background,
    ttlMs: limits.threadTtlMs,
    sweepMs: limits.sweepMs,
    onClosed: options.onThreadClosed,
  });
  const subscriptions = new Subscriptions({
    platform,
    store,
    delivering,
    log,
    background,
    rate: limits.events,
    ttlMs: limits.subscriptionTtlMs,
    sweepMs: limits.sweepMs,
    tools: new Map(options.tools.map((tool) => [tool.name, tool])),
  });
  const choices = new Choices({ platform, delivering, threads, timeoutMs: limits.choiceMs });
  const oauth =
    options.oauth &&
    new OAuthFlows({ platform, store, delivering, url: url!, timeoutMs: limits.oauthMs, ...options.oauth });
  const calls = new Calls({
    platform,
    store,
    volatile: data.volatile === true,
    threads,
    background,
    delivering,
    subscriptions,
    choices,
    oauth,
    log,
    tools,
    bucket: new Bucket(limits.calls, platform.now),
    max: limits.concurrentCalls,
    timeoutMs: limits.callMs,
  });
  const handle = handlerOf({
    url,
    auth: options.auth,
    toolset,
    calls,
    choices,
    oauth,
    migrate: options.migrate && {
      platform,
      subscriptions,
      log,
      timeoutMs: limits.migrationMs,
      hook: options.migrate,
    },
    callbackOrigins: options.callbackOrigins && new Set(options.callbackOrigins),
    buckets: {
      closings: new Bucket(limits.closings, platform.now),
      cancellations: new Bucket(limits.cancellations, platform.now),
      answers: new Bucket(limits.answers, platform.now),
    },
    closeThread(tenant, thread) {
      calls.abort("closed", tenant, thread);
      void background.run("ending subscriptions", () => subscriptions.end(tenant, thread));
      threads.close(tenant, thread);
    },
    cancel(tenant, thread, call) {
      calls.abort("cancelled", tenant, thread, call);
      void background.run("ending a subscription", () => subscriptions.end(tenant, thread, call));
    },
  });

  let started: Promise<void> | undefined;
  let closed: Promise<void> | undefined;
  const start = (): Promise<void> => {
    started ??= (async () => {
      await threads.load();
      await subscriptions.load();
      await oauth?.load();
      const begin = await calls.load();
      for (const subscription of subscriptions.all()) {
        const { record } = subscription;
        if (record.confirmed) subscriptions.go(subscription);
        // Nobody was ever told of it, and nobody will be.
        else if (!calls.isActive(record.tenant, record.address)) await subscription.end();
      }
      begin();
    })().catch((error: unknown) => {
      started = undefined;
      throw error;
    });
    return started;
  };

  const server: ToolServer = {
    async fetch(request, ...more) {
      try {
        if (closed !== undefined) return new Response(null, { status: 503 });
        await start();
        const response = await handle(request);
        for (const given of more) waitUntil(given)?.(background.idle());
        return response;
      } catch (error) {
        log({ level: "error", says: "a request failed", error: told(error) });
        return new Response(null, { status: 503 });
      }
    },
    async serve(serving) {
      await start();
      const node = await import("./node/serve.ts");
      return node.serve(server, serving);
    },
    start,
    subscriptions: (tool) =>
      subscriptions.all().filter((one) => one.record.confirmed && (tool === undefined || one.tool === tool)),
    async adoptSession(state) {
      await start();
      await subscriptions.attach(JSON.parse(state) as readonly SubscriptionSnapshot[]);
    },
    close({ graceMs = 5000 } = {}) {
      closed ??= (async () => {
        await started?.catch(() => {});
        await calls.stop(graceMs);
        await subscriptions.stop();
        await threads.stop();
        // What does not listen when it is told to stop is not waited for.
        const idle = new AbortController();
        void background.idle().then(() => idle.abort());
        await pause(platform, STOP_MS, idle.signal);
      })();
      return closed;
    },
  };
  return server;
}

/** Workers end a request's work with its answer, unless they are asked to wait. */
function waitUntil(given: unknown): ((work: Promise<unknown>) => void) | undefined {
  const wait = (given as { waitUntil?: unknown } | null | undefined)?.waitUntil;
  return typeof wait === "function" ? (work) => wait.call(given, work) : undefined;
}
