import { isDeepStrictEqual } from "node:util";
import type { Config } from "./config.ts";

/** Keys of config.toml that take effect only when the host starts, each with a function that returns its value. */
export const START_ONLY: readonly (readonly [key: string, of: (config: Config) => unknown])[] = [
  ["thread_unload_delay_secs", (config) => config.threadUnloadDelaySecs],
  ["server_request_deadline_secs", (config) => config.serverRequestDeadlineSecs],
  ["max_resident_threads", (config) => config.maxResidentThreads],
  ["journal_sync", (config) => config.journalSync],
  ["max_connections", (config) => config.maxConnections],
  ["goals.max_goal_token_budget", (config) => config.maxGoalTokenBudget],
  ["rap", ({ rap }) => [rap.callbackListen, rap.callbackPublicUrl]],
  ["rap_servers", ({ rap }) => rap.servers],
];

/** Returns the keys whose values have changed since the host started. */
export function startOnlyChanges(started: Config, now: Config): readonly string[] {
  return START_ONLY.filter(([, of]) => !isDeepStrictEqual(of(started), of(now))).map(([key]) => key);
}
