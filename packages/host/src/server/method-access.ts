import type { MethodName } from "@bobbin/protocol";
import type { Grant } from "../config/subject-permissions.ts";

/**
 * What a subject gets from a method. The host's own user may call all methods.
 *
 * - `open`: the same for everyone. It contains nothing private.
 * - `own`: the subject's own threads, sections and grants. Those of others do not exist for it.
 * - `reach`: like `own`; paths, addresses and sandboxes in the request are checked by the caller's `Reach`.
 * - `hostUser`: refused with `notPermitted`.
 * - `{ grant }`: refused with `notGranted`, unless `[subjects]` grants it.
 */
export type SubjectAccess = "open" | "own" | "reach" | "hostUser" | { readonly grant: Grant };

/** One entry per method; the type demands all of them. `test/long/subjects.test.ts` tests each. */
export const subjectAccess: { readonly [M in MethodName]: SubjectAccess } = {
  initialize: "open",
  "model/list": "open",
  "modelProvider/capabilities/read": "open",
  // Addresses of providers may be internal.
  "modelProvider/list": "hostUser",
  "modelProvider/config/write": "hostUser",
  "server/diagnostics": "own",
  // Only for the host's user: log lines contain the threads and addresses of all users.
  "server/logs/read": "hostUser",
  "server/hosts/list": "hostUser",
  "server/setup/read": "hostUser",
  "feedback/save": "hostUser",
  "feedback/upload": "hostUser",

  // A subject has no account.
  "account/read": "own",
  "account/securitySetup/read": "open",
  "account/login/start": "hostUser",
  "account/login/cancel": "hostUser",
  "account/logout": "hostUser",
  "account/rateLimits/read": "open",
  "account/usage/read": "hostUser",
  "account/bedrock/checkGovCloudRequirements": "open",

  // A subject gets no secret values and no file paths.
  "config/read": "open",
  "configRequirements/read": "open",
  "config/value/write": "hostUser",
  "experimentalFeature/enablement/set": "hostUser",
  "config/batchWrite": "hostUser",
  "config/mcpServer/reload": "hostUser",
  "externalAgentConfig/detect": { grant: "import" },
  "externalAgentConfig/import": { grant: "import" },
  "externalAgentConfig/import/recordHistory": { grant: "import" },
  "externalAgentConfig/import/readHistories": { grant: "import" },

  // Needs a grant, because no sandbox policy limits reading to the subject's folders.
  "command/exec": { grant: "processes" },
  "command/exec/write": { grant: "processes" },
  "command/exec/resize": { grant: "processes" },
  "command/exec/terminate": { grant: "processes" },

  // The reply contains the subject's own folder.
  "environment/info": "own",
  "environment/status": "open",
  "environment/add": "hostUser",

  getAuthStatus: "hostUser",
  getConversationSummary: "own",
  gitDiffToRemote: "reach",
  "windowsSandbox/setupStart": "open",
  "windowsSandbox/readiness": "open",
  "fs/readFile": "reach",
  "fs/writeFile": "reach",
  "fs/createDirectory": "reach",
  "fs/getMetadata": "reach",
  "fs/readDirectory": "reach",
  "fs/remove": "reach",
  "fs/copy": "reach",
  "fs/watch": "reach",
  // A watch belongs to the connection that started it.
  "fs/unwatch": "own",
  fuzzyFileSearch: "reach",
  "fuzzyFileSearch/sessionStart": "reach",
  "fuzzyFileSearch/sessionUpdate": "own",
  "fuzzyFileSearch/sessionStop": "own",

  "process/spawn": { grant: "processes" },
  "process/writeStdin": { grant: "processes" },
  "process/resizePty": { grant: "processes" },
  "process/kill": { grant: "processes" },
  "thread/shellCommand": { grant: "processes" },
  "thread/backgroundTerminals/list": "own",
  "thread/backgroundTerminals/terminate": "own",
  "thread/backgroundTerminals/clean": "own",

  "thread/start": "reach",
  "thread/resume": "reach",
  "thread/fork": "reach",
  "thread/archive": "own",
  "thread/unarchive": "own",
  "thread/delete": "own",
  "thread/unsubscribe": "own",
  "thread/unload": "own",
  "thread/compact/start": "own",
  "thread/settings/update": "reach",
  "thread/loadSettings/update": "reach",
  "thread/memoryMode/set": "own",

  "thread/name/set": "own",
  "thread/readState/update": "own",
  "thread/metadata/update": "own",
  "thread/revert": "own",
  "thread/rollback": "own",
  // Restores only files in folders that the subject may still access.
  "thread/files/restore": "own",
  "thread/grants/list": "own",
  "thread/grants/revoke": "own",
  "thread/inject_items": "own",
  "thread/prepareApprovedPlan": "own",
  "thread/approveGuardianDeniedAction": "own",
  "thread/section/move": "own",
  "threadSection/list": "own",
  "threadSection/create": "own",
  "threadSection/update": "own",
  "threadSection/delete": "own",

  "thread/goal/get": "own",
  "thread/goal/set": "own",
  "thread/goal/clear": "own",
  "thread/queue/add": "reach",
  "thread/queue/list": "own",
  "thread/queue/update": "reach",
  "thread/queue/delete": "own",
  "thread/queue/reorder": "own",
  "thread/queue/start": "own",

  "thread/read": "own",
  "thread/turns/list": "own",
  "thread/items/list": "own",
  "thread/items/read": "own",
  "thread/journal/read": "own",
  "thread/list": "own",
  "thread/search": "own",
  "thread/searchOccurrences": "own",
  "thread/loaded/list": "own",

  "collaborationMode/list": "open",
  "experimentalFeature/list": "own",
  "permissionProfile/list": "own",
  "skills/list": "reach",
  "skills/config/write": "hostUser",
  "skills/extraRoots/set": "hostUser",
  "prompts/list": "reach",
  "prompts/read": "reach",
  "hooks/list": "reach",
  "app/list": "own",
  "plugin/installed": "open",
  "plugin/list": "open",
  "mcpServerStatus/list": "own",
  // Only servers of the subject's own threads.
  "mcpServer/tool/call": "own",
  "mcpServer/resource/read": "own",
  "mcpServer/prompt/list": "own",
  "mcpServer/prompt/get": "own",
  // Only for servers that the subject's threads bring along. Logins to the servers of config.toml belong to the
  // host's user.
  "mcpServer/oauth/login": { grant: "mcp-servers" },
  "rap/servers/list": "own",
  "rules/list": "hostUser",
  "rules/revoke": "hostUser",

  "turn/start": "reach",
  "turn/steer": "reach",
  "turn/interrupt": "own",
  "turn/settings/update": "own",
  "turn/timeline/read": "own",
  "review/start": "own",
};
