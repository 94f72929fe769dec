/** Errors of permissions: what a subject may not do, and missing grants and rules. */
export const ACCESS_ERRORS = {
  notPermitted: {
    wire: -32600,
    retryable: false,
    text: (method: string) => `${method} is for the host's own user, not for a token that names a subject`,
  },
  pathNotAllowed: {
    wire: -32600,
    retryable: false,
    text: (name: string, path: string) =>
      `${name}: this subject may not use ${path}; [subjects] in the host's config.toml lists the folders that it may use`,
  },
  addressNotAllowed: {
    wire: -32600,
    retryable: false,
    text: (name: string, address: string) =>
      `${name}: this subject may not use ${address}; [subjects] in the host's config.toml lists the addresses that it may use`,
  },
  notGranted: {
    wire: -32600,
    retryable: false,
    text: (what: string, grant: string) =>
      `${what} is not allowed for this subject: [subjects] in the host's config.toml does not grant "${grant}"`,
  },
  grantNotFound: {
    wire: -32602,
    retryable: false,
    text: (id: string) => `the thread has no grant ${id}; thread/grants/list shows those that it has`,
  },
  ruleNotFound: {
    wire: -32602,
    retryable: false,
    text: (prefix: string) =>
      `default.rules has no line that allows ${prefix}; edit other rules in their files`,
  },
} as const;
