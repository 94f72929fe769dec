import { threadServers } from "./config/tool-servers.ts";
import type { RapCommand } from "./core/commands.ts";
import type { Commit } from "./core/records.ts";
import type { ThreadState } from "./core/state.ts";
import { Fault } from "./errors.ts";
import type { Log } from "./observe/log.ts";
import type { Metrics } from "./observe/metrics.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Platform } from "./platform/platform.ts";
import { notificationFrame } from "./thread/notification-frame.ts";
import type { Registry } from "./thread/registry.ts";
import type { Secrets } from "./thread/secrets.ts";
import { ANYONE } from "./thread/stored.ts";
import { ownNames } from "./tool/own-tools.ts";
import type { Delivered } from "./tool/rap/callbacks.ts";
import { cancelSubscription } from "./tool/rap/cancel-subscription.ts";
import { LazyRap, type LazyRapPorts } from "./tool/rap/lazy-rap.ts";
import { callbacksFile, type RapSettings, type ToolServerSettings } from "./tool/rap/settings.ts";
import type { Tool, ToolSource } from "./tool/tool.ts";

interface RapParts {
  readonly home: string;
  readonly settings: RapSettings;
  readonly platform: Platform;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly supervisor: Supervisor;
  readonly secrets: Secrets;
  /** Tools that threads have of the host. */
  readonly own: readonly ToolSource[];
  /** Those, and what else they have besides. */
  readonly others: readonly ToolSource[];
  /** Whether threads of an owner may use a tool server that they bring along. */
  mayUse(owner: string, server: ToolServerSettings): boolean;
  /** Made after this. */
  registry(): Registry;
}

/** Wires tool servers to the host. */
export function composeRap({ registry, own, others, mayUse, ...parts }: RapParts): LazyRap {
  const { settings, platform, supervisor, secrets } = parts;
  const names = new Names();
  const serversOf: LazyRapPorts["serversOf"] = (thread) =>
    threadServers(settings, thread?.load.toolServers, (server) => mayUse(thread!.facts.owner, server));
  return new LazyRap({
    settings,
    platform,
    supervisor,
    serversOf,
    hasListened: () => platform.files.exists(callbacksFile(parts.home)),
    sweep: () => secrets.sweep((threadId, requestId) => isPending(registry(), threadId, requestId)),
    make: async () => {
      const { Rap } = await import("./tool/rap/rap.ts");
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

/** Whose each name is that tool servers can not have. Most threads have the same tools besides, and share this. */
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

/** Whether a question waits for its answer, in this host or in another one. */
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

async function deliver(registry: Registry, threadId: string, command: RapCommand): Promise<Delivered> {
  let outcome!: Delivered;
  await registry.edit(
    threadId,
    // The address that it came to proves that it may.
    ANYONE,
    command,
    (state, _place, records) => {
      outcome = { state, records };
    },
    true,
  );
  return outcome;
}

/** Sends a warning to whoever follows a thread; false if nobody does. */
export function warn(registry: Registry, threadId: string, message: string, now: number): boolean {
  const actor = registry.get(threadId);
  if (actor === undefined || actor.subscriptions.size === 0) return false;
  actor.subscriptions.tell("warning", notificationFrame("warning", { threadId, message }, now));
  return true;
}

/** Called with every commit: what was kept for a question goes when it is answered. */
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

/** Called with every commit: who has begun a thread hears when it is closed. */
export function endChild(registry: Registry, { records }: Commit, { facts }: ThreadState): void {
  if (facts.parentThreadId === null) return;
  const closed = records.find((record) => record.type === "closed");
  if (closed === undefined) return;
  registry.get(facts.parentThreadId)?.offer({ kind: "childEnded", at: closed.at, childId: facts.id });
}
