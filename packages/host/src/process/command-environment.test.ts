import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  allowLine,
  commandEnvironment,
  type ShellEnvironmentPolicy,
  USUAL_SHELL_ENVIRONMENT,
} from "./command-environment.ts";

const NONE: ReadonlySet<string> = new Set();
const policy = (changes: Partial<ShellEnvironmentPolicy> = {}): ShellEnvironmentPolicy => ({
  ...USUAL_SHELL_ENVIRONMENT,
  ...changes,
});
/** The names of these variables that a command gets. */
function passed(names: readonly string[], changes: Partial<ShellEnvironmentPolicy> = {}, secrets = NONE) {
  const host = Object.fromEntries(names.map((name) => [name, "x"]));
  return Object.keys(commandEnvironment(host, secrets, policy(changes)).env);
}

describe("the environment of a command", () => {
  it("[ENV-1] has no variable that the host itself uses, even if it is allowed", () => {
    const secrets = new Set(["MODEL_LOGIN"]);
    const host = { MODEL_LOGIN: "s", PATH: "/bin" };
    expect(commandEnvironment(host, secrets, policy({ allow: ["*"], removesSecrets: false }))).toEqual({
      env: { PATH: "/bin" },
      removed: ["MODEL_LOGIN"],
    });
  });

  it("[ENV-2] has no variable with a secret's word between underscores, and names those removed", () => {
    const secret = ["AWS_ACCESS_KEY_ID", "GH_TOKEN", "TOKEN", "db_password", "X_PASSWD", "A_CREDENTIALS"];
    const harmless = ["KEYBOARD", "TOKENIZERS_PARALLELISM", "SECRETARY", "PASSWORDLESS", "SSH_AUTH_SOCK"];
    const host = Object.fromEntries([...secret, ...harmless].map((name) => [name, "x"]));
    const { env, removed } = commandEnvironment(host, NONE, policy());
    expect(Object.keys(env)).toEqual(harmless);
    expect(removed).toEqual(secret.sort());
  });

  it("gets back what is allowed, and everything but the host's own secrets without the default", () => {
    const names = ["GH_TOKEN", "NPM_TOKEN", "PATH"];
    expect(passed(names, { allow: ["gh_token"] })).toEqual(["GH_TOKEN", "PATH"]);
    expect(passed(names, { allow: ["?PM_*"] })).toEqual(["NPM_TOKEN", "PATH"]);
    expect(passed(names, { removesSecrets: false }, new Set(["NPM_TOKEN"]))).toEqual(["GH_TOKEN", "PATH"]);
  });

  it("begins with everything, with what every program needs, or with nothing", () => {
    const names = ["HOME", "PATH", "EDITOR"];
    expect(passed(names)).toEqual(names);
    expect(passed(names, { inherit: "core" })).toEqual(["HOME", "PATH"]);
    expect(passed(names, { inherit: "none" })).toEqual([]);
  });

  it("leaves out what a person excludes, without reporting that", () => {
    const host = { AWS_REGION: "x", AWS_TOKEN: "x", PATH: "x" };
    expect(commandEnvironment(host, NONE, policy({ exclude: ["aws_*"] }))).toEqual({
      env: { PATH: "x" },
      removed: [],
    });
    expect(passed(["AWS_REGION", "PATH", "HOME"], { includeOnly: ["*A*H"] })).toEqual(["PATH"]);
  });

  it("[ENV-3] gets what the policy sets and then what the request changes, whatever the names are", () => {
    const host = { A: "host", GH_TOKEN: "host", GONE: "host" };
    const set = { A: "set", GH_TOKEN: "set", B: "set" };
    expect(
      commandEnvironment(host, NONE, policy({ set, includeOnly: ["GONE"] }), {
        B: "changed",
        C_KEY: "changed",
        GONE: null,
      }),
    ).toEqual({ env: { A: "set", GH_TOKEN: "set", B: "changed", C_KEY: "changed" }, removed: [] });
  });

  it("matches patterns as a regular expression would", () => {
    const letters = fc.constantFrom("A", "b", "_");
    const name = fc.string({ unit: letters, minLength: 1, maxLength: 8 });
    const pattern = fc.string({ unit: fc.oneof(letters, fc.constantFrom("*", "?")), maxLength: 6 });
    fc.assert(
      fc.property(name, pattern, (one, glob) => {
        const reference = new RegExp(`^${glob.replaceAll("?", ".").replaceAll("*", ".*")}$`, "i");
        expect(passed([one], { exclude: [glob] }).length === 0).toBe(reference.test(one));
      }),
    );
  });

  it("matches a pattern of many stars quickly", () => {
    const name = "A".repeat(2_000);
    expect(passed([name], { exclude: [`${"*A".repeat(1_000)}*B`] })).toEqual([name]);
  });
});

describe("the line that passes removed variables on", () => {
  it("names them, but for those that stay removed", () => {
    expect(allowLine(["GH_TOKEN", "OPENAI_API_KEY"], new Set(["OPENAI_API_KEY"]))).toBe(
      'shell_environment_policy.allow = ["GH_TOKEN"]',
    );
    expect(allowLine(["OPENAI_API_KEY"], new Set(["OPENAI_API_KEY"]))).toBeUndefined();
  });
});
