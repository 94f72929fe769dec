import { describe, expect, it } from "vitest";
import { USUAL_SHELL_ENVIRONMENT } from "../process/command-environment.ts";
import { readConfig } from "./config.ts";

const read = (policy: object) => readConfig({ shell_environment_policy: policy }).shellEnvironment;

describe("[shell_environment_policy]", () => {
  it("removes secrets unless it says otherwise", () => {
    expect(readConfig({}).shellEnvironment).toBe(USUAL_SHELL_ENVIRONMENT);
    expect(read({})).toEqual(USUAL_SHELL_ENVIRONMENT);
    expect(read({ ignore_default_excludes: true }).removesSecrets).toBe(false);
    expect(read({ ignore_default_excludes: false }).removesSecrets).toBe(true);
  });

  it("has the keys of the Codex CLI, and allow", () => {
    const table = {
      inherit: "core",
      allow: ["GH_TOKEN"],
      exclude: ["AWS_*"],
      include_only: ["PATH"],
      set: { CI: 1, MODE: "test" },
    };
    expect(read(table)).toEqual({
      inherit: "core",
      removesSecrets: true,
      allow: ["GH_TOKEN"],
      exclude: ["AWS_*"],
      includeOnly: ["PATH"],
      set: { CI: "1", MODE: "test" },
    });
  });

  it("takes filters in place of the two lists", () => {
    expect(read({ filters: { "AWS_*": "exclude", PATH: "include" } })).toMatchObject({
      exclude: ["AWS_*"],
      includeOnly: ["PATH"],
    });
  });

  it.each([
    [{ inherit: "some" }, 'shell_environment_policy.inherit: "some" is not one of all, core, none'],
    [{ allow: "GH_TOKEN" }, "shell_environment_policy.allow: expected a list of strings"],
    [{ filters: {}, exclude: [] }, "filters cannot be combined with exclude or include_only"],
    [{ filters: { A: "exclude", a: "include" } }, 'filters: "a" occurs twice'],
    [{ filters: { A: "drop" } }, 'filters.A: "drop" is not one of include, exclude'],
    [{ set: { "A=B": "x" } }, 'set: "A=B" cannot be the name of a variable'],
    [{ set: { A: "x\0" } }, "set.A: a value cannot contain NUL"],
  ])("refuses %j", (table, message) => {
    expect(() => read(table)).toThrow(message);
  });
});
