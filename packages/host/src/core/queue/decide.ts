import type { QueuedSubmission, UserInput } from "@bobbin/protocol";
import { type Fault, fault } from "../../errors.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { startTurn } from "../turn/decide.ts";
import type { QueueCommand } from "./commands.ts";

const MAX_ITEMS = 100;
/** Limit on the size of the whole queue, because every checkpoint contains it. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Decides commands about the thread's queue of input. */
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
      const { kind: _, id, input, ...more } = command;
      if (!items.some((item) => item.id === id)) return fault("submissionNotFound", id);
      const others = items.filter((item) => item.id !== id);
      return tooLarge(others, input) ?? [{ type: "submissionChanged", id, input, ...more }];
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
  // If the submission cannot start, a client's request (`asked`) fails, and the host's own attempt is ignored.
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
  let size = sizeOf(input);
  for (const item of others) size += sizeOf(item.input);
  return size > MAX_CHARACTERS ? fault("queueTooLarge", MAX_CHARACTERS) : undefined;
}

/** Sizes of inputs as JSON. A queue of 16 million characters takes 50 ms to measure, so each input is measured once. */
const sizes = new WeakMap<readonly UserInput[], number>();

function sizeOf(input: readonly UserInput[]): number {
  let size = sizes.get(input);
  if (size === undefined) {
    size = JSON.stringify(input).length;
    sizes.set(input, size);
  }
  return size;
}
