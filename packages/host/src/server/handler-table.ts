import type { LayeredConfig } from "../config/layered-config.ts";
import type { HandlerContext } from "./handler-context.ts";
import type { FindHandler, Handler, MethodHandlers } from "./handler-types.ts";
import { accountHandlers } from "./handlers/account.ts";
import { commandExecHandlers } from "./handlers/command-exec.ts";
import { configHandlers } from "./handlers/config.ts";
import { diagnosticsHandlers } from "./handlers/diagnostics.ts";
import { environmentHandlers } from "./handlers/environment.ts";
import { featureHandlers } from "./handlers/experimental-features.ts";
import { externalAgentImportHandlers } from "./handlers/external-agent-import.ts";
import { feedbackHandlers } from "./handlers/feedback.ts";
import { fileSearchHandlers } from "./handlers/file-search.ts";
import { fsHandlers } from "./handlers/fs.ts";
import { hostHandlers } from "./handlers/hosts-of-home.ts";
import { initializeHandlers } from "./handlers/initialize.ts";
import { legacyHandlers } from "./handlers/legacy-methods.ts";
import { mcpCallHandlers } from "./handlers/mcp-calls.ts";
import { mcpLoginHandlers } from "./handlers/mcp-login.ts";
import { mcpServerHandlers } from "./handlers/mcp-servers.ts";
import { modelHandlers } from "./handlers/model.ts";
import { modeAndProfileHandlers } from "./handlers/modes-and-profiles.ts";
import { processHandlers } from "./handlers/process.ts";
import { promptHandlers } from "./handlers/prompts.ts";
import { reviewHandlers } from "./handlers/review.ts";
import { ruleHandlers } from "./handlers/rules.ts";
import { setupHandlers } from "./handlers/server-setup-report.ts";
import { skillAndHookHandlers } from "./handlers/skills-and-hooks.ts";
import { terminalHandlers } from "./handlers/terminal.ts";
import { threadEditHandlers } from "./handlers/thread-edit.ts";
import { forker, threadForkHandlers } from "./handlers/thread-fork.ts";
import { threadGoalHandlers } from "./handlers/thread-goal.ts";
import { threadGrantHandlers } from "./handlers/thread-grants.ts";
import { threadLoadHandlers } from "./handlers/thread-load.ts";
import { threadQueueHandlers } from "./handlers/thread-queue.ts";
import { threadReadHandlers } from "./handlers/thread-read.ts";
import { sectionHandlers } from "./handlers/thread-section.ts";
import { threadUnloadArchiveHandlers } from "./handlers/thread-unload-archive.ts";
import { toolServerHandlers } from "./handlers/tool-server-list.ts";
import { turnHandlers } from "./handlers/turn.ts";

/** All handlers. That of `initialize` is created at the start, the others with the first request for another method. */
export function handlerTable(context: HandlerContext, layers: LayeredConfig): FindHandler {
  const first = initializeHandlers(context);
  let others: MethodHandlers | undefined;
  return (method) => {
    if (first[method] !== undefined) return first[method] as Handler<never>;
    others ??= otherHandlers(context, layers);
    return others[method] as Handler<never> | undefined;
  };
}

function otherHandlers(context: HandlerContext, layers: LayeredConfig): MethodHandlers {
  const fork = forker(context);
  return {
    ...accountHandlers(context, layers),
    ...configHandlers(context, layers),
    ...featureHandlers(context),
    ...modeAndProfileHandlers(context),
    ...mcpServerHandlers(context, layers),
    ...mcpLoginHandlers(context, layers),
    ...skillAndHookHandlers(context, layers),
    ...promptHandlers(context),
    ...modelHandlers(context),
    ...setupHandlers(context),
    ...hostHandlers(context),
    ...threadLoadHandlers(context),
    ...threadForkHandlers(context, fork),
    ...threadUnloadArchiveHandlers(context),
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
    ...fsHandlers(context),
    ...fileSearchHandlers(context),
    ...terminalHandlers(context),
    ...environmentHandlers(context),
    ...legacyHandlers(context),
    ...mcpCallHandlers(context),
    ...feedbackHandlers(context),
    ...externalAgentImportHandlers(context),
  };
}
