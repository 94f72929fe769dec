import { boolean, inline, type Schema, string } from "@bobbin/protocol/schema";
import { ThreadItem } from "@bobbin/protocol/types";
import type { CommandItem } from "./records.ts";

export const TERMINAL_STATE = inline(() => ({
  processId: string(),
  turnId: string(),
  // The type is not restricted to commands: an item of another type has no process and does no harm.
  item: ThreadItem as unknown as Schema<CommandItem>,
  outside: boolean(),
  saved: string(),
}));
