import type { ThreadItem } from "@bobbin/protocol";
import { expect, it } from "vitest";
import { itemEnd } from "./item-lines.ts";

const command = (exitCode: number | null, aggregatedOutput: string) =>
  itemEnd({ type: "commandExecution", status: "failed", exitCode, aggregatedOutput } as ThreadItem);

it("shows the exit code of a command that ended by itself, and of no other", () => {
  expect(command(3, "no\n")).toBe("no\nexit code 3");
  expect(command(0, "yes\n")).toBe("yes");
  expect(command(-1, "yes\n")).toBe("yes");
  expect(command(-1, "")).toBeUndefined();
});
