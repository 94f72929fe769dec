import type { ThreadState } from "../state.ts";
import { isTextOf } from "../turn/item-texts.ts";
import { outputTail } from "./output-tail.ts";
import type { CommandItem, TerminalRecord, TerminalState } from "./records.ts";

type Of<T extends TerminalRecord["type"]> = Extract<TerminalRecord, { type: T }>;

/** Moves a command's item from its turn to the thread's background terminals. */
export function foldTerminalLeft(state: ThreadState, record: Of<"terminalLeft">): ThreadState {
  const { turn } = state;
  const { turnId, processId, itemId, outside } = record;
  const item = turn?.id === turnId ? turn.open.find(({ id }) => id === itemId) : undefined;
  if (turn === null || item?.type !== "commandExecution") return state;
  const saved = turn.saved[itemId] ?? "";
  const terminal: TerminalState = {
    processId,
    turnId,
    item: { ...item, processId, source: sourceLeft(item.source) },
    outside,
    saved,
  };
  return {
    ...state,
    terminals: [...state.terminals, terminal],
    turn: {
      ...turn,
      open: turn.open.filter(({ id }) => id !== itemId),
      saved: Object.fromEntries(Object.entries(turn.saved).filter(([key]) => !isTextOf(key, itemId))),
    },
  };
}

export function foldTerminalEnded(state: ThreadState, { processId }: Of<"terminalEnded">): ThreadState {
  return { ...state, terminals: state.terminals.filter((one) => one.processId !== processId) };
}

/** Appends output to a background terminal's saved output. Undefined if the item is no background terminal. */
export function withSavedOutput(state: ThreadState, itemId: string, text: string): ThreadState | undefined {
  if (!state.terminals.some(({ item }) => item.id === itemId)) return undefined;
  const terminals = state.terminals.map((terminal) =>
    terminal.item.id === itemId ? { ...terminal, saved: outputTail(terminal.saved, text) } : terminal,
  );
  return { ...state, terminals };
}

/** The `source` of a command that outlives its call: `agent` becomes a unified-exec process. */
function sourceLeft(source: CommandItem["source"]): CommandItem["source"] {
  return source === "agent" ? "unifiedExecStartup" : source;
}
