import type { MethodName } from "@bobbin/protocol";
import type { Grant } from "../config/subjects.ts";

/**
 * What a subject gets that calls a method; the host's own user may call all of them.
 *
 * - `open`: the same for everybody. Nothing in it belongs to anybody.
 * - `own`: the subject's own threads, sections and grants. Threads and sections of others do not exist.
 * - `reach`: as `own`, and what a request names besides (files, addresses, sandboxes) is checked by the caller's `Reach`.
 * - `hostUser`: nothing; refused with `notPermitted`.
 * - `{ grant }`: refused with `notGranted`, unless `[subjects]` grants it.
 */
export type SubjectAccess = "open" | "own" | "reach" | "hostUser" | { readonly grant: Grant };

/** One row for each method; without one the types do not fit. `test/scenario/subjects.test.ts` proves each of them. */
export const subjectAccess: { readonly [M in MethodName]: SubjectAccess } = {
  initialize: "open",
  "model/list": "open",
  "modelProvider/capabilities/read": "open",
  "server/diagnostics": "own",
  "feedback/upload": "hostUser",

  "account/read": "open",
  "account/rateLimits/read": "open",
  "account/bedrock/checkGovCloudRequirements": "open",

  // A subject is shown values without secrets, and no files.
  "config/read": "open",
  "configRequirements/read": "open",
  "config/value/write": "hostUser",
  "config/batchWrite": "hostUser",
  "externalAgentConfig/detect": { grant: "import" },
  "externalAgentConfig/import": { grant: "import" },

  // Reading is not confined to a subject's roots by any sandbox policy.
  "command/exec": { grant: "processes" },
  "command/exec/write": { grant: "processes" },
  "command/exec/resize": { grant: "processes" },
  "command/exec/terminate": { grant: "processes" },

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
  "thread/metadata/update": "own",
  "thread/revert": "own",
  "thread/rollback": "own",
  // Only in those of the thread's folders that the subject still reaches.
  "thread/files/restore": "own",
  "thread/grants/list": "own",
  "thread/grants/revoke": "own",
  "thread/inject_items": "own",
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
  "thread/list": "own",
  "thread/search": "own",
  "thread/loaded/list": "own",

  "collaborationMode/list": "open",
  "permissionProfile/list": "own",
  "skills/list": "reach",
  "hooks/list": "reach",
  "plugin/list": "open",
  "mcpServerStatus/list": "own",
  "rap/servers/list": "own",
  "rules/list": "hostUser",
  "rules/revoke": "hostUser",

  "turn/start": "reach",
  "turn/steer": "reach",
  "turn/interrupt": "own",
  "review/start": "own",
};
