import { submitTo } from "./compose-command-tools.ts";
import type { Config } from "./config/config.ts";
import { ConfigWriter } from "./config/edit/config-writer.ts";
import { isTable, type LayeredConfig } from "./config/layered-config.ts";
import type { ThreadState } from "./core/state.ts";
import { fault } from "./errors.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Platform } from "./platform/platform.ts";
import { type Reach, SUBJECT } from "./server/owner-access.ts";
import type { OutputFileStore } from "./store/output-file-store.ts";
import type { Registry } from "./thread/registry.ts";
import type { Secrets } from "./thread/request-secrets.ts";
import { LazyMcpSource } from "./tool/mcp/lazy-mcp-source.ts";
import type { McpServers } from "./tool/mcp/mcp-interface.ts";
import type { RunnerPorts } from "./turn/runner.ts";

interface McpCallParts {
  readonly platform: Platform;
  readonly supervisor: Supervisor;
  readonly secrets: Secrets;
  readonly servers: McpServers;
  readonly layers: LayeredConfig;
  /** The current configuration. */
  config(): Config;
  configure(config: Config): void;
  reachOf(owner: string): Reach;
  readonly outputs: OutputFileStore;
  /** A function, because the registry is created later. */
  registry(): Registry;
  runner(): RunnerPorts;
}

/** Creates the tool source for calls of models and clients to MCP servers. */
export function composeMcpCalls(parts: McpCallParts): LazyMcpSource {
  const { platform, supervisor, secrets, servers, layers, registry } = parts;
  const writer = new ConfigWriter(platform, layers);
  return new LazyMcpSource({
    servers,
    make: async () => {
      const [{ McpSource }, { sampleForServer }] = await Promise.all([
        import("./tool/mcp/mcp-source.ts"),
        import("./turn/mcp-sampling.ts"),
      ]);
      return new McpSource({
        platform,
        servers,
        submit: (threadId, command) => submitTo(registry(), threadId, command),
        hold: (requestId, url) => secrets.hold(requestId, url),
        forget: (threadId, requestId) => secrets.forget(threadId, requestId),
        async sample(threadId, request, signal) {
          const actor = registry().get(threadId);
          if (actor === undefined) throw fault("threadNotFound", threadId);
          return sampleForServer(actor, parts.runner(), request, signal);
        },
        progress: (threadId, progress) =>
          registry()
            .get(threadId)
            ?.tell("item/mcpToolCall/progress", { threadId, ...progress }),
        writeFile: (thread, name, content) => keepFile(parts, thread, name, content),
        mayAllowForGood: ({ facts }, { settings }) =>
          settings.origin === "host" && !facts.owner.startsWith(SUBJECT),
        async allowForGood(server, tool) {
          try {
            const config = await allowForGood(layers, writer, server, tool);
            if (config !== undefined) parts.configure(config);
            return config !== undefined;
          } catch (cause) {
            supervisor.report("allowing an MCP tool for good", cause);
            return false;
          }
        },
        searchAbove: () => parts.config().toolSearchAbove,
      });
    },
  });
}

/**
 * Writes a long result to a file that the thread's commands can read, and resolves with its path. Resolves with undefined
 * if the thread is ephemeral or has no file access, or if the store has no files.
 */
async function keepFile(
  { reachOf, outputs }: McpCallParts,
  { facts }: ThreadState,
  name: string,
  content: string | Uint8Array,
): Promise<string | undefined> {
  if (facts.ephemeral || !reachOf(facts.owner).hasFiles) return undefined;
  const file = await outputs.create(facts.id, name);
  try {
    await file?.append(typeof content === "string" ? new TextEncoder().encode(content) : content);
  } finally {
    await file?.close();
  }
  return file?.path;
}

/**
 * Writes to config.toml that a tool needs no approval, and resolves with the new configuration. Resolves with undefined if
 * the server is not configured there.
 */
async function allowForGood(
  layers: LayeredConfig,
  writer: ConfigWriter,
  server: string,
  tool: string,
): Promise<Config | undefined> {
  const read = await layers.read();
  const { mcp_servers: servers } = Object(read.find(({ name }) => name.type === "user")?.config) as {
    readonly mcp_servers?: unknown;
  };
  if (!isTable(servers) || !Object.hasOwn(servers, server)) return undefined;
  const keyPath = ["mcp_servers", server, "tools", tool, "approval_mode"].map(quoted).join(".");
  const { config } = await writer.write({ edits: [{ keyPath, value: "approve", mergeStrategy: "replace" }] });
  return config;
}

function quoted(key: string): string {
  return `"${key.replace(/["\\]/g, "\\$&")}"`;
}
