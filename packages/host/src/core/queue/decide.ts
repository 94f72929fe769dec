import type { QueuedSubmission, UserInput } from "@bobbin/protocol";
import { type Fault, fault } from "../../errors.ts";
import type { QueueCommand } from "../commands.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { startTurn } from "../turn/decide.ts";

const MAX_ITEMS = 100;
/** A checkpoint holds the queue, so all of it together has a bound. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

export function decideQueue(state: ThreadState, command: QueueCommand): readonly ThreadRecord[] | Fault {
  const { items } = state.queue;
  const { at } = command;
  switch (command.kind) {
    case "queueInput": {
      const { submission } = command;
      if (items.length >= MAX_ITEMS) return fault("queueFull", MAX_ITEMS);
      return tooLarge(items, submission.input) ?? [{ type: "submissionQueued", at, submission }];
    }
    case "changeQueued": {
      const { id, input } = command;
      if (!items.some((item) => item.id === id)) return fault("submissionNotFound", id);
      const others = items.filter((item) => item.id !== id);
      return tooLarge(others, input) ?? [{ type: "submissionChanged", at, id, input }];
    }
    case "removeQueued": {
      const { id } = command;
      return items.some((item) => item.id === id)
        ? [{ type: "submissionRemoved", at, id, turnId: null }]
        : [];
    }
    case "reorderQueue": {
      const { ids } = command;
      const known = items.map(({ id }) => id).sort();
      if (JSON.stringify([...ids].sort()) !== JSON.stringify(known)) return fault("queueOrder");
      return [{ type: "queueReordered", at, ids }];
    }
    case "startQueued":
      return startQueued(state, command);
  }
}

type StartQueued = Extract<QueueCommand, { kind: "startQueued" }>;

function startQueued(state: ThreadState, command: StartQueued): readonly ThreadRecord[] | Fault {
  const { at, turnId, userItemId, id, asked, blobs } = command;
  const { items, paused } = state.queue;
  // By itself it starts what it was to start, or it comes too late.
  const item = id === null ? items[0] : items.find((one) => one.id === id);
  if (!asked && (state.turn !== null || paused || item === undefined)) return [];
  if (state.turn !== null) return fault("turnAlreadyActive");
  if (item === undefined) return id === null ? fault("queueEmpty") : fault("submissionNotFound", id);
  const { input, clientUserMessageId } = item;
  const start = { kind: "startTurn", at, turnId, userItemId, clientUserMessageId, input, blobs } as const;
  return [
    ...startTurn(state, { ...start, outputSchema: null, changes: {} }),
    { type: "submissionRemoved", at, id: item.id, turnId },
  ];
}

function tooLarge(others: readonly QueuedSubmission[], input: readonly UserInput[]): Fault | undefined {
  const size = [...others.map((item) => item.input), input].reduce(
    (sum, one) => sum + JSON.stringify(one).length,
    0,
  );
  return size > MAX_CHARACTERS ? fault("queueTooLarge", MAX_CHARACTERS) : undefined;
}
