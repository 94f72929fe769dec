import type { ThreadItem } from "@bobbin/protocol";

/** The thread item of a command. */
export type CommandItem = Extract<ThreadItem, { type: "commandExecution" }>;

/** A background terminal: a command that runs on after the call that started it. */
export interface TerminalState {
  /** The ID of the process within the thread, for clients and the model. */
  readonly processId: string;
  /** The turn that the item belongs to. */
  readonly turnId: string;
  readonly item: CommandItem;
  /** Whether the command runs outside of the sandbox. If so, input to the command needs consent. */
  readonly outside: boolean;
  /** The end of the command's output in `textSaved` records. */
  readonly saved: string;
}

export type TerminalRecord =
  /** A command runs on after its call or its turn, and becomes a background terminal. */
  | {
      readonly type: "terminalLeft";
      readonly turnId: string;
      readonly at: number;
      readonly processId: string;
      readonly itemId: string;
      readonly outside: boolean;
    }
  /** The model writes to a background terminal, or sends Ctrl-C. An empty text: the model only waited for output. */
  | {
      readonly type: "terminalInput";
      readonly turnId: string;
      readonly at: number;
      readonly processId: string;
      readonly itemId: string;
      readonly stdin: string;
    }
  /** A background terminal has ended. */
  | {
      readonly type: "terminalEnded";
      /** The turn of the item. It may have ended long before. */
      readonly turnId: string;
      readonly at: number;
      readonly processId: string;
      readonly item: ThreadItem;
      /** A note for the model about the end; missing if the output of a call reported the end. */
      readonly note?: string | undefined;
    };
