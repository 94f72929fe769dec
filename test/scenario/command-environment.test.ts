// What commands of models get of the environment, on the real program with a local model.
import { existsSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, type Reply, responses, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { hasSandbox } from "../support/sandbox-here.ts";

const run = (args: object, callId: string): Reply =>
  stream(responses.stream(responses.call("exec_command", JSON.stringify(args), callId)));

interface StageOptions {
  readonly top?: readonly string[];
  /** Further lines of the model provider's table. */
  readonly provider?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

async function stage(
  replies: readonly Reply[],
  { top = ['sandbox_mode = "danger-full-access"'], provider = [], env = {} }: StageOptions = {},
) {
  const model = await MockModel.start(...replies);
  const { home, cwd } = await modelHome("responses", model.url, { top, provider });
  // The home of the user: profiles are found there.
  const user = await freshFolder("user");
  const host = await spawnHost({
    home,
    args: ["--listen", "ws://127.0.0.1:0"],
    env: { SHELL: "/bin/bash", HOME: user, ...env },
  });
  const client = await host.join(undefined, { experimentalApi: true });
  const threadId = await client.startThread({ cwd });
  /** What the model was given for its calls, before its nth request. */
  const outputs = (nth: number): string[] =>
    model.asked[nth]!.body.input.flatMap((item: { type: string; output?: string }) =>
      item.type === "function_call_output" ? [item.output!] : [],
    );
  const warnings = () => client.told("warning").map(({ params }) => params.message);
  return { model, client, threadId, cwd, user, outputs, warnings };
}

describe("a command of a model", () => {
  it("[ENV-4] gets the environment of the user's profile, and is shown as a login shell", async () => {
    const { client, threadId, user, outputs } = await stage([
      run({ cmd: "echo $FROM_PROFILE" }, "a"),
      run({ cmd: "echo [$FROM_PROFILE]", login: false }, "b"),
      say("done"),
    ]);
    await writeFile(join(user, ".bash_profile"), "echo noise; export FROM_PROFILE=there\n");
    await client.turn(threadId, "go");
    const [first, second] = outputs(2);
    expect(first).toMatch(/\nthere\n?$/);
    expect(first).not.toContain("noise");
    expect(second).toMatch(/\n\[\]\n?$/);
    const shown = client
      .told("item/completed")
      .flatMap(({ params }) => (params.item.type === "commandExecution" ? [params.item.command] : []));
    expect(shown).toEqual(["/bin/bash -lc 'echo $FROM_PROFILE'", "/bin/bash -c 'echo [$FROM_PROFILE]'"]);
  });

  it("[ENV-10] gets the host's environment if the profile fails, and the user is warned once", async () => {
    const { client, threadId, user, outputs, warnings } = await stage([
      run({ cmd: "echo [$HOME]" }, "a"),
      run({ cmd: "true" }, "b"),
      say("done"),
    ]);
    await writeFile(join(user, ".bash_profile"), "exit 3\n");
    await client.turn(threadId, "go");
    expect(outputs(2)[0]).toContain(`[${user}]`);
    const told = warnings().filter((message: string) => message.includes("login shell"));
    expect(told).toEqual([
      "Commands get the environment of the host, and not that of a login shell: /bin/bash -l ended with 3 and did not print its environment",
    ]);
  });

  it("[ENV-9] runs in the shell of the passwd file if SHELL is not set", async () => {
    const { client, threadId } = await stage([run({ cmd: "true" }, "a"), say("done")], {
      env: { SHELL: "" },
    });
    await client.turn(threadId, "go");
    const [item] = client
      .told("item/completed")
      .flatMap(({ params: { item } }) => (item.type === "commandExecution" ? [item] : []));
    expect(item.command).toBe(`${userInfo().shell ?? "/bin/sh"} -lc true`);
  });

  it("[ENV-6] lists its removed variables once per thread for the model, and once for the user, with the line to add", async () => {
    const { client, threadId, cwd, outputs, warnings } = await stage(
      [
        run({ cmd: "echo [$GH_TOKEN]" }, "a"),
        run({ cmd: "true" }, "b"),
        say("done"),
        run({ cmd: "true" }, "c"),
        say("done"),
      ],
      { env: { GH_TOKEN: "very-secret" } },
    );
    await client.turn(threadId, "go");
    const [first, second] = outputs(2);
    expect(first).toMatch(/because they may be secrets: (.*, )?GH_TOKEN/);
    expect(first).toMatch(/\n\[\]\n?$/);
    expect(second).not.toContain("GH_TOKEN");
    await client.turn(await client.startThread({ cwd }), "go");
    expect(outputs(4)[0]).toContain("GH_TOKEN");
    const told = warnings().filter((message: string) => message.includes("GH_TOKEN"));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/add to config\.toml: shell_environment_policy\.allow = \[.*"GH_TOKEN".*\]$/);
    expect(told[0]).not.toContain("very-secret");
  });

  it("[ENV-6] gets a variable that is allowed, without a message about it", async () => {
    const { client, threadId, outputs, warnings } = await stage(
      [run({ cmd: "echo [$GH_TOKEN]" }, "a"), say("done")],
      {
        top: ['sandbox_mode = "danger-full-access"', 'shell_environment_policy.allow = ["GH_TOKEN"]'],
        env: { GH_TOKEN: "passed-on" },
      },
    );
    await client.turn(threadId, "go");
    expect(outputs(1)[0]).toMatch(/\n\[passed-on\]\n?$/);
    expect(outputs(1)[0]).not.toContain("GH_TOKEN");
    expect(warnings().join()).not.toContain("GH_TOKEN");
  });

  it.runIf(hasSandbox)(
    "[ENV-7] that names a program as its shell has it run in the sandbox only",
    async () => {
      const proof = join(await freshFolder("outside"), "escaped");
      const { model, client, threadId, cwd, outputs } = await stage([], {
        top: ['sandbox_mode = "read-only"'],
      });
      const shell = join(cwd, "shell");
      await writeFile(shell, `#!/bin/sh\necho ran; touch '${proof}'\n`);
      await chmod(shell, 0o755);
      model.reply(run({ cmd: "true", shell, login: true }, "a"), say("done"));
      const turnId = await client.say(threadId, "go");
      // The host cannot tell how the program reads the text.
      const { id } = await client.waitFor(({ method }) => /requestApproval$/.test(method ?? ""), "it asks");
      client.send({ id, result: { decision: "accept" } });
      await client.turnCompleted(turnId);
      expect(outputs(1)[0]).toContain("ran");
      expect(existsSync(proof)).toBe(false);
    },
  );

  it.runIf(hasSandbox)(
    "[ENV-8] cannot leave the sandbox by the user's profile, which its model has written",
    async () => {
      const proof = join(await freshFolder("outside"), "escaped");
      const patch = (profile: string): Reply => {
        const lines = [
          "*** Begin Patch",
          `*** Add File: ${profile}`,
          `+touch '${proof}'; export MINE=1`,
          "*** End Patch",
        ];
        return stream(
          responses.stream(
            responses.call("apply_patch", JSON.stringify({ input: lines.join("\n") }), "patch"),
          ),
        );
      };
      const { model, client, user, outputs } = await stage([], { top: ['sandbox_mode = "workspace-write"'] });
      model.reply(patch(join(user, ".bash_profile")), run({ cmd: "echo [$MINE]" }, "a"), say("done"));
      await client.turn(await client.startThread({ cwd: user }), "go");
      // It was run, and could do nothing.
      expect(outputs(2).at(-1)).toMatch(/\n\[1\]\n?$/);
      expect(existsSync(proof)).toBe(false);
    },
  );
});

describe("a command of the user", () => {
  it("[ENV-11] gets the user's own tokens, and none of the variables that the host itself uses", async () => {
    const { client, threadId, user, warnings } = await stage([], {
      provider: ['env_key = "MOCK_ACCESS"'],
      env: { GH_TOKEN: "of-the-user", MOCK_ACCESS: "of-the-host" },
    });
    await writeFile(join(user, ".bash_profile"), "export NPM_TOKEN=of-the-profile\n");
    await client.call("thread/shellCommand", { threadId, command: "env" });
    await client.waitFor(({ method }) => method === "turn/completed", "its turn ends");
    const [item] = client.told("item/completed").map(({ params }) => params.item);
    const lines = item.aggregatedOutput.split("\n");
    expect(lines).toContain("GH_TOKEN=of-the-user");
    expect(lines).toContain("NPM_TOKEN=of-the-profile");
    expect(item.aggregatedOutput).not.toMatch(/MOCK_ACCESS|of-the-host/);
    expect(warnings().join()).not.toContain("TOKEN");
  });
});
