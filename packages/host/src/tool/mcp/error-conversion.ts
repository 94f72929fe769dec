import type { Library } from "./client-library.ts";
import { STREAM_ENDED, TOO_LARGE } from "./http-transport.ts";
import { McpError } from "./mcp-interface.ts";

/** Limits on the characters of a server's error message and error data that are passed on. */
const MAX_MESSAGE = 4000;
const MAX_DATA = 64 * 1024;

/** Converts an error of the library to an `McpError`. `transport`: may know the cause of the error. */
export function errorOf(
  cause: unknown,
  { ProtocolError, SdkError, SdkErrorCode, SdkHttpError }: Library,
  transport: { readonly failure: McpError | undefined; readonly sessionId?: string | undefined },
): McpError {
  const known = mcpErrorIn(cause);
  if (known !== undefined) return known;
  const message = (cause as Error).message.slice(0, MAX_MESSAGE);
  if (cause instanceof ProtocolError) {
    if (cause.code === TOO_LARGE) return new McpError("tooLarge", message, { cause });
    if (cause.code === STREAM_ENDED) return transport.failure ?? new McpError("lost", message, { cause });
    return new McpError("refused", message, { cause, code: cause.code, data: boundedData(cause.data) });
  }
  if (cause instanceof SdkHttpError) {
    // The server no longer knows the session, so it has not run the call.
    const isForgotten = cause.status === 404 || (cause.status === 400 && /session/i.test(message));
    if (isForgotten && transport.sessionId !== undefined)
      return new McpError("expired", "it does not know the session any more", { cause });
    if (cause.status === 401 || cause.status === 403)
      return new McpError("unauthorized", `it refused access (HTTP ${cause.status})`, { cause });
    return new McpError("unavailable", `it replied with HTTP ${cause.status}: ${message}`, { cause });
  }
  if (cause instanceof SdkError) {
    if (cause.code === SdkErrorCode.InvalidResult || cause.code === SdkErrorCode.ClientHttpUnexpectedContent)
      return new McpError("invalid", `it did not reply as the protocol says: ${message}`, { cause });
    if (transport.failure !== undefined) return transport.failure;
    return new McpError("lost", message, { cause });
  }
  // The reply is not JSON, or no message of the protocol.
  if (cause instanceof SyntaxError || (cause as Error).name === "ZodError")
    return new McpError("invalid", "its answer is no message of the protocol", { cause });
  return transport.failure ?? new McpError("lost", message, { cause });
}

/** The `McpError` of a transport inside an error of the library. */
function mcpErrorIn(cause: unknown): McpError | undefined {
  for (let at = cause, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if (at instanceof McpError) return at;
  return undefined;
}

function boundedData(data: unknown): unknown {
  return data === undefined || JSON.stringify(data).length > MAX_DATA ? undefined : data;
}
