export { NoAnswerError, type RequestOptions, RpcError } from "@bobbin/rpc";
export { Bobbin } from "./bobbin.ts";
export { BobbinClient, type ServerRequestContext } from "./client.ts";
export { type AttachableLink, overLink } from "./client-over-link.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export {
  connectWebSocket,
  type WebSocketConstructor,
  type WebSocketLike,
  type WebSocketOptions,
} from "./connect-websocket.ts";
export type { ConnectionStatus, OpenConnection } from "./connection/connection-keeper.ts";
export type { FollowedThread, FollowOptions } from "./followed-thread.ts";
export { expandPrompt, type PromptExpansion } from "./prompts/expand-prompt.ts";
export {
  argumentHint,
  mcpPromptCommand,
  PromptArgumentsError,
  type PromptPlace,
  type PromptReader,
  promptCommandInput,
} from "./prompts/prompt-command.ts";
export type { Notification, TurnOptions } from "./run-turn.ts";
export type { RunningTurn, TurnResult } from "./running-turn.ts";
export type { Answers, QuestionContext } from "./server-request-answers.ts";
export { reduceThread } from "./state/reduce-thread.ts";
export { currentItem, type RunningItem } from "./state/running-item.ts";
export {
  emptyThread,
  type LoadedSettings,
  type PendingRequest,
  runningTurn,
  type ThreadEvent,
  type ThreadState,
  type TurnState,
} from "./state/thread-state.ts";
export type { ThreadGoalHandle } from "./thread-goal-handle.ts";
export type { ThreadQueueHandle } from "./thread-queue-handle.ts";
export type { Transport, TransportEvents } from "./transport.ts";
