// Builders for tests of the core.
import type { Command } from "../../packages/host/src/core/commands.ts";
import { decide, type ShownText } from "../../packages/host/src/core/decide.ts";
import { fold } from "../../packages/host/src/core/fold.ts";
import type { Commit, ThreadRecord } from "../../packages/host/src/core/records.ts";
import type { ThreadState } from "../../packages/host/src/core/state.ts";
import type { TurnCommand } from "../../packages/host/src/core/turn/commands.ts";

/** The state after a command, which must be accepted. */
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

/** The code of the error that refuses a command; null if the command is accepted. */
export function refusal(state: ThreadState, command: Command): string | null {
  const decision = decide(state, command, new Map());
  return decision.kind === "refused" ? decision.fault.code : null;
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

/** The usage of a model call with one token of input. */
export const ONE_TOKEN = {
  totalTokens: 1,
  inputTokens: 1,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
} as const;

/** The command that ends a model call of a turn, at its first attempt. */
export function endModelCall(at = 3, turnId = "turn-1"): TurnCommand {
  return {
    kind: "sampled",
    at,
    turnId,
    attempt: 1,
    outcome: {
      kind: "done",
      contextWindow: null,
      usage: ONE_TOKEN,
    },
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

/** The commit that creates a thread. */
export function firstCommit(threadId: string, docs: ThreadState["docs"] = []): Commit {
  const { facts, settings, load } = newThread();
  const created: ThreadRecord = {
    type: "created",
    at: 1,
    facts: { ...facts, id: threadId },
    settings,
    load,
    docs,
  };
  return { seq: 1, epoch: 1, prev: 0, records: [created] };
}

/** A commit that renames a thread to `name N`. */
export function renaming(seq: number): Commit {
  return { seq, epoch: 1, prev: seq - 1, records: [{ type: "renamed", at: seq, name: `name ${seq}` }] };
}
