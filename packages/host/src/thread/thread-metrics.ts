import type { Commit } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Idle } from "./idle.ts";
import type { Registry } from "./registry.ts";

/** Names that clients give themselves are counted apart, up to so many; the rest go together. */
const MAX_SERVICES = 100;
const MAX_NAME = 64;

/** Turns that ended, by how and by the service that the thread was started for. */
export function turnCounter(metrics: Metrics): (commit: Commit, state: ThreadState) => void {
  const count = metrics.counter(
    "bobbin_turns_total",
    "Turns that ended, by status and by the client's service name.",
  );
  const services = new Set<string>();
  return ({ records }, { facts }) => {
    for (const record of records) {
      if (record.type !== "turnEnded") continue;
      const name = (facts.serviceName ?? "").slice(0, MAX_NAME);
      const service = services.has(name) || services.size < MAX_SERVICES ? name : "other";
      services.add(service);
      count({ status: record.status, service });
    }
  };
}

/** How many threads are loaded, how many of them are in memory, and what keeps each of them. */
export function threadGauges(
  metrics: Metrics,
  registry: Registry,
  idle: Idle,
  serverLabel: (name: string) => string,
): void {
  metrics.gauge("bobbin_threads_loaded", "Threads loaded.", () => registry.size);
  metrics.gauge("bobbin_threads_resident", "Loaded threads that are in memory.", () => registry.residents);
  for (const [kind, help] of [
    ["calls", "Calls that tool servers work on, by server."],
    ["subscriptions", "Live subscriptions of tool servers, by server."],
  ] as const) {
    metrics.gauges(`bobbin_rap_${kind}`, help, () => {
      const counts = new Map<string, number>();
      for (const { outside } of registry.loaded()) {
        for (const server of outside[kind].map(serverLabel))
          counts.set(server, (counts.get(server) ?? 0) + 1);
      }
      return [...counts].map(([server, count]) => [{ server }, count] as const);
    });
  }
  metrics.gauges(
    "bobbin_thread_kept",
    "What keeps a loaded thread: its subscribers, a running turn, its questions and tool calls, or the seconds that are left of its delay.",
    function* () {
      for (const actor of registry.loaded()) {
        const thread = actor.id;
        if (actor.subscriptions.size > 0) yield [{ thread, by: "subscribers" }, actor.subscriptions.size];
        if (actor.activeTurn !== undefined) yield [{ thread, by: "turn" }, 1];
        if (actor.requests.length > 0) yield [{ thread, by: "requests" }, actor.requests.length];
        const { subscriptions } = actor.outside;
        if (subscriptions.length > 0) yield [{ thread, by: "subscriptions" }, subscriptions.length];
        if (actor.children > 0) yield [{ thread, by: "children" }, actor.children];
        if (actor.pendingCalls > 0) yield [{ thread, by: "calls" }, actor.pendingCalls];
        const left = idle.remainingMs(actor);
        if (left !== null) yield [{ thread, by: "delay" }, left / 1000];
      }
    },
  );
}
