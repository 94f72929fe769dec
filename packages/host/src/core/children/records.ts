import type { RapEvent } from "../rap/records.ts";

/** What becomes of threads that this one begins. */
export type ChildRecord =
  /** Something has come that a child of this thread is to handle. `key`: the sender's name for it. */
  | {
      readonly type: "childDue";
      readonly at: number;
      readonly childId: string;
      readonly event: RapEvent;
      readonly key: string | null;
    }
  | { readonly type: "childMade"; readonly at: number; readonly childId: string }
  | { readonly type: "childEnded"; readonly at: number; readonly childId: string };

/** A thread that this one has begun, or is about to. */
export interface Child {
  readonly childId: string;
  /** What it is begun with; null once its own journal has it. */
  readonly task: ChildTask | null;
}

/** As checkpoints of earlier versions have it. */
export interface ChildWithEvent {
  readonly childId: string;
  readonly event: RapEvent | null;
}

/** What a child is there for. */
export type ChildTask = {
  /** It handles one event of a tool server. */
  readonly kind: "event";
  readonly event: RapEvent;
};
