import { discover } from "@bobbin/rap/runtime";
import type { Platform } from "../platform/platform.ts";
import type { ToolServerSettings } from "../tool/rap/rap-settings.ts";
import { rapTools } from "../tool/rap/rap-tool.ts";
import { serverAddress } from "../tool/rap/server-address.ts";
import { Catalog, type Offer } from "../tool/rap/server-catalog.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Requests a tool server's current toolset, bypassing the cache of hosts. */
export function requestToolset(
  server: ToolServerSettings,
  { http, timers }: Platform,
  env: Environment,
  timeoutMs: number,
): Promise<Offer> {
  const wire = { send: http, after: timers.after, random: () => 0 };
  const nobodyCalls = { now: () => 0, after: timers.after, send: async () => ({ kind: "aborted" }) as const };
  return new Catalog({
    discover: () => discover(serverAddress(server, env), wire, { timeoutMs }),
    tools: (toolset) => rapTools(server, toolset, nobodyCalls),
    // No stored toolset is used, because the user wants the current state.
    readStored: async () => undefined,
    store: async () => {},
  }).ask();
}

/** Advice for the user about an unusable tool server; undefined if the user can do nothing about it. */
export function toolServerAdvice(
  { name, url, headers, bearerTokenEnvVar: variable }: ToolServerSettings,
  offer: Offer,
  env: Environment,
): string | undefined {
  if (offer.kind === "unreachable") return `Start the server, or correct the url ${url} of ${name}.`;
  if (offer.kind !== "refused") return undefined;
  if (variable !== null) {
    const isSet = (env[variable] ?? "") !== "";
    return isSet
      ? `Set ${variable} to the token that the server expects; it has another value.`
      : `Set the environment variable ${variable} to the server's token.`;
  }
  if (Object.keys(headers).some((header) => header.toLowerCase() === "authorization"))
    return `Correct the header authorization in [rap_servers.${name}].`;
  return `Set bearer_token_env_var in [rap_servers.${name}] to the variable that holds the server's token.`;
}
