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
import type { Mode } from "./collaboration-modes.ts";

export type LifeRecord =
  | {
      readonly type: "created";
      readonly at: number;
      readonly facts: ThreadFacts;
      readonly settings: ThreadSettings;
      readonly load: LoadSettings;
      readonly docs: readonly ProjectDoc[];
    }
  /** A load has started. Pending load settings take effect. */
  | {
      readonly type: "opened";
      readonly at: number;
      readonly epoch: number;
      readonly load: LoadSettings;
      /** Null if the project docs have not changed. */
      readonly docs: readonly ProjectDoc[] | null;
    }
  /** A new host has taken over a thread whose host died. The thread stays loaded. */
  | { readonly type: "adopted"; readonly at: number; readonly epoch: number; readonly status: ThreadStatus }
  | { readonly type: "closed"; readonly at: number; readonly reason: UnloadReason }
  /**
   * The notice to tool servers about the thread's close was handed to the notice sender. The notice is sent at most
   * once: neither a failure nor a crash repeats it.
   */
  | { readonly type: "notified"; readonly at: number }
  | { readonly type: "statusChanged"; readonly status: ThreadStatus }
  /** Settings have changed. Contains all settings, because the notification to clients contains all. */
  | { readonly type: "settingsChanged"; readonly at: number; readonly settings: ThreadSettings }
  /** Load settings have changed. They take effect at the next load. */
  | { readonly type: "loadSettingsChanged"; readonly at: number; readonly changes: LoadSettings }
  /** The user has revoked a grant (`approvalGranted`). */
  | { readonly type: "grantRevoked"; readonly at: number; readonly grantId: string; readonly key: string }
  | { readonly type: "renamed"; readonly at: number; readonly name: string | null }
  | { readonly type: "gitInfoChanged"; readonly at: number; readonly gitInfo: GitInfo | null }
  | {
      readonly type: "sectionChanged";
      readonly at: number;
      readonly sectionId: string | null;
      readonly position: number | null;
    }
  /** The turns after `keepThrough` were rolled back, all if it is null. Their records stay in the journal. */
  | {
      readonly type: "turnsDropped";
      readonly at: number;
      readonly keepThrough: string | null;
      readonly dropped: readonly string[];
      readonly by: "rollback" | "revert";
    }
  /** A client has injected items into the model's history. Clients are not sent them. */
  | {
      readonly type: "itemsInjected";
      readonly at: number;
      readonly items: readonly unknown[];
      /** The turn that the items follow: the running one, else the last one. Missing if the thread has no turn. */
      readonly after?: string;
    }
  /** The state of the thread. A load reads the journal back to the last checkpoint. */
  | { readonly type: "checkpoint"; readonly state: CheckpointState };

/** A file with instructions for the model, read when the thread was loaded. */
export interface ProjectDoc {
  readonly path: string;
  readonly text: string;
  /** Set for instructions from the configuration. They apply only to threads without instructions of their own. */
  readonly as?: "base" | "developer";
}

export type UnloadReason =
  | "unsubscribed"
  | "requested"
  | "archived"
  | "deleted"
  | "shutdown"
  | "moved"
  /** The host ended without closing the thread, as in a crash. */
  | "lost";

/** The facts about a thread that never change. */
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
  /** The IDs of the threads from the root to the parent. */
  readonly ancestors?: readonly string[];
  /** The digest of the client's idempotency key for the start, if there was one. */
  readonly startKey?: string;
}

/** The settings of a thread's turns. `turn/start` may change them for this turn and later ones. */
export interface ThreadSettings {
  readonly model: string;
  readonly modelProvider: string;
  readonly serviceTier: string | null;
  readonly cwd: string;
  /** The workspace roots; missing if `cwd` is the only one. */
  readonly roots?: readonly string[];
  readonly approvalPolicy: AskForApproval;
  readonly approvalsReviewer: ApprovalsReviewer;
  readonly sandbox: SandboxPolicy;
  /** The permission profile that defines the sandbox, if any; missing in older journals. */
  readonly permissionProfile?: string | null;
  readonly effort: string | null;
  readonly summary: ReasoningSummary | null;
  readonly personality: Personality | null;
  /** The collaboration mode; missing in older journals. */
  readonly mode?: Mode | null;
  readonly verbosity?: Verbosity | null;
  /** The thread's own value in place of the configured one. The next four have the same form. */
  readonly contextWindow?: number | null;
  readonly autoCompactTokens?: number | null;
  readonly compactPrompt?: string | null;
  readonly reviewModel?: string | null;
  readonly webSearch?: "live" | "cached" | "disabled" | null;
}
