import type { ShownText } from "../decide.ts";
import type { ThreadRecord } from "../records.ts";
import { clearAsides, clearNetwork } from "../requests/resolve-request.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { turnEnded } from "../turn/end-turn.ts";
import { type CommandEnd, endedCommand } from "./command-end.ts";
import type { TerminalCommand } from "./commands.ts";
import type { CommandItem, TerminalState } from "./records.ts";

/**
 * Returns the records for a user's shell command that starts, and for a shell command or background terminal that
 * ends. The end of an unknown process gives no records.
 */
export function decideTerminals(state: ThreadState, command: TerminalCommand): readonly ThreadRecord[] {
  switch (command.kind) {
    case "startShell":
      return startShell(state, command);
    case "endCommand": {
      const { at, itemId, end, note } = command;
      const terminal = state.terminals.find(({ item }) => item.id === itemId);
      if (terminal !== undefined)
        return [...clearAsides(state, at, itemId), terminalEnded(terminal, at, end, note)];
      const { turn } = state;
      const item = turn?.open.find(({ id }) => id === itemId);
      if (turn === null || item === undefined || !isShell(item)) return [];
      return [
        { type: "itemCompleted", turnId: turn.id, at, item: endedCommand(item, at, end) },
        ...(isOnlyShell(turn) ? [...clearNetwork(state, at), turnEnded(turn, at, "completed", null)] : []),
      ];
    }
  }
}

/** Starts a shell command of the user: in the running turn, or in a turn of its own. */
function startShell(
  { turn }: ThreadState,
  { at, turnId, item }: Extract<TerminalCommand, { kind: "startShell" }>,
): readonly ThreadRecord[] {
  const started = { type: "itemStarted", turnId: turn?.id ?? turnId, at, item } as const;
  if (turn !== null) return [started];
  return [{ type: "turnStarted", turnId, at, input: [], outputSchema: null, kind: "shell" }, started];
}

/** Whether an item is a shell command of the user. */
export function isShell(item: { readonly type: string }): item is CommandItem {
  return item.type === "commandExecution" && (item as CommandItem).source === "userShell";
}

/** Whether a turn consists only of shell commands of the user, and just one of them still runs. */
function isOnlyShell({ phase, open }: TurnState): boolean {
  return phase.kind === "shell" && open.filter(isShell).length === 1;
}

export function terminalEnded(
  { turnId, processId, item }: TerminalState,
  at: number,
  end: CommandEnd,
  note?: string,
): ThreadRecord {
  return {
    type: "terminalEnded",
    turnId,
    at,
    processId,
    item: endedCommand(item, at, end),
    ...(note !== undefined && { note }),
  };
}

/** Ends all background terminals of a thread, because its host has ended or the thread is unloaded. */
export function endTerminals(
  { terminals }: ThreadState,
  at: number,
  shown: ShownText,
): readonly ThreadRecord[] {
  return terminals.map((terminal) => {
    const { item, processId, saved } = terminal;
    const end = { exitCode: -1, output: shown.get(item.id) ?? saved };
    return terminalEnded(terminal, at, end, terminatedNote(item, processId));
  });
}

function terminatedNote({ command }: CommandItem, processId: string): string {
  return `The command with session ID ${processId} was terminated because the thread was unloaded or its host ended. Start it again if it is still needed: ${command.slice(0, 500)}`;
}

/** Turns the user's shell commands that still run at the end of a turn into background terminals. */
export function leaveShells({ id: turnId, open }: TurnState, at: number): readonly ThreadRecord[] {
  return open
    .filter(isShell)
    .map(({ id }) => ({ type: "terminalLeft", turnId, at, processId: id, itemId: id, outside: true }));
}
