import type { McpAuthStatus } from "@bobbin/protocol";
import { pinoLog } from "../observe/log.ts";
import { Supervisor } from "../observe/supervise.ts";
import type { Platform } from "../platform/platform.ts";
import { ProcessManager } from "../process/process-manager.ts";
import { ProcessMarks } from "../process/process-marks.ts";
import { McpConnection } from "../tool/mcp/connection.ts";
import { targetOf } from "../tool/mcp/connection-target.ts";
import { type McpAuth, McpError } from "../tool/mcp/mcp-interface.ts";
import type { McpServerSettings } from "../tool/mcp/mcp-server-settings.ts";
import type { ServerOffer } from "../tool/mcp/server-offer.ts";
import { LOCAL } from "./mcp-context.ts";

/** The result of a trial connection to an MCP server. */
export type McpTrial =
  | {
      readonly works: true;
      readonly offered: ServerOffer;
      /** The number of resources; null if the server has no resources, or does not list them. */
      readonly resources: number | null;
      readonly resourceTemplates: number | null;
      readonly ms: { readonly connect: number; readonly tools: number; readonly resources: number };
    }
  | {
      readonly works: false;
      readonly error: McpError;
      /** The login status, if the server refused access; otherwise null. */
      readonly auth: McpAuthStatus | null;
    };

/** Connects to a server as a host would, lists its tools and resources, and disconnects. `timeoutMs` limits all of it. */
export async function tryMcpServer(
  settings: McpServerSettings,
  { platform, auth }: { readonly platform: Platform; readonly auth: McpAuth },
  timeoutMs = settings.startupTimeoutMs,
): Promise<McpTrial> {
  const log = pinoLog({ level: "silent", format: "text", write() {} });
  const marks = new ProcessMarks({ home: undefined, platform, log });
  const processes = new ProcessManager({ platform, supervisor: new Supervisor(log), marks });
  const late = new McpError("timeout", `it did not reply within ${timeoutMs / 1000} s`);
  const controller = new AbortController();
  const { signal } = controller;
  const timer = setTimeout(() => controller.abort(late), timeoutMs);
  let connection: McpConnection<object> | undefined;
  try {
    const cwd = process.cwd();
    const target = targetOf(settings, { cwd, roots: [cwd], env: platform.env });
    const ports = { platform, processes, auth };
    const begun = platform.clock.monotonic();
    connection = await McpConnection.open(target, { settings, owner: LOCAL }, ports, NOBODY, {
      signal,
      isLegacy: false,
    });
    const connected = platform.clock.monotonic();
    const offered = await connection.offered(signal);
    const listed = platform.clock.monotonic();
    const hasResources = offered.capabilities.resources !== undefined;
    const resources = hasResources ? await count(connection, "resources", signal) : null;
    const resourceTemplates = hasResources ? await count(connection, "resourceTemplates", signal) : null;
    const ms = {
      connect: Math.round(connected - begun),
      tools: Math.round(listed - connected),
      resources: Math.round(platform.clock.monotonic() - listed),
    };
    return { works: true, offered, resources, resourceTemplates, ms };
  } catch (cause) {
    if (signal.aborted) return { works: false, error: late, auth: null };
    if (!(cause instanceof McpError)) throw cause;
    const isRefused = cause.kind === "unauthorized";
    return { works: false, error: cause, auth: isRefused ? await auth.status(settings, LOCAL) : null };
  } finally {
    clearTimeout(timer);
    await connection?.close();
    await processes.close();
  }
}

/** Rejects the server's questions and ignores its notifications, because this is only a trial. */
const NOBODY = {
  asked: () => Promise.reject(new Error("nobody is here to answer")),
  toolsChanged() {},
  lost() {},
};

const METHODS = { resources: "resources/list", resourceTemplates: "resources/templates/list" } as const;
const MAX_PAGES = 20;

/** Counts resources or templates; null if the server refuses to list them. */
async function count(
  connection: McpConnection<object>,
  what: keyof typeof METHODS,
  signal: AbortSignal,
): Promise<number | null> {
  let found = 0;
  let cursor: unknown;
  try {
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = typeof cursor === "string" ? { cursor } : {};
      const result = await connection.request(METHODS[what], params, { signal });
      found += Array.isArray(result[what]) ? result[what].length : 0;
      cursor = result.nextCursor;
      if (typeof cursor !== "string") break;
    }
    return found;
  } catch (cause) {
    if (cause instanceof McpError && cause.kind === "refused") return null;
    throw cause;
  }
}
