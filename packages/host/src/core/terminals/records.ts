import type { ThreadItem } from "@bobbin/protocol";

/** A command as clients see it. */
export type CommandItem = Extract<ThreadItem, { type: "commandExecution" }>;

/** A command that goes on after the call that started it: a background terminal. */
export interface TerminalState {
  /** The name of its process in the thread, for clients and for the model. */
  readonly processId: string;
  /** The turn that its item belongs to. */
  readonly turnId: string;
  readonly item: CommandItem;
  /** Whether it runs without a sandbox: then input to it needs consent. */
  readonly outside: boolean;
  /** The end of its output, as far as it was saved. */
  readonly saved: string;
}

export type TerminalRecord =
  /** A command outlives its call, or its turn. Its item stays open. */
  | {
      readonly type: "terminalLeft";
      readonly turnId: string;
      readonly at: number;
      readonly processId: string;
      readonly itemId: string;
      readonly outside: boolean;
    }
  /** The model writes to a background terminal, or presses Ctrl-C in it. */
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
      /** The turn of its item, which may have ended long before. */
      readonly turnId: string;
      readonly at: number;
      readonly processId: string;
      readonly item: ThreadItem;
      /** For the model, if it has not learnt of the end from a call. */
      readonly note?: string | undefined;
    };
