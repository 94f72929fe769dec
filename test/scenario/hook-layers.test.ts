// Hooks of several layers, and how people come to trust those of a project, on the real program.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder, markRepository } from "../support/folder.ts";
import { messages, on } from "../support/hook-stage.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { runBobbin } from "../support/run-bobbin.ts";

const FULL = ['sandbox_mode = "danger-full-access"', 'approval_policy = "never"'];
const toml = (words: string) =>
  `[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ntype = "command"\ncommand = "echo ${words}"\n`;
const json = (words: string) => JSON.stringify({ hooks: on("UserPromptSubmit", `echo ${words}`) });

async function stage(args: readonly string[] = []) {
  const model = await MockModel.start(say("done"));
  const [{ home }, project, etc] = await Promise.all([
    modelHome("responses", model.url, { top: FULL }),
    freshFolder("project"),
    freshFolder("etc"),
  ]);
  const [dot, system] = [join(project, ".codex"), join(etc, "codex")];
  for (const folder of [dot, system]) mkdirSync(folder);
  markRepository(project);
  const env = { BOBBIN_ETC: etc, SHELL: "/bin/bash" };
  const start = async () => {
    const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0", ...args], env });
    return host.join(undefined, { experimentalApi: true });
  };
  const bobbin = (...words: string[]) => runBobbin(words, { env: { ...env, BOBBIN_HOME: home } });
  return { model, home, project, dot, system, start, bobbin };
}

describe("hooks of several layers", () => {
  it("[HOOK-19] add up, each with its own source", async () => {
    const flag = 'hooks.UserPromptSubmit=[{hooks=[{type="command",command="echo flag"}]}]';
    const { model, home, project, dot, system, start } = await stage(["-p", "mine", "-c", flag]);
    const config = join(home, "config.toml");
    writeFileSync(config, `${readFileSync(config, "utf8")}\n${toml("user")}`);
    writeFileSync(join(home, "hooks.json"), json("user json"));
    writeFileSync(join(home, "mine.config.toml"), toml("profile"));
    writeFileSync(join(system, "config.toml"), toml("system"));
    writeFileSync(join(system, "hooks.json"), json("system json"));
    writeFileSync(join(dot, "hooks.json"), json("project"));
    const client = await start();
    const write = (keyPath: string, value: unknown) =>
      client.call("config/value/write", { keyPath, value, mergeStrategy: "upsert" });
    const list = async () => (await client.call("hooks/list", { cwds: [project] })).data[0].hooks;
    await write(`projects."${project}".trust_level`, "trusted");
    const own = (await list()).find(({ source }: { source: string }) => source === "project");
    await write("hooks.state", { [own.key]: { trusted_hash: own.currentHash } });
    const shown = (await list()).map((hook: Record<string, string>) => [
      hook["command"]!.slice(5),
      hook["source"],
      hook["sourcePath"],
      hook["trustStatus"],
    ]);
    expect(shown).toEqual([
      ["system json", "system", join(system, "hooks.json"), "managed"],
      ["system", "system", join(system, "config.toml"), "managed"],
      ["user json", "user", join(home, "hooks.json"), "trusted"],
      ["user", "user", config, "trusted"],
      ["project", "project", join(dot, "hooks.json"), "trusted"],
      ["profile", "user", join(home, "mine.config.toml"), "trusted"],
      ["flag", "sessionFlags", "/<session-flags>/config.toml", "trusted"],
    ]);
    await client.turn(await client.startThread({ cwd: project }), "Hello!");
    const said = messages(model, 0, "developer");
    expect(shown.filter(([words]: string[]) => !said.includes(words!))).toEqual([]);
  });
});

describe("an untrusted project's hooks", () => {
  it("[HOOK-20] cause a warning with the command that trusts them, and then run until they change", async () => {
    const { model, home, project, dot, start, bobbin } = await stage();
    const file = join(dot, "hooks.json");
    writeFileSync(file, json("project"));
    const client = await start();
    const warnings = () => client.told("configWarning").map(({ params }) => params);
    const said = async (): Promise<boolean> => {
      await client.turn(await client.startThread({ cwd: project }), "Hello!");
      return messages(model, model.asked.length - 1, "developer").includes("project");
    };
    expect(await said()).toBe(false);
    await client.until(() => warnings().length === 1, "the warning");
    expect(warnings()[0]).toEqual({
      summary: `${file}: 1 hook does not run, because its project is not trusted. To see hooks, run: bobbin hooks list -C ${project}. To trust the project with them, run: bobbin trust ${project}`,
      details: null,
      path: file,
    });
    const before = readFileSync(join(home, "config.toml"), "utf8");
    const dry = await bobbin("trust", "--dry-run", project);
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining("echo project") });
    expect(readFileSync(join(home, "config.toml"), "utf8")).toBe(before);
    expect(await bobbin("trust", project)).toMatchObject({ code: 0 });
    expect(await said()).toBe(true);
    writeFileSync(file, json("changed"));
    expect(await said()).toBe(false);
    await client.until(() => warnings().length === 2, "another warning");
    expect(warnings()[1]!.summary).toContain("nobody has trusted it as it is now");
    // A person who does not trust the project has decided.
    expect(await bobbin("rules", "distrust", project)).toMatchObject({ code: 0 });
    writeFileSync(file, json("again"));
    expect(await said()).toBe(false);
    expect(warnings().length).toBe(2);
  });

  it("[HOOK-20] are listed by bobbin hooks list, and trusted one by one by bobbin hooks trust", async () => {
    const { home, project, dot, bobbin } = await stage();
    writeFileSync(join(home, "hooks.json"), json("user"));
    writeFileSync(join(dot, "hooks.json"), json("one"));
    writeFileSync(join(dot, "config.toml"), toml("two"));
    const states = async () => {
      const { code, stdout } = await bobbin("hooks", "list", "-C", project, "--json");
      expect(code).toBe(0);
      return JSON.parse(stdout).hooks.map(({ command, trustStatus }: Record<string, string>) =>
        [command, trustStatus].join(" "),
      );
    };
    expect(await states()).toEqual(["echo user trusted", "echo one untrusted", "echo two untrusted"]);
    const early = await bobbin("hooks", "trust", "-C", project);
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining(`bobbin trust ${project}`) });
    await bobbin("config", "set", `projects."${project}".trust_level`, "trusted");
    const key = `${join(dot, "config.toml")}:user_prompt_submit:0:0`;
    expect(await bobbin("hooks", "trust", "-C", project, key)).toMatchObject({ code: 0 });
    expect(await states()).toEqual(["echo user trusted", "echo one untrusted", "echo two trusted"]);
    expect(await bobbin("hooks", "trust", "-C", project, "nonsense")).toMatchObject({ code: 1 });
    expect(await bobbin("hooks", "trust", "-C", project)).toMatchObject({ code: 0 });
    expect(await states()).toEqual(["echo user trusted", "echo one trusted", "echo two trusted"]);
    writeFileSync(join(dot, "hooks.json"), json("three"));
    const { stdout } = await bobbin("hooks", "list", "-C", project);
    expect(stdout).toMatch(/runs .*echo user[\s\S]*changed .*echo three[\s\S]*runs .*echo two/);
  });
});
