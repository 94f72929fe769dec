/** The messages of the Reactive Agent Protocol (RAP): types, size limits and parsers. No I/O. */

export {
  type CallbackMessage,
  type OAuth,
  parseCallback,
  parseIdempotencyKey,
  type SubscriptionEvent,
  type ToolResult,
  type UserChoice,
  type ViewUpdate,
} from "./callback.ts";
export { type ContentItem, type DisplaySegment, displayProblem, type Image } from "./content.ts";
export { EVENT_TOOL, IDEMPOTENCY_KEY, PATHS, underBase } from "./endpoint-paths.ts";
export {
  encodeInvocation,
  type Invocation,
  parseCallbackUrl,
  parseInvocation,
  parseReturnAddress,
  type ReturnAddress,
} from "./invocation.ts";
export { LIMITS } from "./limits.ts";
export { isJson, parseJson, readBytes } from "./message-body.ts";
export {
  type CancelToolCall,
  type CloseThread,
  type Migrate,
  parseCancelToolCall,
  parseCloseThread,
  parseMigrate,
  parseUserChoiceResponse,
  type UserChoiceResponse,
} from "./notice.ts";
export { type ArgumentsCheck, argumentsCheck } from "./schema/arguments-check.ts";
export { isObject, type JsonObject, type Parsed, type Problem } from "./shape.ts";
export { parseToolset, type ToolAnnotations, type ToolDefinition, type Toolset } from "./toolset.ts";
export { isId } from "./value-shapes.ts";
