import { expect, it } from "vitest";
import type { TerminalState } from "../../core/terminals/records.ts";
import { unusedProcessId } from "./unused-process-id.ts";

it("names a process as no other one that runs, or that input was granted for", () => {
  const numbers = [1, 99_002, 3];
  const ids = { integer: () => numbers.shift()! };
  const terminals = [{ processId: "1001" } as TerminalState];
  expect(unusedProcessId(ids, { terminals, grants: ["stdin 1002"] })).toBe("1003");
});
