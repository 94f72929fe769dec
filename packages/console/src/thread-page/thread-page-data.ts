import type { Bobbin } from "@bobbin/client";
import type { Signal } from "@preact/signals";
import type { ThreadSession } from "./thread-session.ts";

/** The dialog that is open on the thread's page. The code of dialogs is loaded when the first one is opened. */
export type ThreadDialog =
  | { readonly kind: "rename" }
  | { readonly kind: "goal" }
  /** Undoes this turn and all later ones. */
  | { readonly kind: "revert"; readonly turnId: string };

/** The data that the components of a thread's page share. */
export interface ThreadPageData {
  readonly client: Bobbin;
  readonly session: ThreadSession;
  /** A text about the result of the user's last action. It is shown until it is dismissed. */
  readonly note: Signal<string | undefined>;
  readonly dialog: Signal<ThreadDialog | undefined>;
  toggleTimeline(): void;
}
