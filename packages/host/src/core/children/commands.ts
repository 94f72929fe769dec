import type { CollabAgentState } from "@bobbin/protocol";

/** Progress of a child thread. `childFailed`: the child could not be created or read, even after retries. */
export interface ChildCommand {
  readonly kind: "childMade" | "childEnded" | "childFailed";
  readonly at: number;
  readonly childId: string;
}

/** Progress of a helper, and of its input. */
export type HelperCommand =
  | { readonly kind: "helperMade"; readonly at: number; readonly childId: string; readonly heard: number }
  /** The helper's thread could not be created, or not be given its input, even after retries. */
  | { readonly kind: "helperFailed"; readonly at: number; readonly childId: string; readonly why: string }
  /**
   * The helper has received the input. `seq`: the commit of its journal that contains the input; null if the turn that
   * the input started has ended.
   */
  | {
      readonly kind: "helperInputTaken";
      readonly at: number;
      readonly childId: string;
      readonly inputId: string;
      readonly seq: number | null;
    }
  /**
   * What one commit of a helper's journal says about the helper. `closed`: the helper's thread was closed, not only
   * unloaded.
   */
  | {
      readonly kind: "hearHelper";
      readonly at: number;
      readonly childId: string;
      readonly seq: number;
      /** The IDs of the inputs that the helper received with this commit. */
      readonly taken: readonly string[];
      readonly states: readonly CollabAgentState[];
      readonly closed: boolean;
    };
