import { accountMethods } from "./account.ts";
import { commandExecMethods } from "./command-exec.ts";
import { configMethods } from "./config.ts";
import { processMethods } from "./process.ts";
import { serverMethods } from "./server.ts";
import { terminalMethods } from "./terminal.ts";
import { threadEditMethods } from "./thread-edit.ts";
import { threadLifeMethods } from "./thread-life.ts";
import { threadPlanMethods } from "./thread-plan.ts";
import { threadReadMethods } from "./thread-read.ts";
import { toolMethods } from "./tool.ts";
import { turnMethods } from "./turn.ts";

export const methods = {
  ...accountMethods,
  ...commandExecMethods,
  ...configMethods,
  ...processMethods,
  ...serverMethods,
  ...terminalMethods,
  ...threadEditMethods,
  ...threadLifeMethods,
  ...threadPlanMethods,
  ...threadReadMethods,
  ...toolMethods,
  ...turnMethods,
};
