import type { ThreadState } from "../state.ts";
import { isTextOf } from "../turn/texts.ts";
import type { CommandItem, TerminalRecord, TerminalState } from "./records.ts";
import { savedOutput } from "./saved-output.ts";

type Of<T extends TerminalRecord["type"]> = Extract<TerminalRecord, { type: T }>;

/** Moves the item of a command from its turn to the thread. */
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

/** The state with more of a background terminal's output; undefined if the item is not one. */
export function withSavedOutput(state: ThreadState, itemId: string, text: string): ThreadState | undefined {
  if (!state.terminals.some(({ item }) => item.id === itemId)) return undefined;
  const terminals = state.terminals.map((terminal) =>
    terminal.item.id === itemId ? { ...terminal, saved: savedOutput(terminal.saved, text) } : terminal,
  );
  return { ...state, terminals };
}

/** A command that was asked about becomes one with a process. */
function sourceLeft(source: CommandItem["source"]): CommandItem["source"] {
  return source === "agent" ? "unifiedExecStartup" : source;
}
