import type { CollabAgentState } from "@bobbin/protocol";
import type { RapEvent } from "../rap/records.ts";
import type { HelperInput, HelperStart } from "./helper-thread-state.ts";

/** Records about the child threads of a thread: children that handle events, and helpers. */
export type ChildRecord =
  /** A child thread has to handle an event. `key`: the sender's name for the event. */
  | {
      readonly type: "childDue";
      readonly at: number;
      readonly childId: string;
      readonly event: RapEvent;
      readonly key: string | null;
    }
  | { readonly type: "childMade"; readonly at: number; readonly childId: string }
  | { readonly type: "childEnded"; readonly at: number; readonly childId: string }
  /** The model starts a helper: its thread has to be created, and to get its task. */
  | {
      readonly type: "helperDue";
      readonly at: number;
      readonly childId: string;
      readonly nickname: string;
      readonly role: string | null;
      readonly start: HelperStart;
      readonly input: HelperInput;
    }
  /** The helper's thread was created. `heard`: the last commit that its journal was created with. */
  | { readonly type: "helperMade"; readonly at: number; readonly childId: string; readonly heard: number }
  /** The model opens a closed helper again. */
  | {
      readonly type: "helperOpened";
      readonly at: number;
      readonly childId: string;
      readonly nickname: string;
      readonly role: string | null;
      readonly state: CollabAgentState;
      readonly heard: number;
    }
  /** The model sends input to a helper. */
  | {
      readonly type: "helperInputSent";
      readonly at: number;
      readonly childId: string;
      readonly input: HelperInput;
    }
  /**
   * The helper's journal contains the input. `seq`: the commit that contains it; null if the turn that it started has
   * ended.
   */
  | {
      readonly type: "helperInputTaken";
      readonly at: number;
      readonly childId: string;
      readonly inputId: string;
      readonly seq: number | null;
    }
  /**
   * The helper's state after commit `seq` of its journal. `untold`: the model has to get a note about the helper's
   * end.
   */
  | {
      readonly type: "helperHeard";
      readonly at: number;
      readonly childId: string;
      readonly seq: number;
      readonly state: CollabAgentState;
      readonly untold: boolean;
    }
  /** The model was informed of the end that commit `seq` of the helper's journal contains. */
  | { readonly type: "helperTold"; readonly at: number; readonly childId: string; readonly seq: number }
  /** The helper was closed. */
  | { readonly type: "helperClosed"; readonly at: number; readonly childId: string };

/** A child thread that handles an event. It may not have been created yet. */
export interface Child {
  readonly childId: string;
  /** The task that the child starts with; null once the child's journal contains the task. */
  readonly task: ChildTask | null;
}

/** The format of a child in checkpoints of earlier versions. */
export interface ChildWithEvent {
  readonly childId: string;
  readonly event: RapEvent | null;
}

/** The task of a child. */
export type ChildTask = {
  /** The child handles one event of a tool server. */
  readonly kind: "event";
  readonly event: RapEvent;
};
