// Builders for tests of the core.
import type { Command, TurnCommand } from "./commands.ts";
import { decide, type ShownText } from "./decide.ts";
import { fold } from "./fold.ts";
import type { ThreadRecord } from "./records.ts";
import type { ThreadState } from "./state.ts";

/** What becomes of a state by a command, which must not be refused. */
export function decided(
  state: ThreadState,
  command: Command,
  shown: ShownText = new Map(),
): { readonly records: readonly ThreadRecord[]; readonly state: ThreadState } {
  const decision = decide(state, command, shown);
  if (decision.kind === "refused") throw decision.fault;
  return decision;
}

/** The state after commands. */
export function after(state: ThreadState, ...commands: readonly Command[]): ThreadState {
  return commands.reduce((before, command) => decided(before, command).state, state);
}

/** The command that starts a turn with the input "go". */
export function startTurn(turnId = "turn-1", at = 1): TurnCommand {
  return {
    kind: "startTurn",
    at,
    turnId,
    userItemId: "u",
    clientUserMessageId: null,
    input: [{ type: "text", text: "go", text_elements: [] }],
    outputSchema: null,
    changes: {},
  };
}

/** A new thread's state. */
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
