import { fold } from "./fold.ts";
import type { ThreadState } from "./state.ts";

/** A new thread's state, for tests of the core. */
export function newThread(): ThreadState {
  return fold(undefined, {
    type: "created",
    at: 0,
    facts: {
      id: "t",
      owner: "local",
      ephemeral: false,
      source: "vscode",
      originator: null,
      cliVersion: "1",
      serviceName: null,
      threadSource: null,
      forkedFromId: null,
      parentThreadId: null,
    },
    settings: {
      model: "m",
      modelProvider: "p",
      serviceTier: null,
      cwd: "/work",
      approvalPolicy: "never",
      approvalsReviewer: "user",
      sandbox: { type: "readOnly", networkAccess: false },
      effort: null,
      summary: null,
      personality: null,
    },
    load: {},
    docs: [],
  });
}
