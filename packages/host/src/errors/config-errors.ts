/** Errors of the configuration, of requirements.toml, and of the settings of a thread. */
export const CONFIG_ERRORS = {
  noPermissionProfile: {
    wire: -32602,
    retryable: false,
    text: (method: string) =>
      `\`permissionProfile\` is no longer supported for \`${method}\`; use \`permissions\` with a named profile id instead`,
  },
  twoSandboxPolicies: {
    wire: -32600,
    retryable: false,
    text: (one: string, other: string) => `\`${one}\` cannot be combined with \`${other}\``,
  },
  twoSandboxes: {
    wire: -32600,
    retryable: false,
    text: (other: string) => `\`permissions\` cannot be combined with \`${other}\``,
  },
  unknownModelProvider: {
    wire: -32600,
    retryable: false,
    text: (id: string, known: string) => `unknown model provider: ${id} (known: ${known})`,
  },
  modelProviderNotConfigured: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `the model provider ${JSON.stringify(id)} is not configured`,
  },
  promptNotFound: {
    wire: -32602,
    retryable: false,
    text: (name: string) => `there is no prompt named ${JSON.stringify(name.slice(0, 200))}`,
  },
  badConfig: {
    wire: -32600,
    retryable: false,
    text: (why: string) => `failed to load configuration: ${why}`,
  },
  unknownConfigKey: { wire: -32600, retryable: false, text: (why: string) => why },
  configLayerReadonly: {
    wire: -32600,
    retryable: false,
    text: () => "Only writes to the user config are allowed",
  },
  configVersionConflict: {
    wire: -32600,
    retryable: true,
    text: () => "Configuration was modified since last read. Fetch latest version and retry.",
  },
  configRequirementReadonly: {
    wire: -32600,
    retryable: false,
    text: (key: string) => `\`${key}\` is managed by requirements and cannot be changed`,
  },
  approvalPolicyNotAllowed: {
    wire: -32600,
    retryable: false,
    text: (policy: string) => `the approval policy ${policy} is not allowed by requirements.toml`,
  },
  approvalsReviewerNotAllowed: {
    wire: -32600,
    retryable: false,
    text: (reviewer: string) => `the approvals reviewer ${reviewer} is not allowed by requirements.toml`,
  },
  sandboxModeNotAllowed: {
    wire: -32600,
    retryable: false,
    text: (mode: string) => `the sandbox mode ${mode} is not allowed by requirements.toml`,
  },
  webSearchModeNotAllowed: {
    wire: -32600,
    retryable: false,
    text: (mode: string) => `the web search mode ${mode} is not allowed by requirements.toml`,
  },
  featurePinned: {
    wire: -32600,
    retryable: false,
    text: (feature: string, value: boolean) =>
      `the feature ${feature} is required to be ${value ? "on" : "off"} by requirements.toml`,
  },
  featureOff: {
    wire: -32600,
    retryable: false,
    text: (feature: string) => `${feature} feature is disabled`,
  },
  mcpServerNotAllowed: {
    wire: -32600,
    retryable: false,
    text: (name: string) =>
      `the MCP server ${JSON.stringify(name.slice(0, 200))} is not allowed by requirements.toml`,
  },
  hookNotManaged: {
    wire: -32600,
    retryable: false,
    text: (key: string) => `\`${key}\` cannot be written: requirements.toml allows managed hooks only`,
  },
  networkHostNotAllowed: {
    wire: -32600,
    retryable: false,
    text: (host: string) =>
      `the host ${JSON.stringify(host.slice(0, 300))} is not allowed by requirements.toml`,
  },
  networkByHostRequired: {
    wire: -32600,
    retryable: false,
    text: (key: string) =>
      `\`${key}\` cannot be switched off: requirements.toml requires the network by host`,
  },
  configPathNotFound: { wire: -32600, retryable: false, text: (why: string) => why },
  configValidationError: { wire: -32600, retryable: false, text: (why: string) => why },
} as const;
