import { withKey } from "../rap/fold.ts";
import type { CheckpointState, ThreadState } from "../state.ts";
import type { Child, ChildRecord } from "./records.ts";

type Of<T extends ChildRecord["type"]> = Extract<ChildRecord, { type: T }>;

/** The children in a checkpoint. Older versions stored them with the state of tool servers. */
export function childrenIn({ children, rap }: CheckpointState): readonly Child[] {
  if (children !== undefined) return children;
  return (rap.children ?? []).map(({ childId, event }) => ({
    childId,
    task: event === null ? null : { kind: "event", event },
  }));
}

export function foldChildDue(state: ThreadState, { childId, event, key }: Of<"childDue">): ThreadState {
  return {
    ...state,
    children: [...state.children, { childId, task: { kind: "event", event } }],
    rap: withKey(state.rap, key),
  };
}

export function foldChildMade(state: ThreadState, { childId }: Of<"childMade">): ThreadState {
  const children = state.children.map((child) =>
    child.childId === childId ? { ...child, task: null } : child,
  );
  return { ...state, children };
}

export function foldChildEnded(state: ThreadState, ended: Of<"childEnded">): ThreadState {
  return { ...state, children: state.children.filter(({ childId }) => childId !== ended.childId) };
}
