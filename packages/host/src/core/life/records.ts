import type {
  ApprovalsReviewer,
  AskForApproval,
  GitInfo,
  Personality,
  ReasoningSummary,
  SandboxPolicy,
  SessionSource,
  ThreadStatus,
} from "@bobbin/protocol";

export type LifeRecord =
  | {
      readonly type: "created";
      readonly at: number;
      readonly facts: ThreadFacts;
      readonly settings: ThreadSettings;
    }
  | { readonly type: "statusChanged"; readonly status: ThreadStatus }
  | { readonly type: "settingsChanged"; readonly at: number; readonly changes: Partial<ThreadSettings> };

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
  readonly gitInfo: GitInfo | null;
}

/** What a turn runs on; a `turn/start` may change it for itself and those after it. */
export interface ThreadSettings {
  readonly model: string;
  readonly modelProvider: string;
  readonly cwd: string;
  readonly approvalPolicy: AskForApproval;
  readonly approvalsReviewer: ApprovalsReviewer;
  readonly sandbox: SandboxPolicy;
  readonly effort: string | null;
  readonly summary: ReasoningSummary | null;
  readonly personality: Personality | null;
  readonly baseInstructions: string | null;
  readonly developerInstructions: string | null;
}
