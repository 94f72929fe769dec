import type { ReviewCommand } from "./approval-reviews/commands.ts";
import type { ChildCommand, HelperCommand } from "./children/commands.ts";
import type { GoalCommand } from "./goal/commands.ts";
import type { HookCommand } from "./hooks/commands.ts";
import type { LifeCommand } from "./life/commands.ts";
import type { QueueCommand } from "./queue/commands.ts";
import type { RapCommand } from "./rap/commands.ts";
import type { ReadStateCommand } from "./read-state/commands.ts";
import type { NetworkCommand, ServerQuestionCommand } from "./requests/commands.ts";
import type { TerminalCommand } from "./terminals/commands.ts";
import type { TurnCommand } from "./turn/commands.ts";

/** A request to change a thread, as plain data. The sender chooses IDs and times, because the core is pure. */
export type Command =
  | LifeCommand
  | ReadStateCommand
  | ReviewCommand
  | HookCommand
  | TurnCommand
  | QueueCommand
  | GoalCommand
  | TerminalCommand
  | ChildCommand
  | HelperCommand
  | NetworkCommand
  | ServerQuestionCommand
  | RapCommand;
