/** Errors of connections: malformed messages, unknown methods, overload. */
export const CONNECTION_ERRORS = {
  malformedJson: { wire: -32700, retryable: false, text: (why: string) => `Parse error: ${why}` },
  invalidFrame: { wire: -32600, retryable: false, text: (why: string) => `Invalid request: ${why}` },
  messageTooLarge: {
    wire: -32600,
    retryable: false,
    text: (limit: number) => `Message is larger than the limit of ${limit} bytes and was skipped`,
  },
  replyTooLarge: {
    wire: -32600,
    retryable: false,
    text: (limit: number) =>
      `The reply would be larger than the limit of ${limit} bytes; ask for less or page`,
  },
  notInitialized: { wire: -32600, retryable: false, text: () => "Not initialized" },
  alreadyInitialized: { wire: -32600, retryable: false, text: () => "Already initialized" },
  methodNotFound: { wire: -32601, retryable: false, text: (method: string) => `Method not found: ${method}` },
  methodNotImplemented: {
    wire: -32601,
    retryable: false,
    text: (method: string) => `Method not found: ${method} is known to this server but not served by it yet`,
  },
  invalidParams: {
    wire: -32602,
    retryable: false,
    text: (path: string, why: string) => `Invalid params: ${path === "" ? "" : `${path}: `}${why}`,
  },
  experimentalRequired: {
    wire: -32600,
    retryable: false,
    text: (what: string) => `${what} requires experimentalApi capability`,
  },
  invalidClientName: {
    wire: -32600,
    retryable: false,
    text: (name: string) => `Invalid clientInfo.name: '${name}'. Must be a valid HTTP header value.`,
  },
  invalidCursor: { wire: -32600, retryable: false, text: (cursor: string) => `invalid cursor: ${cursor}` },
  overloaded: { wire: -32001, retryable: true, text: () => "Server overloaded; retry later." },
  shuttingDown: { wire: -32001, retryable: true, text: () => "Server is shutting down; retry later." },
  internal: {
    wire: -32603,
    retryable: false,
    text: (reference: string) => `Internal error (log reference ${reference})`,
  },
} as const;
