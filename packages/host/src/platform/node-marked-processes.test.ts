import { describe, expect, it } from "vitest";
import { askMarked, endMarked } from "./node-marked-processes.ts";
import { nodeSpawn } from "./node-spawn.ts";
import type { RunningProgram } from "./platform.ts";

/** Starts a program with a mark in its environment, which runs until it is killed. */
function sleeper(mark: string): Promise<RunningProgram> {
  const env = { PATH: process.env["PATH"]!, MARK: mark };
  return nodeSpawn({ argv: ["sleep", "600"], cwd: "/", env, stdin: "closed" });
}

const markOf = (nth: number): string => `bobbin-marked-${process.pid}-${nth}.`;

describe.runIf(process.platform === "linux")("processes with a mark", () => {
  it("are ended for all who ask at the same time, and no others are", async () => {
    const [other, ...programs] = await Promise.all([0, 1, 2, 3, 4].map((nth) => sleeper(markOf(nth))));
    const [first, second, ...rest] = [1, 2, 3, 4].map((nth) => [markOf(nth)]);
    const early = endMarked(first!);
    // Called while the first lookup runs, whose result must not be reused.
    await new Promise(setImmediate);
    await Promise.all([early, endMarked(second!), ...rest.map((marks) => endMarked(marks))]);
    for (const program of programs) expect(await program.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(other!.signal("SIGTERM")).toBe(true);
    expect(await other!.exited).toEqual({ code: null, signal: "SIGTERM" });
  });

  it("are asked to end, if there are any", async () => {
    const program = await sleeper(markOf(5));
    const asked = await Promise.all([askMarked([markOf(5)]), askMarked([markOf(6)])]);
    expect(asked).toEqual([true, false]);
    expect(await program.exited).toEqual({ code: null, signal: "SIGTERM" });
  });
});
