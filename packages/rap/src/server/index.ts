/** The SDK for tool servers. Nothing here needs Node but `serve()`; what does is in `@bobbin/rap/node`. */
export type { ContentItem, DisplaySegment, Image, JsonObject, ToolAnnotations } from "../wire/index.ts";
export { type Auth, type Authenticated, bearer, noAuth } from "./auth.ts";
export { createToolServer, type ToolServer } from "./create.ts";
export type { RetryPolicy } from "./deliver.ts";
export { consoleLog, type Log, type LogEntry } from "./log.ts";
export type { MigratingSession } from "./migrate.ts";
export type { ServeOptions, Serving } from "./node/serve.ts";
export type { OAuthProvider } from "./oauth-tokens.ts";
export type { Limits, ToolServerOptions } from "./options.ts";
export { type Platform, webPlatform } from "./platform.ts";
export type { Rate } from "./rate.ts";
export { content, type ToolContent, ToolError } from "./result.ts";
export type { Arguments, InputSchema, StandardSchema } from "./schema.ts";
export { type Folders, memoryData, type Store, type ToolServerData } from "./store.ts";
export type { ClosedThread } from "./threads.ts";
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
