import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { pinoLog } from "../observe/log.ts";
import { Supervisor } from "../observe/supervise.ts";
import { nodePlatform } from "../platform/node.ts";
import type { Timers } from "../platform/platform.ts";
import { USUAL_SHELL_ENVIRONMENT } from "./command-environment.ts";
import { LoginEnvironments } from "./login-shell-environment.ts";
import { ProcessManager } from "./process-manager.ts";
import { ProcessMarks } from "./process-marks.ts";

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "bobbin-login-"));
});
afterAll(() => rm(home, { recursive: true }));

const log = pinoLog({ level: "silent", format: "text", write() {} });
const PATH = process.env["PATH"]!;
const NONE: ReadonlySet<string> = new Set();

/** The login environments of a user with this shell profile. */
async function people(profile: string, { env = {}, timers }: { env?: object; timers?: Timers } = {}) {
  await writeFile(join(home, ".profile"), `echo start >> "$HOME/starts"\n${profile}\n`);
  await writeFile(join(home, "starts"), "");
  const platform = { ...nodePlatform(), env: { PATH, HOME: home, ...env } };
  const marks = new ProcessMarks({ home: undefined, platform, log });
  const processes = new ProcessManager({ platform, supervisor: new Supervisor(log), marks });
  return new LoginEnvironments({ platform: { ...platform, ...(timers && { timers }) }, processes });
}
const starts = async (): Promise<number> =>
  (await readFile(join(home, "starts"), "utf8")).split("\n").length - 1;
const usual = { shell: "/bin/sh", secrets: NONE, policy: USUAL_SHELL_ENVIRONMENT, confined: false };

describe("the environment of a login shell", () => {
  it("[ENV-4] is what the profile sets up, whatever that prints", async () => {
    const login = await people(
      "echo Welcome; printf 'x\\000y'; export TOOL_HOME='/opt/a b'; export N='1\n2'",
    );
    const { env, problem } = await login.forCommand(usual, { EXTRA: "1" });
    expect(problem).toBeNull();
    expect(env).toMatchObject({ HOME: home, TOOL_HOME: "/opt/a b", N: "1\n2", EXTRA: "1" });
    expect(Object.keys(env)).not.toEqual(expect.arrayContaining(["_", "PWD", "SHLVL"]));
  });

  it("has no secrets, neither of the host nor of the profile", async () => {
    const login = await people('export GH_TOKEN=x; export MINE="$OPENAI_API_KEY$A_KEY"', {
      env: { OPENAI_API_KEY: "o", A_KEY: "k", B_KEY: "b" },
    });
    const policy = { ...USUAL_SHELL_ENVIRONMENT, allow: ["B_KEY"] };
    const { env, removed } = await login.forCommand({
      ...usual,
      secrets: new Set(["OPENAI_API_KEY"]),
      policy,
    });
    expect(env).toMatchObject({ MINE: "", B_KEY: "b" });
    expect(env).not.toHaveProperty("GH_TOKEN");
    expect(removed).toEqual(["A_KEY", "GH_TOKEN", "OPENAI_API_KEY"]);
  });

  it("has what the profile adds to an environment that inherits nothing", async () => {
    const login = await people("export ADDED=1", { env: { EDITOR: "vi" } });
    // The shell finds its profile by HOME.
    const policy = { ...USUAL_SHELL_ENVIRONMENT, inherit: "none", set: { HOME: home } } as const;
    const { env } = await login.forCommand({ ...usual, policy });
    expect(env).toMatchObject({ ADDED: "1" });
    expect(env).not.toHaveProperty("EDITOR");
  });

  it("is captured once per shell and policy, for many commands at once", async () => {
    const login = await people("export A=1");
    const all = await Promise.all([1, 2, 3].map((n) => login.forCommand(usual, { N: String(n) })));
    expect(all.map(({ env }) => [env["A"], env["N"]])).toEqual([
      ["1", "1"],
      ["1", "2"],
      ["1", "3"],
    ]);
    expect(await starts()).toBe(1);
    await login.forCommand({ ...usual, policy: { ...USUAL_SHELL_ENVIRONMENT, inherit: "core" } });
    expect(await starts()).toBe(2);
  });

  it("is the host's own if the profile hangs; after a second try the shell is asked no more", async () => {
    let due = 0;
    const timers = {
      ...nodePlatform().timers,
      // The time limit expires as soon as the profile runs.
      after(_ms: number, run: () => void) {
        due++;
        void eventually(async () => (await starts()) === due, "the profile runs").then(run);
        return () => {};
      },
    };
    const login = await people("sleep 1000", { env: { A: "1", A_KEY: "k" }, timers });
    for (let round = 0; round < 3; round++) {
      const { env, removed, problem } = await login.forCommand(usual);
      expect(problem).toMatch(/^\/bin\/sh -l did not end within 5 s/);
      expect([env["A"], removed]).toEqual(["1", ["A_KEY"]]);
    }
    expect(await starts()).toBe(2);
  });

  it("is the host's own if the shell prints without end, fails, or is not there", async () => {
    const flood = await people("yes");
    expect((await flood.forCommand(usual)).problem).toBe("/bin/sh -l printed more than 1048576 bytes");
    const failing = await people("exit 3");
    expect((await failing.forCommand(usual)).problem).toContain("ended with 3 and did not print");
    const gone = await failing.forCommand({ ...usual, shell: join(home, "nosh") });
    expect(gone.problem).toContain("cannot be started: ");
    expect(gone.env["PATH"]).toBe(PATH);
    const odd = join(home, "odd");
    await writeFile(odd, "#!/bin/sh\nexit 0\n");
    await chmod(odd, 0o755);
    expect((await failing.forCommand({ ...usual, shell: odd })).problem).toContain("did not print");
  });
});
