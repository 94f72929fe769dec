import type { ChildCommand } from "../commands.ts";
import { eventReceived } from "../rap/events.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";

/** What became of a thread's children. What is not known of any is not refused, and changes nothing. */
export function decideChildren(state: ThreadState, command: ChildCommand): readonly ThreadRecord[] {
  if (state.status.type === "notLoaded") return [];
  const { kind, at, childId } = command;
  const child = state.children.find((one) => one.childId === childId);
  if (child === undefined) return [];
  switch (kind) {
    case "childMade":
    case "childEnded":
      // One that does not have its task yet did not end with it: a host left half a child behind, say.
      return (child.task === null) === (kind === "childMade") ? [] : [{ type: kind, at, childId }];
    case "childFailed": {
      // The sender of the event has got its 200: the thread itself sees the event, however full it is.
      const left = child.task === null ? [] : [eventReceived(at, child.task.event, null)];
      return [{ type: "childEnded", at, childId }, ...left];
    }
  }
}
