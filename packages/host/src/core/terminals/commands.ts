import type { CommandEnd } from "./command-end.ts";
import type { CommandItem } from "./records.ts";

/** Commands about shell commands of the user, and about background terminals. */
export type TerminalCommand =
  /** Starts a shell command of the user: in the running turn, or in a new turn with this ID. */
  | {
      readonly kind: "startShell";
      readonly at: number;
      readonly turnId: string;
      readonly item: CommandItem;
    }
  /** A background terminal or a shell command of the user has ended. `note`: a text for the model. */
  | {
      readonly kind: "endCommand";
      readonly at: number;
      readonly itemId: string;
      readonly end: CommandEnd;
      readonly note?: string | undefined;
    };
