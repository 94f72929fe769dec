import type { ThreadState } from "../core/state.ts";
import type { Files } from "../platform/platform.ts";
import { goalTools } from "./goal.ts";
import { planTools } from "./plan.ts";
import { cancelSubscription } from "./rap/cancel-subscription.ts";
import { eventTool } from "./rap/event-tool.ts";
import type { ToolSource } from "./tool.ts";
import { requestUserInput } from "./user-input.ts";
import { viewImage } from "./view-image.ts";

/** Tools that threads have of the host itself. */
export function ownTools(files: Files, maxGoalTokenBudget: number | null): readonly ToolSource[] {
  const builtIn = [requestUserInput, viewImage(files), eventTool];
  return [planTools, { tools: () => builtIn }, goalTools(maxGoalTokenBudget)];
}

/** Their names, none of which a tool server's tool can have. */
export function ownNames(sources: readonly ToolSource[]): readonly string[] {
  const tools = [cancelSubscription, ...sources.flatMap((source) => source.tools(NEW_THREAD))];
  return tools.map(({ name }) => name);
}

/** What sources look at, as it is in a thread that has done nothing yet. */
const NEW_THREAD = { turn: null, settings: {}, facts: { ephemeral: false } } as unknown as ThreadState;
