/** The SDK for tool servers. Only `serve()` needs Node; storage on disk for Node is in `@bobbin/rap/node`. */
export type { ContentItem, DisplaySegment, Image, JsonObject, ToolAnnotations } from "../wire/index.ts";
export { type Auth, type Authenticated, bearer, noAuth } from "./auth.ts";
export type { RetryPolicy } from "./callback-sender.ts";
export { createToolServer, type ToolServer } from "./create-tool-server.ts";
export type { Arguments, InputSchema, StandardSchema } from "./input-schema.ts";
export { consoleLog, type Log, type LogEntry } from "./log.ts";
export type { ServeOptions, Serving } from "./node/serve.ts";
export type { OAuthProvider } from "./oauth-tokens.ts";
export type { Limits, ToolServerOptions } from "./options.ts";
export { type Platform, webPlatform } from "./platform.ts";
export type { Rate } from "./rate-limit.ts";
export type { MigratingSession } from "./session-migration.ts";
export { type Folders, memoryData, type Store, type ToolServerData } from "./store.ts";
export type { ClosedThread } from "./thread-registry.ts";
export {
  type AbortReason,
  CallAborted,
  type Choice,
  type EventOptions,
  type Question,
  type Subscription,
  type ThreadContext,
  type Tool,
  type ToolContext,
  type ToolOptions,
  type ToolOutput,
  tool,
} from "./tool.ts";
export { content, type ToolContent, ToolError } from "./tool-result.ts";
