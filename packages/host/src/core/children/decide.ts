import { eventReceived } from "../rap/tool-server-events.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { ChildCommand } from "./commands.ts";

/** Decides commands about a thread's children. Commands about unknown children have no effect. */
export function decideChildren(state: ThreadState, command: ChildCommand): readonly ThreadRecord[] {
  if (state.status.type === "notLoaded") return [];
  const { kind, at, childId } = command;
  const child = state.children.find((one) => one.childId === childId);
  if (child === undefined) return [];
  switch (kind) {
    case "childMade":
    case "childEnded":
      // A child whose journal does not contain its task yet cannot end; its thread may be left over from a host that
      // died.
      return (child.task === null) === (kind === "childMade") ? [] : [{ type: kind, at, childId }];
    case "childFailed": {
      // The sender of the event has its acknowledgement, so the event must not be lost: the parent thread takes it,
      // even beyond its limits.
      const left = child.task === null ? [] : [eventReceived(at, child.task.event, null)];
      return [{ type: "childEnded", at, childId }, ...left];
    }
  }
}
