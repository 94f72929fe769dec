import { expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import type { Invocation } from "../tool.ts";
import { shownItem } from "./exec-call-item.ts";
import type { ExecPorts } from "./exec-dependencies.ts";

it("[EXEC-16] makes the item of a command anew that a damaged journal has lost", () => {
  const ports = { commandShell: "/bin/sh" } as ExecPorts;
  const thread = newThread();
  const invocation = {
    thread,
    call: { callId: "c" },
    args: { cmd: "ls", workdir: "sub" },
    startedAt: 7,
  } as unknown as Invocation;
  expect(shownItem(ports, invocation)).toMatchObject({
    type: "commandExecution",
    id: "c",
    command: "/bin/sh -lc ls",
    cwd: `${thread.settings.cwd}/sub`,
    status: "inProgress",
    startedAtMs: 7,
  });
});
