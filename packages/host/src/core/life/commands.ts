import type { GitInfo, LoadSettings } from "@bobbin/protocol";
import type { ProjectDoc, ThreadSettings, UnloadReason } from "./records.ts";

/** Commands about loads of a thread, its settings, and its history. */
export type LifeCommand =
  | { readonly kind: "changeSettings"; readonly at: number; readonly changes: Partial<ThreadSettings> }
  | { readonly kind: "changeLoadSettings"; readonly at: number; readonly changes: LoadSettings }
  /** Revokes a grant of the user. `grantId`: the ID of the grant for clients. */
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
  /**
   * Rolls back turns. `lastTurnId`: the thread's last turn when the caller chose `keepThrough`; the command fails if
   * the thread has another last turn now.
   */
  | {
      readonly kind: "dropTurns";
      readonly at: number;
      readonly by: "rollback" | "revert";
      readonly keepThrough: string | null;
      readonly dropped: readonly string[];
      readonly lastTurnId: string | null;
    }
  | { readonly kind: "injectItems"; readonly at: number; readonly items: readonly unknown[] }
  /** Starts a load of the thread. */
  | {
      readonly kind: "open";
      readonly at: number;
      readonly changes: Partial<ThreadSettings>;
      readonly load: LoadSettings;
      readonly docs: readonly ProjectDoc[];
    }
  /** Takes over a thread whose host died, and continues its turn if that is possible. */
  | { readonly kind: "adopt"; readonly at: number }
  /** Ends a load of the thread. */
  | { readonly kind: "close"; readonly at: number; readonly reason: UnloadReason }
  /** Records that the due notices to tool servers are sent: about cancellations, and about the thread's close. */
  | { readonly kind: "notifyToolServers"; readonly at: number };
