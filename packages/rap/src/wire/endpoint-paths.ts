/** Paths of the endpoints under a tool server's base URL. The endpoint for calls is named by the toolset instead. */
export const PATHS = {
  toolset: "/.well-known/rap-toolset",
  closeThread: "/close_thread",
  cancelToolCall: "/cancel_tool_call",
  migrate: "/migrate",
} as const;

/** Reserved tool name. A host shows events to the model as calls of this tool, so no tool may have the name. */
export const EVENT_TOOL = "receive_event__injected";

/** Header by which a host recognizes an event that is sent again. An addition of Bobbin to the protocol. */
export const IDEMPOTENCY_KEY = "Idempotency-Key";

/**
 * The URL of an endpoint under a base URL, which may have a path of its own and a trailing slash.
 *
 * @example
 * underBase("https://tools.example.com/github/", PATHS.closeThread);
 * // "https://tools.example.com/github/close_thread"
 */
export function underBase(base: string, path: string): string {
  const url = new URL(base);
  url.search = "";
  url.hash = "";
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  return url.href;
}
