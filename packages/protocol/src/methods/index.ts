import { accountMethods } from "./account.ts";
import { commandExecMethods } from "./command-exec.ts";
import { configMethods } from "./config.ts";
import { environmentMethods } from "./environment.ts";
import { extensionMethods } from "./extensions.ts";
import { fileSearchMethods } from "./file-search.ts";
import { fileMethods } from "./files.ts";
import { legacyMethods } from "./legacy.ts";
import { processMethods } from "./process.ts";
import { serverMethods } from "./server.ts";
import { terminalMethods } from "./terminal.ts";
import { threadEditMethods } from "./thread-edit.ts";
import { threadGoalAndQueueMethods } from "./thread-goal-and-queue.ts";
import { threadLifecycleMethods } from "./thread-lifecycle.ts";
import { threadReadMethods } from "./thread-read.ts";
import { turnMethods } from "./turn.ts";

export const methods = {
  ...accountMethods,
  ...commandExecMethods,
  ...configMethods,
  ...environmentMethods,
  ...legacyMethods,
  ...fileMethods,
  ...fileSearchMethods,
  ...processMethods,
  ...serverMethods,
  ...terminalMethods,
  ...threadEditMethods,
  ...threadLifecycleMethods,
  ...threadGoalAndQueueMethods,
  ...threadReadMethods,
  ...extensionMethods,
  ...turnMethods,
};
