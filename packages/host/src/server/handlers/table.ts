import type { ConfigLayers } from "../../catalog/config-layers.ts";
import type { FindHandler, Handler, Handlers } from "../call.ts";
import { accountHandlers } from "./account.ts";
import { catalogHandlers } from "./catalog.ts";
import { commandExecHandlers } from "./command-exec.ts";
import { configHandlers } from "./config.ts";
import type { HandlerContext } from "./context.ts";
import { diagnosticsHandlers } from "./diagnostics.ts";
import { initializeHandlers } from "./initialize.ts";
import { modelHandlers } from "./model.ts";
import { processHandlers } from "./process.ts";
import { reviewHandlers } from "./review.ts";
import { ruleHandlers } from "./rules.ts";
import { sectionHandlers } from "./section.ts";
import { skillHandlers } from "./skill.ts";
import { terminalHandlers } from "./terminal.ts";
import { threadEditHandlers } from "./thread-edit.ts";
import { forker, threadForkHandlers } from "./thread-fork.ts";
import { threadGoalHandlers } from "./thread-goal.ts";
import { threadGrantHandlers } from "./thread-grants.ts";
import { threadLeaveHandlers } from "./thread-leave.ts";
import { threadLoadHandlers } from "./thread-load.ts";
import { threadQueueHandlers } from "./thread-queue.ts";
import { threadReadHandlers } from "./thread-read.ts";
import { toolServerHandlers } from "./tool-servers.ts";
import { turnHandlers } from "./turn.ts";

/** Every area's handlers. A start makes those of `initialize` alone; the others come with the first other request. */
export function handlerTable(context: HandlerContext, layers: ConfigLayers): FindHandler {
  const first = initializeHandlers(context);
  let others: Handlers | undefined;
  return (method) => {
    if (first[method] !== undefined) return first[method] as Handler<never>;
    others ??= otherHandlers(context, layers);
    return others[method] as Handler<never> | undefined;
  };
}

function otherHandlers(context: HandlerContext, layers: ConfigLayers): Handlers {
  const fork = forker(context);
  return {
    ...accountHandlers(context, layers),
    ...configHandlers(context, layers),
    ...catalogHandlers(context, layers),
    ...skillHandlers(context, layers),
    ...modelHandlers(context),
    ...threadLoadHandlers(context),
    ...threadForkHandlers(context, fork),
    ...threadLeaveHandlers(context),
    ...threadReadHandlers(context),
    ...threadEditHandlers(context),
    ...threadGoalHandlers(context),
    ...threadGrantHandlers(context),
    ...threadQueueHandlers(context),
    ...turnHandlers(context),
    ...reviewHandlers(context, fork),
    ...diagnosticsHandlers(context),
    ...sectionHandlers(context),
    ...toolServerHandlers(context),
    ...ruleHandlers(context),
    ...commandExecHandlers(context),
    ...processHandlers(context),
    ...terminalHandlers(context),
  };
}
