/** Errors of logins, credentials and problem reports. */
export const ACCOUNT_ERRORS = {
  apiKeyLoginDisabled: {
    wire: -32600,
    retryable: false,
    text: () => "API key login is disabled. Use ChatGPT login instead.",
  },
  chatgptLoginDisabled: {
    wire: -32600,
    retryable: false,
    text: () => "ChatGPT login is disabled. Use API key login instead.",
  },
  externalAuthDisabled: {
    wire: -32600,
    retryable: false,
    text: () => "External ChatGPT auth is disabled. Use API key login instead.",
  },
  externalAuthActive: {
    wire: -32600,
    retryable: false,
    text: () =>
      "External auth is active. Use account/login/start (chatgptAuthTokens) to update it or account/logout to clear it.",
  },
  externalAuthInvalid: {
    wire: -32603,
    retryable: false,
    text: (why: string) => `failed to set external auth: ${why}`,
  },
  keyringUnavailable: {
    wire: -32603,
    retryable: true,
    text: (why: string) =>
      `The keyring does not answer: ${why}. Unlock it and try again, or set cli_auth_credentials_store = "file" and log in again`,
  },
  loginNotOffered: { wire: -32600, retryable: false, text: (why: string) => why },
  loginFailed: { wire: -32603, retryable: true, text: (why: string) => `failed to start login: ${why}` },
  invalidLoginId: { wire: -32600, retryable: false, text: (id: string) => `invalid login id: ${id}` },
  loginUnsupported: {
    wire: -32600,
    retryable: false,
    text: (type: string) =>
      `Logins of the type ${type} are not supported: set the provider's env_key in config.toml, or log in with an apiKey`,
  },
  feedbackDisabled: {
    wire: -32600,
    retryable: false,
    text: () => "feedback is turned off: feedback.enabled is false in config.toml",
  },
  feedbackPath: {
    wire: -32600,
    retryable: false,
    text: () => "feedback savePath must be an absolute host path",
  },
  feedbackExists: {
    wire: -32600,
    retryable: false,
    text: (path: string) => `failed to save feedback: ${path} already exists; name a new file`,
  },
  feedbackFailed: {
    wire: -32603,
    retryable: true,
    text: (why: string) => `failed to save feedback: ${why}`,
  },
  feedbackAttachment: {
    wire: -32600,
    retryable: false,
    text: (path: string, why: string) =>
      `failed to save feedback: failed to read selected attachment ${path}: ${why}`,
  },
  feedbackRefused: {
    wire: -32603,
    retryable: true,
    text: (endpoint: string, status: number, words: string, path: string) =>
      `${endpoint} refused the report with status ${status}: ${words}; it is kept at ${path}`,
  },
  feedbackNotSent: {
    wire: -32603,
    retryable: true,
    text: (endpoint: string, why: string, path: string) =>
      `the report could not be sent to ${endpoint}: ${why}; it is kept at ${path}`,
  },
} as const;
