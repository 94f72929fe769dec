import { threadToolServers } from "./config/tool-servers.ts";
import type { RapCommand } from "./core/rap/commands.ts";
import type { Commit } from "./core/records.ts";
import type { ThreadState } from "./core/state.ts";
import type { Seals } from "./credentials/journal-secret-sealing.ts";
import { Fault } from "./errors.ts";
import type { Log } from "./observe/log.ts";
import type { Metrics } from "./observe/metrics.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Platform } from "./platform/platform.ts";
import type { DocumentStore } from "./store/documents.ts";
import { notificationFrame } from "./thread/notification-frame.ts";
import type { Registry } from "./thread/registry.ts";
import type { Secrets } from "./thread/request-secrets.ts";
import { ANYONE } from "./thread/stored-threads.ts";
import { keepOutcome } from "./tool/output-blobs.ts";
import { ownNames } from "./tool/own/own-tools.ts";
import type { CommandResult } from "./tool/rap/callback-handler.ts";
import { cancelSubscription } from "./tool/rap/cancel-subscription.ts";
import { openedHeaders } from "./tool/rap/header-sealing.ts";
import { LazyRap, type LazyRapPorts } from "./tool/rap/lazy-rap.ts";
import { CALLBACKS, type RapSettings, type ToolServerSettings } from "./tool/rap/rap-settings.ts";
import type { Tool, ToolSource } from "./tool/tool.ts";

interface RapParts {
  readonly home: string;
  readonly documents: DocumentStore;
  readonly settings: RapSettings;
  readonly platform: Platform;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly supervisor: Supervisor;
  readonly secrets: Secrets;
  readonly seals: Seals;
  /** The host's own tools. */
  readonly own: readonly ToolSource[];
  /** The host's own tools and the clients' dynamic tools. Tool servers cannot use their names. */
  readonly others: readonly ToolSource[];
  /** Whether threads of an owner may use a tool server that their client has named. */
  mayUse(owner: string, server: ToolServerSettings): boolean;
  /** A function, because the registry is created later. */
  registry(): Registry;
}

/** Creates the tool source for tool servers (RAP). */
export function composeRap({ registry, own, others, mayUse, ...parts }: RapParts): LazyRap {
  const { settings, platform, supervisor, secrets, seals } = parts;
  const names = new Names();
  const serversOf: LazyRapPorts["serversOf"] = (thread) =>
    threadToolServers(settings, openedHeaders(thread?.load.toolServers, seals), (server) =>
      mayUse(thread!.facts.owner, server),
    );
  return new LazyRap({
    settings,
    platform,
    supervisor,
    serversOf,
    hasListened: async () => (await parts.documents.read(CALLBACKS)) !== undefined,
    sweep: () => secrets.sweep((threadId, requestId) => isPending(registry(), threadId, requestId)),
    make: async () => {
      const { Rap } = await import("./tool/rap/rap.ts");
      // If the key cannot be read, requests are sent without the headers that clients gave for a thread.
      await seals.ready().catch((cause: unknown) => supervisor.report("reading the key of seals", cause));
      return new Rap({
        ...parts,
        env: platform.env,
        serversOf,
        ownNames: ownNames(own),
        taken: (thread) =>
          names.of([cancelSubscription, ...others.flatMap((source) => source.tools(thread))]),
        deliver: (threadId, command) => deliver(registry(), threadId, command),
        warn: (threadId, message) => warn(registry(), threadId, message, platform.clock.now()),
      });
    },
  });
}

/**
 * Maps each name that tool servers cannot use to the tool that has it. Remembers the last map, because most threads have
 * the same tools.
 */
class Names {
  #key = "";
  #last: ReadonlyMap<string, string> = new Map();

  of(tools: readonly Tool[]): ReadonlyMap<string, string> {
    const plain = tools.filter(({ namespace }) => namespace === null).map(({ name }) => name);
    const key = plain.join("\n");
    if (key === this.#key) return this.#last;
    this.#key = key;
    this.#last = new Map(plain.map((name) => [name, "another tool of this thread"]));
    return this.#last;
  }
}

/** Whether a server request is still unanswered, in this host or another one. */
async function isPending(registry: Registry, threadId: string, requestId: number): Promise<boolean> {
  try {
    return await registry.read(threadId, ANYONE, async (_journal, { requests }) =>
      requests.some(({ id }) => id === requestId),
    );
  } catch (cause) {
    if (cause instanceof Fault) return false;
    throw cause;
  }
}

async function deliver(registry: Registry, threadId: string, command: RapCommand): Promise<CommandResult> {
  let outcome!: CommandResult;
  await registry.edit(
    threadId,
    // Any caller may do this: the secret callback URL authorizes the tool server.
    ANYONE,
    await withKeptMedia(registry, threadId, command),
    (state, _place, records) => {
      outcome = { state, records };
    },
    true,
  );
  return outcome;
}

/**
 * Stores large media of a result as blobs beside the thread's journal. If that fails, the media stays in the record.
 */
async function withKeptMedia(registry: Registry, threadId: string, command: RapCommand): Promise<RapCommand> {
  const actor = registry.get(threadId);
  if (command.kind !== "reportCall" || actor === undefined || actor.ephemeral) return command;
  const { output, shown } = command.report;
  const stored = await keepOutcome({ output, content: shown.content }, (name, bytes) =>
    actor.journal.keep(name, bytes),
  ).catch(() => undefined);
  if (stored === undefined) return command;
  const report = { ...command.report, output: stored.output, blobs: stored.blobs };
  return { ...command, report: { ...report, shown: { ...shown, content: stored.content } } };
}

/** Sends a warning to the subscribers of a thread. Returns false if there are none. */
export function warn(registry: Registry, threadId: string, message: string, now: number): boolean {
  const actor = registry.get(threadId);
  if (actor === undefined || actor.subscriptions.size === 0) return false;
  actor.subscriptions.tell("warning", notificationFrame("warning", { threadId, message }, now));
  return true;
}

/** Called with every commit: deletes the stored secret of a server request when it is answered. */
export function forgetSecrets(
  secrets: Secrets,
  supervisor: Supervisor,
  { records }: Commit,
  { facts }: ThreadState,
): void {
  for (const record of records) {
    if (record.type !== "requestResolved" || !record.sealed) continue;
    supervisor.take("forgetting a secret", secrets.forget(facts.id, record.requestId));
  }
}
