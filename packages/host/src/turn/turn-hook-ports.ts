import type { Hooks } from "../hooks/thread-hooks.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Platform } from "../platform/platform.ts";

/** The dependencies of the classes that run hooks of threads. */
export interface TurnHookPorts {
  readonly platform: Pick<Platform, "clock" | "ids">;
  readonly supervisor: Supervisor;
  readonly hooks: Hooks;
}
