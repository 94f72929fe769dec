import type { Toolset } from "../wire/index.ts";
import { BackgroundWork } from "./background-work.ts";
import { CallRegistry } from "./call-registry.ts";
import { CallbackSender, defaultRetry } from "./callback-sender.ts";
import { createHandler } from "./http-handler.ts";
import type { SubscriptionSnapshot } from "./live-subscription.ts";
import { consoleLog, errorText } from "./log.ts";
import type { ServeOptions, Serving } from "./node/serve.ts";
import { OAuthFlows } from "./oauth-flows.ts";
import { defaultLimits, type ToolServerOptions } from "./options.ts";
import { pause, webPlatform } from "./platform.ts";
import { TokenBucket } from "./rate-limit.ts";
import { memoryData } from "./store.ts";
import { SubscriptionRegistry } from "./subscription-registry.ts";
import { ThreadRegistry } from "./thread-registry.ts";
import type { Subscription } from "./tool.ts";
import { readyTools, toolsetOf } from "./toolset.ts";
import { UserChoices } from "./user-choices.ts";

const STOP_MS = 30_000;

/** A tool server: an HTTP handler, and the calls and subscriptions that run behind it. */
export interface ToolServer {
  /**
   * Answers an HTTP request. Pass it to `Bun.serve` or `Deno.serve`, export it from a Worker, or use `serve()`. Pass on
   * the platform's further arguments: if one has `waitUntil`, background work is registered with it.
   *
   * @example
   * export default { fetch: server.fetch };
   */
  readonly fetch: (request: Request, ...more: readonly unknown[]) => Promise<Response>;
  /**
   * Listens for HTTP requests on Node.
   *
   * @example
   * const { url, close } = await server.serve({ port: 8790 });
   */
  serve(options?: ServeOptions): Promise<Serving>;
  /**
   * Loads the store and resumes the calls and subscriptions of the last process. `serve()` and the first request do
   * this too.
   *
   * @example
   * await server.start();
   * console.log(`${server.subscriptions().length} subscriptions go on`);
   */
  start(): Promise<void>;
  /**
   * The live subscriptions of one tool, or of all. Use it to send an event to the subscriptions that it concerns.
   *
   * @example
   * for (const subscription of server.subscriptions("watch_repository"))
   *   if (subscription.state.repository === push.repository) await subscription.emit(push);
   */
  subscriptions(tool?: string): readonly Subscription[];
  /**
   * Takes over a session's subscriptions from another instance: `state` is the one that its `migrate` hook got.
   *
   * @example
   * await server.adoptSession(await request.text());
   */
  adoptSession(state: string): Promise<void>;
  /**
   * Stops the server. Running calls get `graceMs` (default 5000) to end, then resources are closed. Stored calls and
   * subscriptions are resumed at the next start.
   *
   * @example
   * process.once("SIGTERM", () => void server.close());
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Creates a tool server. Throws if a tool or an option is invalid.
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
    throw new TypeError("the option `oauth` needs `url`: the OAuth service redirects users back to it");
  if (options.data === undefined && options.tools.some(({ listen }) => listen !== undefined))
    throw new TypeError(
      "a tool with `listen` needs the option `data`: folderData() keeps subscriptions over a restart, memoryData() does not",
    );

  const background = new BackgroundWork(log);
  const sender = new CallbackSender(platform, { ...defaultRetry, ...options.retry });
  const threads = new ThreadRegistry({
    platform,
    store,
    folders: data.folders,
    log,
    background,
    ttlMs: limits.threadTtlMs,
    sweepMs: limits.sweepMs,
    onClosed: options.onThreadClosed,
  });
  const subscriptions = new SubscriptionRegistry({
    platform,
    store,
    sender,
    log,
    background,
    rate: limits.events,
    ttlMs: limits.subscriptionTtlMs,
    sweepMs: limits.sweepMs,
    tools: new Map(options.tools.map((tool) => [tool.name, tool])),
  });
  const choices = new UserChoices({ platform, sender, threads, timeoutMs: limits.choiceMs });
  const oauth =
    options.oauth &&
    new OAuthFlows({ platform, store, sender, url: url!, timeoutMs: limits.oauthMs, ...options.oauth });
  const calls = new CallRegistry({
    platform,
    store,
    volatile: data.volatile === true,
    threads,
    background,
    sender,
    subscriptions,
    choices,
    oauth,
    log,
    tools,
    bucket: new TokenBucket(limits.calls, platform.now),
    max: limits.concurrentCalls,
    timeoutMs: limits.callMs,
  });
  const handle = createHandler({
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
      closings: new TokenBucket(limits.closings, platform.now),
      cancellations: new TokenBucket(limits.cancellations, platform.now),
      answers: new TokenBucket(limits.answers, platform.now),
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
        // An unconfirmed subscription whose call has ended was never announced to a host.
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
        for (const argument of more) waitUntil(argument)?.(background.idle());
        return response;
      } catch (error) {
        log({ level: "error", says: "a request failed", error: errorText(error) });
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
        // Tools may ignore their abort signal, so this wait is bounded.
        const idle = new AbortController();
        void background.idle().then(() => idle.abort());
        await pause(platform, STOP_MS, idle.signal);
      })();
      return closed;
    },
  };
  return server;
}

/** The platform's `waitUntil`, if the argument has one. A Worker stops after its response unless it is used. */
function waitUntil(argument: unknown): ((work: Promise<unknown>) => void) | undefined {
  const wait = (argument as { waitUntil?: unknown } | null | undefined)?.waitUntil;
  return typeof wait === "function" ? (work) => wait.call(argument, work) : undefined;
}
