import type {
  ApprovalsReviewer,
  AskForApproval,
  GitInfo,
  LoadSettings,
  Personality,
  ReasoningSummary,
  SandboxPolicy,
  SessionSource,
  ThreadStatus,
  Verbosity,
} from "@bobbin/protocol";
import type { CheckpointState } from "../state.ts";
import type { Mode } from "./modes.ts";

export type LifeRecord =
  | {
      readonly type: "created";
      readonly at: number;
      readonly facts: ThreadFacts;
      readonly settings: ThreadSettings;
      readonly load: LoadSettings;
      readonly docs: readonly ProjectDoc[];
    }
  /** A host took the thread; what waited for a load is bound now. */
  | {
      readonly type: "opened";
      readonly at: number;
      readonly epoch: number;
      readonly load: LoadSettings;
      /** Null: the same as before. */
      readonly docs: readonly ProjectDoc[] | null;
    }
  /** A host took a thread that its host had not closed, as it was: it stays loaded. */
  | { readonly type: "adopted"; readonly at: number; readonly epoch: number; readonly status: ThreadStatus }
  | { readonly type: "closed"; readonly at: number; readonly reason: UnloadReason }
  /** Tool servers are about to be told that it was closed: whatever comes of it, they are not told again. */
  | { readonly type: "notified"; readonly at: number }
  | { readonly type: "statusChanged"; readonly status: ThreadStatus }
  /** The whole of what changed hands to clients as a whole. */
  | { readonly type: "settingsChanged"; readonly at: number; readonly settings: ThreadSettings }
  /** Waits for the thread's next load. */
  | { readonly type: "loadSettingsChanged"; readonly at: number; readonly changes: LoadSettings }
  /** The user took back what `approvalGranted` holds. */
  | { readonly type: "grantRevoked"; readonly at: number; readonly grantId: string; readonly key: string }
  | { readonly type: "renamed"; readonly at: number; readonly name: string | null }
  | { readonly type: "gitInfoChanged"; readonly at: number; readonly gitInfo: GitInfo | null }
  | {
      readonly type: "sectionChanged";
      readonly at: number;
      readonly sectionId: string | null;
      readonly position: number | null;
    }
  /** Turns after `keepThrough` no longer count; all of them if it is null. They stay in the journal. */
  | {
      readonly type: "turnsDropped";
      readonly at: number;
      readonly keepThrough: string | null;
      readonly dropped: readonly string[];
      readonly by: "rollback" | "revert";
    }
  /** Items that a client put into the model's history; no one else is shown them. */
  | {
      readonly type: "itemsInjected";
      readonly at: number;
      readonly items: readonly unknown[];
      /** The turn that ran then, or ended last, if there was one. */
      readonly after?: string;
    }
  /** The head state: a load reads back to here. */
  | { readonly type: "checkpoint"; readonly state: CheckpointState };

/** A file of instructions that was found when the thread was loaded, as it was then. */
export interface ProjectDoc {
  readonly path: string;
  readonly text: string;
  /** It is what the configuration says for threads that have no such instructions of their own. */
  readonly as?: "base" | "developer";
}

export type UnloadReason =
  | "unsubscribed"
  | "requested"
  | "archived"
  | "deleted"
  | "shutdown"
  | "moved"
  /** The host ended without saying so. */
  | "lost";

/** What never changes in a thread's life. */
export interface ThreadFacts {
  readonly id: string;
  readonly owner: string;
  readonly ephemeral: boolean;
  readonly source: SessionSource;
  readonly originator: string | null;
  readonly cliVersion: string;
  readonly serviceName: string | null;
  readonly threadSource: string | null;
  readonly forkedFromId: string | null;
  readonly parentThreadId: string | null;
  /** From the root to the parent. */
  readonly ancestors?: readonly string[];
  /** What the client's key for its start is kept under, if it gave one. */
  readonly startKey?: string;
}

/** What a turn runs on; a `turn/start` may change it for itself and those after it. */
export interface ThreadSettings {
  readonly model: string;
  readonly modelProvider: string;
  readonly serviceTier: string | null;
  readonly cwd: string;
  /** What belongs to the workspace, where someone said so; else it is `cwd`. */
  readonly roots?: readonly string[];
  readonly approvalPolicy: AskForApproval;
  readonly approvalsReviewer: ApprovalsReviewer;
  readonly sandbox: SandboxPolicy;
  /** The profile that the sandbox was chosen by, if it was; journals of earlier versions do not say. */
  readonly permissionProfile?: string | null;
  readonly effort: string | null;
  readonly summary: ReasoningSummary | null;
  readonly personality: Personality | null;
  /** How the model works with people; journals of earlier versions do not say. */
  readonly mode?: Mode | null;
  readonly verbosity?: Verbosity | null;
  /** Set where the thread was asked for something else than is configured for all. */
  readonly contextWindow?: number | null;
  readonly autoCompactTokens?: number | null;
}
