import type { McpServerStartupFailureReason, McpServerStartupState } from "@bobbin/protocol";
import type { McpError } from "./mcp-interface.ts";

/** The status of a server's start, as sent to threads. */
export interface StartupUpdate {
  readonly status: McpServerStartupState;
  readonly error: string | null;
  readonly failureReason: McpServerStartupFailureReason | null;
}

export const STARTING: StartupUpdate = { status: "starting", error: null, failureReason: null };
export const READY: StartupUpdate = { status: "ready", error: null, failureReason: null };
export const CANCELLED: StartupUpdate = { status: "cancelled", error: null, failureReason: null };

export function failedUpdate(why: McpError): StartupUpdate {
  const failureReason = why.kind === "unauthorized" ? "reauthenticationRequired" : null;
  return { status: "failed", error: why.message, failureReason };
}
