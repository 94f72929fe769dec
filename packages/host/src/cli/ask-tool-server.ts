import { discover } from "@bobbin/rap/runtime";
import type { Platform } from "../platform/platform.ts";
import { Catalog, type Offer } from "../tool/rap/catalog.ts";
import { rapTools } from "../tool/rap/rap-tool.ts";
import { serverAddress } from "../tool/rap/server.ts";
import type { ToolServerSettings } from "../tool/rap/settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Asks a tool server what it offers now. */
export function askToolServer(
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
    // People want to know how it is now.
    recall: async () => undefined,
    keep: async () => {},
  }).ask();
}

/** What a person can do about a server that offers nothing; undefined if that is the server's own matter. */
export function adviceFor(
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
