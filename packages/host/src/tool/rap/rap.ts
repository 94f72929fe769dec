import {
  type Acceptance,
  discover,
  invoke,
  isOwnUrl,
  isUnencrypted,
  post,
  type RuntimePorts,
  readToolset,
  type Send,
  type ServerAddress,
  sendNotice,
} from "@bobbin/rap/runtime";
import type { RapCommand } from "../../core/rap/commands.ts";
import type { MadeChoice } from "../../core/rap/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Log } from "../../observe/log.ts";
import type { Metrics } from "../../observe/metrics.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import { deadlineMs } from "../../platform/deadlines.ts";
import type { Platform } from "../../platform/platform.ts";
import type { DocumentStore } from "../../store/documents.ts";
import type { Tool } from "../tool.ts";
import { CallbackForwarder } from "./callback-forwarder.ts";
import { CallbackHandler, type CommandResult, type SecretsPort } from "./callback-handler.ts";
import { CallbackListener, type ListenerPorts } from "./callback-listener.ts";
import { CallbackSockets } from "./callback-sockets.ts";
import { CatalogRegistry } from "./catalog-registry.ts";
import { NOTICE_MS, NoticeSender } from "./notice-sender.ts";
import type { RapSettings, ThreadToolServers, ToolServerSettings } from "./rap-settings.ts";
import { type OutgoingCall, rapTools } from "./rap-tool.ts";
import { configProblems, serverAddress, serverLabel } from "./server-address.ts";
import { Catalog } from "./server-catalog.ts";
import { type ServerView, serverView } from "./server-view.ts";
import { ThreadToolsets } from "./thread-toolsets.ts";
import { bind, type ServerToolset, takenByHost } from "./toolset-binding.ts";
import { ToolsetStore } from "./toolset-store.ts";

/** The parts of the host that tool servers need. */
export interface RapPorts {
  readonly home: string;
  readonly documents: DocumentStore;
  readonly settings: RapSettings;
  readonly platform: Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly supervisor: Supervisor;
  /** The tool servers of a thread. Null stands for a thread that brings none along. */
  serversOf(thread: Pick<ThreadState, "load" | "facts"> | null): ThreadToolServers;
  /** Names of the host's own tools, which every thread has. */
  readonly ownNames: readonly string[];
  /** Names of a thread's other tools, with a text that says what uses each name. */
  taken(thread: ThreadState): ReadonlyMap<string, string>;
  /** Runs a command on a thread, and syncs the resulting records to disk. */
  deliver(threadId: string, command: RapCommand): Promise<CommandResult>;
  readonly secrets: SecretsPort;
  /** Sends a warning to a thread's subscribers; returns false if there are none. */
  warn(threadId: string, message: string): boolean;
}

type Count = (labels: Readonly<Record<string, string>>) => void;

/** Time limit for a server to answer with its toolset. A thread's first turn waits for it. */
const DISCOVERY_MS = deadlineMs(5000);
/** How long a shutdown waits for notices in progress. */
const GRACE_MS = 2000;

/**
 * The host's side of the Reactive Agent Protocol (RAP): discovery, calls, callbacks and notices. Created when the
 * first thread with a tool server is loaded.
 */
export class Rap {
  readonly #ports: RapPorts;
  readonly #wire: RuntimePorts;
  /** Ports for requests that must not be sent twice, even if the connection is lost before the reply. */
  readonly #wireOnce: RuntimePorts;
  readonly #catalogs: CatalogRegistry;
  readonly #toolsets: ThreadToolsets;
  readonly #toolsetStore: ToolsetStore;
  readonly #listener: CallbackListener;
  readonly #notices: NoticeSender;
  readonly #count: Count;
  readonly #countDiscovery: Count;

  constructor(ports: RapPorts) {
    this.#ports = ports;
    const { platform, log, metrics, supervisor } = ports;
    this.#count = metrics.counter(
      "bobbin_rap_calls_total",
      "Calls sent to tool servers, by server and outcome.",
    );
    const callbacks = metrics.counter(
      "bobbin_rap_callbacks_total",
      "What tool servers posted back, by type and status.",
    );
    this.#countDiscovery = metrics.counter(
      "bobbin_rap_discoveries_total",
      "Questions for toolsets, by server and outcome.",
    );
    const random = (): number => (platform.ids.integer() % 4096) / 4096;
    const send: Send = (url, request) => platform.http(url, request);
    this.#wire = { send, after: (ms, run) => platform.timers.after(ms, run), random };
    const notices = metrics.counter(
      "bobbin_rap_notices_total",
      "Closings and cancellations notified, by server.",
    );
    const sendOnce: Send = (url, request) => platform.http(url, { ...request, single: true });
    this.#wireOnce = { ...this.#wire, send: sendOnce };
    this.#notices = new NoticeSender({
      clock: platform.clock,
      timers: platform.timers,
      log,
      send: (server, notice, signal) =>
        sendNotice(serverAddress(server, ports.env), notice, this.#wireOnce, {
          timeoutMs: NOTICE_MS,
          signal,
        }),
      count: (kind, server, delivered) =>
        notices({ kind, server: this.#label(server), delivered: String(delivered) }),
    });
    this.#catalogs = new CatalogRegistry({
      configured: ports.settings.servers,
      make: (server) => this.#catalog(server),
    });
    this.#toolsetStore = new ToolsetStore(ports);
    this.#toolsets = new ThreadToolsets({
      clock: platform.clock,
      catalog: (server) => this.#catalogs.of(server),
      supervise: (what, work) => supervisor.take(what, work),
      warn: (threadId, problem) => ports.warn(threadId, problem),
      log: (problem, threadId) => log.warn(problem, { threadId }),
    });
    // A callback passes from the listener to the handler, and from there to its thread or to the forwarder.
    const sockets = new CallbackSockets({ ...ports, host: ports.settings.callbackListen.host });
    const forwarder = new CallbackForwarder(ports, sockets);
    const callbackHandler = new CallbackHandler({
      clock: platform.clock,
      timers: platform.timers,
      ids: platform.ids,
      log,
      secrets: ports.secrets,
      addressOf: (threadId, server) => this.#addressOf(threadId, server),
      hasServer: (thread, server) => ports.serversOf(thread).used.some(({ name }) => name === server),
      deliver: (threadId, command) => ports.deliver(threadId, command),
      forward: (request, body, otherwise) => forwarder.forward(request, body, otherwise),
      count: (type, status) => callbacks({ type, status: String(status) }),
    });
    const take: ListenerPorts["take"] = (subject, request) => callbackHandler.take(subject, request);
    this.#listener = new CallbackListener({ ...ports, take }, sockets);
  }

  /**
   * Starts listening for callbacks, because answers to calls of an earlier host may come at any time. A failure is
   * logged, and the listener retries.
   */
  async listen(): Promise<void> {
    try {
      await this.#listener.open();
    } catch (cause) {
      this.#ports.log.error("cannot listen for tool servers", { cause });
    }
  }

  /** Asks the tool servers of a loaded thread for their tools, and listens for callbacks. */
  async load(thread: ThreadState): Promise<void> {
    const { facts, epoch, loadEpoch } = thread;
    const { used: servers } = this.#ports.serversOf(thread);
    this.#catalogs.hold(servers);
    this.#release(facts.id);
    const taken = this.#ports.taken(thread);
    const { parentThreadId: parentId } = facts;
    this.#toolsets.load(facts.id, { servers, taken, adopted: epoch > loadEpoch, parentId });
    await this.listen();
  }

  unload(threadId: string): void {
    this.#release(threadId);
    this.#toolsets.unload(threadId);
  }

  ready(threadId: string): Promise<void> {
    return this.#toolsets.ready(threadId);
  }

  tools(threadId: string): readonly Tool[] {
    return this.#toolsets.tools(threadId);
  }

  /** The state of tool servers, for users. Servers that were never asked for their tools are asked now. */
  async servers(
    thread: ThreadState | null,
    used: readonly ToolServerSettings[],
  ): Promise<readonly ServerView[]> {
    if (thread !== null) await this.#toolsets.ready(thread.facts.id);
    const known = thread === null ? undefined : this.#toolsets.offers(thread.facts.id);
    const all = await Promise.all(
      used.map(async (server): Promise<ServerToolset> => {
        const offered = known?.offered.find((one) => one.server.name === server.name)?.offer;
        const catalog = this.#catalogs.of(server);
        return { server, offer: offered ?? catalog.last ?? (await catalog.ask()) };
      }),
    );
    const { missing } = known?.bound ?? bind(all, takenByHost(this.#ports.ownNames));
    return all.map(({ server, offer }) => serverView(server, offer, missing));
  }

  /**
   * Posts the user's choice to the server that asked for it. Returns false if the server is unreachable. A choice may
   * be posted twice, with the same content.
   */
  async postChoice(thread: ThreadState, choice: MadeChoice, signal: AbortSignal): Promise<boolean> {
    const { server, responseUrl, selected, callId, requestId } = choice;
    const { used } = this.#ports.serversOf(thread);
    const settings = used.find(({ name }) => name === server);
    const address = settings && serverAddress(settings, this.#ports.env);
    const about = { server, threadId: thread.facts.id, callId, requestId };
    // Since the question, the server may have been removed or reconfigured.
    if (address === undefined || !isOwnUrl(address, responseUrl)) {
      this.#ports.log.warn("a user's choice is dropped: its tool server is not configured any more", about);
      return true;
    }
    const body = JSON.stringify({ id: callId, selected });
    const { kind } = await post(address, responseUrl, body, this.#wire, { idempotent: true, signal });
    this.#ports.log.info("posted a user's choice to a tool server", { ...about, outcome: kind });
    return kind !== "unreachable";
  }

  /** Sends cancel notices for calls that no turn waits for. */
  cancelled(thread: ThreadState, callIds: readonly string[]): void {
    const { notified } = this.#ports.serversOf(thread);
    for (const callId of callIds) this.#notices.cancelled(thread.facts.id, callId, notified);
  }

  closed(thread: ThreadState): void {
    this.#notices.closed(thread.facts.id, this.#ports.serversOf(thread).notified);
  }

  /** Waits a short time for notices in progress. */
  async close(): Promise<void> {
    await this.#notices.close(GRACE_MS);
  }

  async stopListening(): Promise<void> {
    await this.#listener.close();
  }

  #addressOf(threadId: string, name: string): ServerAddress | undefined {
    const server = this.#toolsets.servers(threadId)?.find((one) => one.name === name);
    return server && serverAddress(server, this.#ports.env);
  }

  #release(threadId: string): void {
    this.#catalogs.release(this.#toolsets.servers(threadId) ?? []);
  }

  #label(name: string): string {
    return serverLabel(this.#ports.settings, name);
  }

  #catalog(server: ToolServerSettings): Catalog {
    const { env, log, platform } = this.#ports;
    const address = serverAddress(server, env);
    for (const problem of configProblems(server, env, isUnencrypted(address))) log.warn(problem);
    return new Catalog({
      discover: async (before) => {
        const found = await discover(address, this.#wire, { timeoutMs: DISCOVERY_MS, known: before });
        this.#countDiscovery({ server: this.#label(server.name), outcome: found.kind });
        return found;
      },
      tools: (toolset) =>
        rapTools(server, toolset, {
          now: () => platform.clock.now(),
          after: (ms, run) => platform.timers.after(ms, run),
          send: (call, signal) => this.#send(call, signal),
        }),
      readStored: async () => {
        const text = await this.#toolsetStore.read(server);
        const read = text === undefined ? undefined : readToolset(address, text);
        return read?.kind === "ready" ? read : undefined;
      },
      store: (text) => this.#toolsetStore.write(server, text),
    });
  }

  async #send(call: OutgoingCall, signal: AbortSignal): Promise<Acceptance> {
    const { server, endpoint, operation, args, argumentsJson, idempotent, invocation } = call;
    const { facts, loadEpoch, toldAt } = invocation.thread;
    const { callId } = invocation.call;
    const begun = this.#ports.platform.clock.monotonic();
    let sent: Acceptance;
    try {
      await this.#notices.settled(facts.id, server, toldAt, signal);
      const subject = { threadId: facts.id, load: loadEpoch, server: server.name, callId };
      const callback_url = await this.#listener.url(subject);
      sent = await invoke(
        serverAddress(server, this.#ports.env),
        endpoint,
        {
          operation,
          arguments: args,
          id: callId,
          call_id: null,
          callback_url,
          group_id: facts.id,
          thread_ancestors: facts.ancestors ?? [],
          user_id: userOf(facts.owner),
        },
        idempotent ? this.#wire : this.#wireOnce,
        { idempotent, signal, argumentsJson },
      );
    } catch (cause) {
      // Without a callback URL the call could never be answered, so it is not sent.
      this.#ports.log.error("cannot listen for tool servers", { cause });
      sent = {
        kind: "unreachable",
        says: `this host cannot receive its result: ${(cause as Error).message}`,
      };
    }
    this.#count({ server: this.#label(server.name), outcome: sent.kind });
    this.#ports.log.info("called a tool", {
      server: server.name,
      operation,
      threadId: facts.id,
      callId,
      outcome: sent.kind,
      ...("says" in sent && { says: sent.says }),
      ms: Math.round(this.#ports.platform.clock.monotonic() - begun),
    });
    return sent;
  }
}

/** The subject that is sent as `user_id`; null for a thread of the host's user. */
function userOf(owner: string): string | null {
  return owner.startsWith("subject:") ? owner.slice("subject:".length) : null;
}
