import type { McpAuthStatus, McpServerConnectionStatus, McpServerStatus } from "@bobbin/protocol";
import type { Timers } from "../../platform/platform.ts";
import type { McpScope } from "./lookup-scope.ts";
import { type McpAuth, McpError } from "./mcp-interface.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import type { PooledServer } from "./pooled-server.ts";
import { isJson, type Json } from "./server-offer.ts";
import { offeredTools } from "./tool-filter.ts";
import { within } from "./wait-with-limit.ts";

/** How long a list waits for servers that are starting. */
const WAIT_MS = 10_000;
const MAX_PAGES = 10;

export interface StatusPorts {
  readonly timers: Timers;
  readonly auth: McpAuth | null;
}

/**
 * The status of a server as clients see it. With `isFull`, connects to the server if needed, and asks for its
 * resources. Otherwise uses the cached offer.
 */
export async function serverStatus(
  server: PooledServer,
  settings: McpServerSettings,
  { owner, threadId }: Pick<McpScope, "owner" | "threadId">,
  isFull: boolean,
  { timers, auth }: StatusPorts,
): Promise<McpServerStatus> {
  const late = (): McpError => new McpError("timeout", "it is still starting");
  const found = await within(timers, WAIT_MS, late, async (signal) => {
    if (!isFull && server.offered !== undefined) return NO_RESOURCES;
    await server.connect(signal);
    if (!isFull || server.offered?.capabilities.resources === undefined) return NO_RESOURCES;
    const list = (method: string, key: string) =>
      allPages(key, (params) => server.request({ threadId, method, params, timeoutMs: WAIT_MS, signal }));
    // Some servers have resources but no templates, or the reverse.
    return {
      resources: await list("resources/list", "resources").catch(none),
      resourceTemplates: await list("resources/templates/list", "resourceTemplates").catch(none),
    };
  }).catch((cause: unknown) => {
    if (!(cause instanceof McpError)) throw cause;
    return NO_RESOURCES;
  });
  const { offered, failure } = server;
  return {
    ...disabledStatus(settings),
    runtimeStatus: runtimeStatus(server),
    serverInfo: offered === undefined ? null : serverInfo(offered.serverInfo),
    serverCapabilities: offered?.capabilities ?? null,
    toolListMeta: offered?.toolListMeta ?? null,
    tools: Object.fromEntries(
      (offered === undefined ? [] : offeredTools(offered, settings)).map((tool) => [tool.name, tool]),
    ) as McpServerStatus["tools"],
    toolsError: failure?.message ?? null,
    resources: found.resources.flatMap((one) => (typeof one.uri === "string" ? [named(one)] : [])),
    resourceTemplates: found.resourceTemplates.flatMap((one) =>
      typeof one.uriTemplate === "string" ? [named(one)] : [],
    ),
    authStatus: await authStatus(settings, owner, auth),
  };
}

/** The status of a disabled server. */
export function disabledStatus({ name, transport }: McpServerSettings): McpServerStatus {
  return {
    name,
    runtimeStatus: "disabled",
    pluginId: null,
    httpOrigin: transport.kind === "http" ? new URL(transport.url).origin : null,
    serverInfo: null,
    serverCapabilities: null,
    toolListMeta: null,
    tools: {},
    toolsError: null,
    resources: [],
    resourceTemplates: [],
    authStatus: transport.kind === "http" ? "unknown" : "unsupported",
  };
}

interface FoundResources {
  readonly resources: readonly Json[];
  readonly resourceTemplates: readonly Json[];
}

const NO_RESOURCES: FoundResources = { resources: [], resourceTemplates: [] };

function none(cause: unknown): readonly Json[] {
  if (cause instanceof McpError && cause.kind !== "unauthorized") return [];
  throw cause;
}

async function allPages(key: string, ask: (params: Json) => Promise<Json>): Promise<readonly Json[]> {
  const all: Json[] = [];
  let params: Json = {};
  for (let page = 0; page < MAX_PAGES; page++) {
    const { [key]: list, nextCursor } = await ask(params);
    if (Array.isArray(list)) all.push(...list.filter(isJson));
    if (typeof nextCursor !== "string") break;
    params = { cursor: nextCursor };
  }
  return all;
}

/** The fields of a resource that clients know. If the name is missing, the URI is used. */
function named<T>(one: Json): T {
  const { uri, uriTemplate, name, title, description, mimeType, size, annotations, icons, _meta } = one;
  const texts = Object.entries({ uri, uriTemplate, title, description, mimeType }).filter(
    ([, value]) => typeof value === "string",
  );
  return {
    ...Object.fromEntries(texts),
    name: typeof name === "string" ? name : String(uri ?? uriTemplate),
    ...(Number.isSafeInteger(size) && { size }),
    ...(isJson(annotations) && { annotations }),
    ...(Array.isArray(icons) && uri !== undefined && { icons }),
    ...(isJson(_meta) && uri !== undefined && { _meta }),
  } as T;
}

function serverInfo(info: Json | null): McpServerStatus["serverInfo"] {
  if (info === null) return null;
  const text = (key: string): string | null => (typeof info[key] === "string" ? info[key] : null);
  return {
    name: text("name") ?? "",
    title: text("title"),
    version: text("version") ?? "",
    description: text("description"),
    icons: Array.isArray(info.icons) ? info.icons : null,
    websiteUrl: text("websiteUrl"),
  };
}

function runtimeStatus(server: PooledServer): McpServerConnectionStatus {
  switch (server.state) {
    case "stopped":
      return "notStarted";
    case "starting":
      return "starting";
    case "connected":
      return "connected";
    case "failed":
      return server.failure?.kind === "unauthorized" ? "authenticationRequired" : "failed";
    case "closed":
      return "cancelled";
  }
}

async function authStatus(
  settings: McpServerSettings,
  owner: string,
  auth: McpAuth | null,
): Promise<McpAuthStatus> {
  const { transport } = settings;
  if (transport.kind === "stdio") return "unsupported";
  const { bearerTokenEnvVar, headers, envHeaders } = transport;
  const hasCredentials =
    bearerTokenEnvVar !== null || "authorization" in headers || "authorization" in envHeaders;
  if (hasCredentials) return "bearerToken";
  return (await auth?.status(settings, owner)) ?? "unknown";
}
