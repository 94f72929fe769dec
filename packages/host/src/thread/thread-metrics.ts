import type { Commit } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Idle } from "./idle-unload.ts";
import { loadReasons } from "./load-reasons.ts";
import type { Registry } from "./registry.ts";

/**
 * Limit on the service names with a counter of their own. Clients choose the names; further ones are counted as
 * `other`.
 */
const MAX_SERVICES = 100;
const MAX_NAME = 64;

/** The values of the label `by` of reasons that are numbers. */
const COUNTED_REASONS = [
  ["subscribers", "subscribers"],
  ["requests", "pendingRequests"],
  ["subscriptions", "toolServerSubscriptions"],
  ["children", "descendants"],
  ["calls", "pendingCalls"],
] as const;

/** Counts ended turns by status and by the thread's service name. */
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

/** Gauges: loaded threads, threads in memory, and the reasons for which threads stay loaded. */
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
    "What keeps a loaded thread: retaining subscribers, a running turn or work that is due, questions, tool calls, subscriptions of tool servers, child threads, its parent, or the seconds that are left of its delay.",
    function* () {
      for (const actor of registry.loaded()) {
        const thread = actor.id;
        const reasons = loadReasons(actor, idle);
        for (const [by, field] of COUNTED_REASONS)
          if (reasons[field] > 0) yield [{ thread, by }, reasons[field]];
        if (reasons.turnId !== null) yield [{ thread, by: "turn" }, 1];
        if (reasons.workDue) yield [{ thread, by: "due" }, 1];
        if (reasons.isOpenHelper) yield [{ thread, by: "parent" }, 1];
        if (reasons.unloadsInMs !== null) yield [{ thread, by: "delay" }, reasons.unloadsInMs / 1000];
      }
    },
  );
}
