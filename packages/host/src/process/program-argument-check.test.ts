import { describe, expect, it } from "vitest";
import { wordProblem } from "./program-argument-check.ts";

describe("texts that a program is started with", () => {
  it("may be anything without NUL", () => {
    expect(wordProblem({ command: ["ls", "\n\u{1}é"], cwd: null, shell: undefined, cmd: "" })).toBeNull();
  });

  it.each([
    [{ cmd: "a\0b" }, "cmd"],
    [{ command: ["ls", "a\0"], cwd: "/x\0" }, "command"],
    [{ command: ["ls"], cwd: "\0" }, "cwd"],
  ])("are named if they have one: %j", (words, name) => {
    expect(wordProblem(words)).toEqual({ name, problem: "must not contain the character NUL" });
  });
});
