import {
  type Acceptance,
  discover,
  invoke,
  isOpenLine,
  isOwn,
  post,
  type RuntimePorts,
  readToolset,
  type Send,
  type ServerAddress,
  sendNotice,
} from "@bobbin/rap/runtime";
import type { RapCommand } from "../../core/commands.ts";
import type { MadeChoice } from "../../core/rap/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Log } from "../../observe/log.ts";
import type { Metrics } from "../../observe/metrics.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Tool } from "../tool.ts";
import { bind, type Offered, takenByHost } from "./binding.ts";
import { CallbackListener } from "./callback-listener.ts";
import { Callbacks, type Delivered, type SecretsPort } from "./callbacks.ts";
import { Catalog } from "./catalog.ts";
import { Catalogs } from "./catalogs.ts";
import { KeptToolsets } from "./kept-toolsets.ts";
import { NOTICE_MS, Notices } from "./notices.ts";
import { type OutgoingCall, rapTools } from "./rap-tool.ts";
import { configProblems, serverAddress, serverLabel } from "./server.ts";
import { type ServerView, serverView } from "./server-view.ts";
import type { RapSettings, ThreadServers, ToolServerSettings } from "./settings.ts";
import { Toolsets } from "./toolsets.ts";

export interface RapPorts {
  readonly home: string;
  readonly settings: RapSettings;
  readonly platform: Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly supervisor: Supervisor;
  /** Null: of threads that bring none along. */
  serversOf(thread: Pick<ThreadState, "load" | "facts"> | null): ThreadServers;
  /** Names of tools that every thread has. */
  readonly ownNames: readonly string[];
  /** Names of a thread's other tools, with whose they are. */
  taken(thread: ThreadState): ReadonlyMap<string, string>;
  /** Runs a command on a thread and makes what comes of it survive a power cut. */
  deliver(threadId: string, command: RapCommand): Promise<Delivered>;
  readonly secrets: SecretsPort;
  /** Warns those who follow a thread; false if nobody does. */
  warn(threadId: string, message: string): boolean;
}

type Count = (labels: Readonly<Record<string, string>>) => void;

/** How long a server may take to tell its toolset; a thread's first turn waits for it. */
const DISCOVERY_MS = 5000;
/** How long the end of the host waits for such answers. */
const GRACE_MS = 2000;

/** The host's side of tool servers. Made when a thread is loaded that has any. */
export class Rap {
  readonly #ports: RapPorts;
  readonly #wire: RuntimePorts;
  /** For what must not be sent twice, not even on a connection that has gone. */
  readonly #wireOnce: RuntimePorts;
  readonly #catalogs: Catalogs;
  readonly #toolsets: Toolsets;
  readonly #kept: KeptToolsets;
  readonly #listener: CallbackListener;
  readonly #notices: Notices;
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
      "Closings and cancellations told, by server.",
    );
    const sendOnce: Send = (url, request) => platform.http(url, { ...request, single: true });
    this.#wireOnce = { ...this.#wire, send: sendOnce };
    this.#notices = new Notices({
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
    this.#catalogs = new Catalogs({
      configured: ports.settings.servers,
      make: (server) => this.#catalog(server),
    });
    this.#kept = new KeptToolsets({ ...ports, files: platform.files });
    this.#toolsets = new Toolsets({
      clock: platform.clock,
      catalog: (server) => this.#catalogs.of(server),
      supervise: (what, work) => supervisor.take(what, work),
      tell: (threadId, problem) => ports.warn(threadId, problem),
      log: (problem, threadId) => log.warn(problem, { threadId }),
    });
    const taken = new Callbacks({
      clock: platform.clock,
      timers: platform.timers,
      ids: platform.ids,
      log,
      secrets: ports.secrets,
      addressOf: (threadId, server) => this.#addressOf(threadId, server),
      hasServer: (thread, server) => ports.serversOf(thread).used.some(({ name }) => name === server),
      deliver: (threadId, command) => ports.deliver(threadId, command),
      forward: (request, body, otherwise) => this.#listener.forward(request, body, otherwise),
      count: (type, status) => callbacks({ type, status: String(status) }),
    });
    this.#listener = new CallbackListener({
      ...ports,
      take: (subject, request) => taken.take(subject, request),
    });
  }

  /** Answers to calls of before may come as soon as the host is there. Where that can not be, it is tried again. */
  async listen(): Promise<void> {
    try {
      await this.#listener.open();
    } catch (cause) {
      this.#ports.log.error("no place to listen for tool servers", { cause });
    }
  }

  /** A thread is loaded: its servers are asked for their tools, and may post what they have for it. */
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

  /** For people. What was never asked is asked now. */
  async servers(
    thread: ThreadState | null,
    used: readonly ToolServerSettings[],
  ): Promise<readonly ServerView[]> {
    if (thread !== null) await this.#toolsets.ready(thread.facts.id);
    const known = thread === null ? undefined : this.#toolsets.offers(thread.facts.id);
    const all = await Promise.all(
      used.map(async (server): Promise<Offered> => {
        const offered = known?.offered.find((one) => one.server.name === server.name)?.offer;
        const catalog = this.#catalogs.of(server);
        return { server, offer: offered ?? catalog.last ?? (await catalog.ask()) };
      }),
    );
    const { missing } = known?.bound ?? bind(all, takenByHost(this.#ports.ownNames));
    return all.map(({ server, offer }) => serverView(server, offer, missing));
  }

  /** Tells the server that asked what the user chose; false if it is not there now. It may be told twice, and always the same. */
  async postChoice(thread: ThreadState, choice: MadeChoice, signal: AbortSignal): Promise<boolean> {
    const { server, responseUrl, selected, callId, requestId } = choice;
    const { used } = this.#ports.serversOf(thread);
    const settings = used.find(({ name }) => name === server);
    const address = settings && serverAddress(settings, this.#ports.env);
    const about = { server, threadId: thread.facts.id, callId, requestId };
    // The configuration may be another one by now.
    if (address === undefined || !isOwn(address, responseUrl)) {
      this.#ports.log.warn("a choice has nowhere to go", about);
      return true;
    }
    const body = JSON.stringify({ id: callId, selected });
    const { kind } = await post(address, responseUrl, body, this.#wire, { idempotent: true, signal });
    this.#ports.log.info("told a tool server what the user chose", { ...about, outcome: kind });
    return kind !== "unreachable";
  }

  /** Nobody waits for these calls any more. */
  cancelled(thread: ThreadState, callIds: readonly string[]): void {
    const { told } = this.#ports.serversOf(thread);
    for (const callId of callIds) this.#notices.cancelled(thread.facts.id, callId, told);
  }

  closed(thread: ThreadState): void {
    this.#notices.closed(thread.facts.id, this.#ports.serversOf(thread).told);
  }

  /** What is under way has a while to end. */
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
    for (const problem of configProblems(server, env, isOpenLine(address))) log.warn(problem);
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
      recall: async () => {
        const text = await this.#kept.recall(server);
        const read = text === undefined ? undefined : readToolset(address, text);
        return read?.kind === "ready" ? read : undefined;
      },
      keep: (text) => this.#kept.keep(server, text),
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
      // Without a place for the answer no call is made.
      this.#ports.log.error("no place to listen for tool servers", { cause });
      sent = { kind: "unreachable", says: `this host can not take its answer: ${(cause as Error).message}` };
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

/** Who came without a name is nobody in particular. */
function userOf(owner: string): string | null {
  return owner.startsWith("subject:") ? owner.slice("subject:".length) : null;
}
