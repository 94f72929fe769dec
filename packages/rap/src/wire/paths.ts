/** Where things are under a tool server's base URL. The invocation endpoint is what its toolset says. */
export const PATHS = {
  toolset: "/.well-known/rap-toolset",
  closeThread: "/close_thread",
  cancelToolCall: "/cancel_tool_call",
  migrate: "/migrate",
} as const;

/** A tool's name that a host keeps for events that it shows to the model; no tool may have it. */
export const EVENT_TOOL = "receive_event__injected";

/** The header that makes an event have its effect once however often it is sent. Ours: the protocol has none. */
export const IDEMPOTENCY_KEY = "Idempotency-Key";

/**
 * One of the paths above under a base URL, which may itself have a path, and may end with a slash or not.
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
