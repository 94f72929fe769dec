import { boolean, omittable, string } from "@bobbin/protocol/schema";
import { ThreadItem } from "@bobbin/protocol/types";
import { silent, toSubscribers } from "../notification.ts";
import { time } from "../number-schemas.ts";
import { fields } from "../record-check.ts";
import type { RecordTable } from "../record-table.ts";
import { foldTerminalEnded, foldTerminalLeft } from "./fold.ts";
import type { TerminalRecord } from "./records.ts";

export const TERMINAL_RECORDS: RecordTable<TerminalRecord> = {
  terminalLeft: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      processId: string(),
      itemId: string(),
      outside: boolean(),
    })),
    fold: foldTerminalLeft,
    notify: silent,
    durability: "written",
    // The process belongs to the original thread, so the load of the fork ends the terminal.
    inFork: "withTurn",
  },
  terminalInput: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      processId: string(),
      itemId: string(),
      stdin: string(),
    })),
    fold: (state) => state,
    notify: (threadId, { turnId, processId, itemId, stdin }) => [
      toSubscribers("item/commandExecution/terminalInteraction", {
        threadId,
        turnId,
        itemId,
        processId,
        stdin,
      }),
    ],
    durability: "written",
    inFork: "withTurn",
  },
  terminalEnded: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      processId: string(),
      item: ThreadItem,
      note: omittable(string()),
    })),
    fold: foldTerminalEnded,
    notify: (threadId, { turnId, item, at }) => [
      toSubscribers("item/completed", { threadId, turnId, item, completedAtMs: at }),
    ],
    durability: "written",
    // Alone, because the terminal may end after its turn.
    inFork: "alone",
  },
};
