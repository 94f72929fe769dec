import type {
  GitInfo,
  LoadSettings,
  NetworkApprovalProtocol,
  QueuedSubmission,
  ThreadGoalStatus,
  ThreadItem,
  TokenUsageBreakdown,
  TurnError,
  UserInput,
} from "@bobbin/protocol";
import type { ProjectDoc, ThreadSettings, UnloadReason } from "./life/records.ts";
import type { CallReport, RapEvent, View } from "./rap/records.ts";
import type { RequestAnswer } from "./requests/records.ts";
import type { Verdict } from "./reviews/records.ts";
import type { CommandEnd } from "./terminals/command-end.ts";
import type { CommandItem } from "./terminals/records.ts";
import type { Blobs } from "./turn/blobs.ts";
import type { CallStage, CallStep } from "./turn/calls.ts";
import type { WorkingTree } from "./turn/changes.ts";
import type { ContextEntry } from "./turn/given-context.ts";
import type { Carry, Kept, ToolCall } from "./turn/records.ts";
import type { TextPart } from "./turn/texts.ts";

/** What the outside asks of a thread, as plain data: ids, times and texts are chosen by whoever sends it. */
export type Command =
  | LifeCommand
  | ReviewCommand
  | TurnCommand
  | QueueCommand
  | GoalCommand
  | TerminalCommand
  | ChildCommand
  | NetworkCommand
  | RapCommand;

export type LifeCommand =
  | { readonly kind: "changeSettings"; readonly at: number; readonly changes: Partial<ThreadSettings> }
  | { readonly kind: "changeLoadSettings"; readonly at: number; readonly changes: LoadSettings }
  /** Takes back what the user agreed to. `grantId`: the id by which clients know the grant of that key. */
  | {
      readonly kind: "revokeGrant";
      readonly at: number;
      readonly grantId: string;
      readonly key: string;
    }
  | { readonly kind: "rename"; readonly at: number; readonly name: string | null }
  | { readonly kind: "changeGitInfo"; readonly at: number; readonly changes: Partial<GitInfo> }
  | {
      readonly kind: "changeSection";
      readonly at: number;
      readonly sectionId: string | null;
      readonly position: number | null;
    }
  /** `lastTurnId`: the turn that was the last one when `keepThrough` was chosen. */
  | {
      readonly kind: "dropTurns";
      readonly at: number;
      readonly by: "rollback" | "revert";
      readonly keepThrough: string | null;
      readonly dropped: readonly string[];
      readonly lastTurnId: string | null;
    }
  | { readonly kind: "injectItems"; readonly at: number; readonly items: readonly unknown[] }
  /** The first command of a load. */
  | {
      readonly kind: "open";
      readonly at: number;
      readonly changes: Partial<ThreadSettings>;
      readonly load: LoadSettings;
      readonly docs: readonly ProjectDoc[];
    }
  /** Takes a thread that its host did not close, to go on with what still can. */
  | { readonly kind: "adopt"; readonly at: number }
  /** The last command of a load. */
  | { readonly kind: "close"; readonly at: number; readonly reason: UnloadReason };

export type ReviewCommand =
  /** What a model says that judges an approval in place of a person. */
  | {
      readonly kind: "reviewed";
      readonly at: number;
      readonly turnId: string;
      readonly callId: string;
      readonly reviewId: string;
      readonly review: Verdict;
      readonly usage: TokenUsageBreakdown | null;
    }
  /** A person approves what it denied. */
  | { readonly kind: "approveDenied"; readonly at: number; readonly reviewId: string };

export type TurnCommand =
  | {
      readonly kind: "startTurn";
      readonly at: number;
      readonly turnId: string;
      readonly userItemId: string;
      readonly clientUserMessageId: string | null;
      readonly input: readonly UserInput[];
      readonly blobs?: Blobs | undefined;
      /** What the client says beside it; undefined: nothing. */
      readonly context?: readonly ContextEntry[] | undefined;
      readonly outputSchema: unknown;
      readonly changes: Partial<ThreadSettings>;
    }
  /** More input for the running turn. */
  | {
      readonly kind: "steer";
      readonly at: number;
      readonly expectedTurnId: string;
      readonly userItemId: string;
      readonly clientUserMessageId: string | null;
      readonly input: readonly UserInput[];
      readonly blobs?: Blobs | undefined;
      readonly context?: readonly ContextEntry[] | undefined;
    }
  /** `turnId` null: whatever turn runs. */
  | { readonly kind: "interrupt"; readonly at: number; readonly turnId: string | null }
  /** What a call of the model says; one that a later call took the place of is not heard. */
  | {
      readonly kind: "itemStarted";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly item: ThreadItem;
    }
  | {
      readonly kind: "itemCompleted";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly item: ThreadItem;
      readonly carry?: Carry | undefined;
      readonly said?: string | undefined;
    }
  | {
      readonly kind: "toolCalled";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly call: ToolCall;
    }
  /** What the tool does with a call that has come so far; with one that is further it comes too late. */
  | {
      readonly kind: "stepCall";
      readonly at: number;
      readonly turnId: string;
      readonly callId: string;
      readonly from: CallStage["kind"];
      readonly step: CallStep;
    }
  /** The first answer counts. */
  | {
      readonly kind: "answer";
      readonly at: number;
      readonly requestId: number;
      readonly answer: RequestAnswer;
    }
  | {
      readonly kind: "modelServed";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly model: string;
    }
  | {
      readonly kind: "saveText";
      readonly turnId: string;
      readonly itemId: string;
      readonly part?: TextPart | undefined;
      readonly text: string;
    }
  | {
      readonly kind: "sampled";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly outcome: SampleOutcome;
    }
  /** What the turn has changed in files. `diff` null: clients need not be sent it now. */
  | {
      readonly kind: "showDiff";
      readonly at: number;
      readonly turnId: string;
      readonly upTo: number;
      readonly diff: string | null;
      readonly digest: string;
      readonly trees: readonly WorkingTree[];
    }
  /** `label`: what people call it; `prompt`: what the reviewer is asked. */
  | {
      readonly kind: "startReview";
      readonly at: number;
      readonly turnId: string;
      readonly label: string;
      readonly prompt: string;
    }
  /** Makes the conversation shorter, in a turn of its own. */
  | { readonly kind: "compact"; readonly at: number; readonly turnId: string }
  /** The conversation has grown too long for the call that is due. */
  | { readonly kind: "compactFirst"; readonly at: number; readonly turnId: string; readonly attempt: number }
  | {
      readonly kind: "summarised";
      readonly at: number;
      readonly turnId: string;
      readonly attempt: number;
      readonly outcome: SummaryOutcome;
    };

export type QueueCommand =
  | { readonly kind: "queueInput"; readonly at: number; readonly submission: QueuedSubmission }
  | {
      readonly kind: "changeQueued";
      readonly at: number;
      readonly id: string;
      readonly input: readonly UserInput[];
    }
  | { readonly kind: "removeQueued"; readonly at: number; readonly id: string }
  | { readonly kind: "reorderQueue"; readonly at: number; readonly ids: readonly string[] }
  /** `id` null: the first one. `asked`: someone wants it now; else it is the thread's own next step. */
  | {
      readonly kind: "startQueued";
      readonly at: number;
      readonly id: string | null;
      readonly turnId: string;
      readonly userItemId: string;
      readonly blobs?: Blobs | undefined;
      readonly asked: boolean;
    };

export type GoalCommand =
  /** What is not given stays. `tokenBudget` null: none. `maxBudget`: what is configured as the most, or null. */
  | {
      readonly kind: "setGoal";
      readonly at: number;
      readonly objective: string | undefined;
      readonly status: ThreadGoalStatus | undefined;
      readonly tokenBudget: number | null | undefined;
      readonly maxBudget: number | null;
    }
  | { readonly kind: "clearGoal"; readonly at: number }
  /** What the model does to it in a turn. */
  | {
      readonly kind: "createGoal";
      readonly at: number;
      readonly turnId: string;
      readonly objective: string;
      readonly tokenBudget: number | null;
      readonly maxBudget: number | null;
    }
  | {
      readonly kind: "finishGoal";
      readonly at: number;
      readonly turnId: string;
      readonly status: "complete" | "blocked";
    }
  /** The thread's own next step. */
  | { readonly kind: "continueGoal"; readonly at: number; readonly turnId: string }
  /** Someone is back: a goal that waits because of an interrupt goes on. */
  | { readonly kind: "takeUpGoal"; readonly at: number };
/** What becomes of processes. */
export type TerminalCommand =
  /** The user runs a command: in the running turn, or in one of that id. */
  | {
      readonly kind: "startShell";
      readonly at: number;
      readonly turnId: string;
      readonly item: CommandItem;
    }
  /** A background terminal, or a command of the user, has ended. `note`: for the model. */
  | {
      readonly kind: "endCommand";
      readonly at: number;
      readonly itemId: string;
      readonly end: CommandEnd;
      readonly note?: string | undefined;
    };

/** What became of a child. `childFailed`: it could not be made, or not be looked at, for long. */
export interface ChildCommand {
  readonly kind: "childMade" | "childEnded" | "childFailed";
  readonly at: number;
  readonly childId: string;
}

/** What the network of commands asks of a thread. */
export type NetworkCommand =
  /** A running command wants to connect to a host. */
  | {
      readonly kind: "askNetwork";
      readonly at: number;
      readonly requestId: number;
      /** The name of the review, if a model judges it in place of a person. */
      readonly reviewId: string;
      readonly itemId: string;
      readonly host: string;
      readonly port: number;
      readonly protocol: NetworkApprovalProtocol;
      readonly grant: string;
      readonly forGood: boolean;
      readonly reason: string | null;
    }
  /** The rules file has what was decided about a host. */
  | { readonly kind: "networkRuleSaved"; readonly at: number; readonly requestId: number };

/** What tool servers say to one call of one load of the thread, and what comes of it. */
export type RapCommand =
  /** `eventId`: the name that its result gets where the model does not wait for it any more. */
  | {
      readonly kind: "reportCall";
      readonly at: number;
      readonly load: number;
      readonly callId: string;
      readonly report: CallReport;
      readonly eventId: string;
    }
  /** An event of a subscription. `key`: the sender's name for it; `digest`: of its bytes. The same again has no effect. */
  | {
      readonly kind: "receiveEvent";
      readonly at: number;
      readonly load: number;
      readonly callId: string;
      readonly key: string | null;
      readonly digest: string;
      readonly eventId: string;
      readonly event: Pick<RapEvent, "output" | "success" | "shown">;
      /** A child of that name handles it; null: the thread itself. */
      readonly childId: string | null;
      readonly final: boolean;
    }
  | {
      readonly kind: "updateView";
      readonly at: number;
      readonly load: number;
      readonly server: string;
      readonly callId: string;
      readonly viewType: string;
      readonly view: View["content"];
    }
  /** A tool server asks the user to choose, for a call that goes on waiting. */
  | {
      readonly kind: "askChoice";
      readonly at: number;
      readonly load: number;
      readonly callId: string;
      readonly requestId: number;
      readonly server: string;
      readonly prompt: string;
      readonly choices: readonly string[];
      readonly fallback: number;
      readonly responseUrl: string;
      /** By this the same question is known again; `named`: its sender chose it, for this question only. */
      readonly key: string;
      readonly named: boolean;
    }
  /** A tool server asks the user to allow something at an address that is not told here. */
  | {
      readonly kind: "askOAuth";
      readonly at: number;
      readonly load: number;
      readonly callId: string;
      readonly requestId: number;
    }
  /** Whoever asked has the user's choice, or can not be told. */
  | { readonly kind: "choicePosted"; readonly at: number; readonly requestId: number }
  /** Whoever asked is not there now, and is tried again then. */
  | {
      readonly kind: "choiceDelayed";
      readonly at: number;
      readonly requestId: number;
      readonly until: number;
    }
  /** A call that the model does not wait for has had its time. */
  | {
      readonly kind: "expireCall";
      readonly at: number;
      readonly callId: string;
      readonly eventId: string;
    }
  /** Changes nothing: whoever sends it wants to know how the thread is. */
  | { readonly kind: "lookUp"; readonly at: number }
  /** The thread's own next step: the model is shown what has come. */
  | { readonly kind: "startEvents"; readonly at: number; readonly turnId: string };

/** How a call of the model went. */
export type SampleOutcome =
  | {
      readonly kind: "done";
      readonly usage: TokenUsageBreakdown;
      readonly contextWindow: number | null;
      /** What a reviewer has come to, as people are shown it. */
      readonly review?: string | undefined;
    }
  | CallFailed;

/** How a call of the model for a summary went. */
export type SummaryOutcome =
  | {
      readonly kind: "done";
      readonly summary: string;
      readonly kept: readonly Kept[];
      /** What the model is shown from now on, about. */
      readonly contextTokens: number;
      readonly usage: TokenUsageBreakdown;
      readonly contextWindow: number | null;
    }
  | CallFailed;

/** `retry`: trying again can help, up to so many times in a row and not before so long. */
export interface CallFailed {
  readonly kind: "failed";
  readonly error: TurnError;
  readonly retry?: { readonly of: number; readonly afterMs: number } | undefined;
}
