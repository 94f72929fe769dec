import type { HookEventName, HookRunSummary } from "@bobbin/protocol";
import type { Ask, RequestAnswer } from "../requests/records.ts";

export type HookRecord =
  /** Hooks are about to run. If the host dies before `hooksEnded`, the next host runs them again. */
  | {
      readonly type: "hooksStarted";
      readonly turnId: string;
      readonly at: number;
      readonly runs: readonly HookRunSummary[];
    }
  /** The hooks of an event have ended. The host does not run them again for the same subject. */
  | {
      readonly type: "hooksEnded";
      readonly turnId: string;
      readonly at: number;
      readonly event: HookEventName;
      /** What the hooks ran for: an item, a call or an attempt of a compaction; null for the thread or the turn. */
      readonly subject: string | null;
      readonly runs: readonly HookRunSummary[];
      readonly outcome: HookOutcome;
    }
  /** Nothing else is left to do in the turn: its last hooks are due. */
  | {
      readonly type: "lastHooksDue";
      readonly turnId: string;
      readonly at: number;
      readonly event: LastHooks;
    };

/** The events of hooks that run at the end of a turn. */
export type LastHooks = "stop" | "subagentStop" | "postCompact";

/** The combined outcome of the hooks of one event. */
export interface HookOutcome {
  /** The reason why a prompt, call or result is blocked, or why the model has to continue. */
  readonly block?: string | undefined;
  /** Whether the turn has to end. */
  readonly stop?: boolean | undefined;
  /** Additional context for the model. */
  readonly contexts?: readonly string[] | undefined;
  /** The text that replaces a tool's output for the model. */
  readonly feedback?: string | undefined;
  /** The arguments that replace those of the model. */
  readonly input?: string | undefined;
  /** The hooks' answer to a request for approval. Clients are not asked then. */
  readonly answer?: HookAnswer | undefined;
}

export interface HookAnswer {
  readonly method: Ask["method"];
  readonly question?: string | undefined;
  readonly answer: RequestAnswer;
}
