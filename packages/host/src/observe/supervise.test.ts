import { expect, it } from "vitest";
import { pinoLog } from "./log.ts";
import { Supervisor } from "./supervise.ts";

it("tells what is under way, and waits for it", async () => {
  const supervisor = new Supervisor(pinoLog({ level: "silent", format: "text", write() {} }));
  const ends: (() => void)[] = [];
  for (const what of ["turn/start", "unloading", "turn/start"]) {
    supervisor.take(what, new Promise<void>((resolve) => ends.push(resolve)));
  }
  expect(supervisor.pending()).toEqual(["turn/start (2 times)", "unloading"]);
  const settled = supervisor.settled();
  for (const end of ends) end();
  await settled;
  expect(supervisor.pending()).toEqual([]);
});
