// Features that can be switched, on the real program.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder, markRepository } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel } from "../support/mock-model.ts";
import { callTool, say } from "../support/model-replies.ts";

const ASK = "default_mode_request_user_input";

async function stage(top = "") {
  const model = await MockModel.start(say("done"));
  const home = await freshFolder();
  const provider = `model_provider = "mock"\nmodel = "mock-model"\n[model_providers.mock]\nname = "Mock"\nbase_url = "${model.url}"\n`;
  const file = join(home, "config.toml");
  await writeFile(file, `${top}${provider}`);
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join(undefined, { experimentalApi: true });
  const enabled = async (params: object = {}): Promise<unknown> => {
    const { data } = await client.call("experimentalFeature/list", params);
    return data.find(({ name }: { name: string }) => name === ASK).enabled;
  };
  return { model, home, file, provider, client, enabled };
}

const QUESTION = {
  questions: [
    {
      id: "drink",
      header: "Drink",
      question: "Tea or coffee?",
      options: [
        { label: "Tea", description: "Hot." },
        { label: "Coffee", description: "Hot." },
      ],
    },
  ],
};

let calls = 0;
const asks = () => callTool("request_user_input", QUESTION, `call_${++calls}`);

describe("features", () => {
  it("[FEAT-1] are listed in pages, with their state for a thread and for new threads", async () => {
    const { client, home, file, provider, enabled } = await stage();
    const { data, nextCursor } = await client.call("experimentalFeature/list", { limit: 1 });
    expect(data).toEqual([
      {
        name: ASK,
        stage: "beta",
        displayName: expect.any(String),
        description: expect.any(String),
        announcement: null,
        enabled: false,
        defaultEnabled: false,
      },
    ]);
    const rest = await client.call("experimentalFeature/list", { cursor: nextCursor });
    expect(rest.data.map(({ name }: { name: string }) => name)).not.toContain(ASK);
    const threadId = "00000000-0000-4000-8000-000000000001";
    expect((await client.refusal("experimentalFeature/list", { threadId })).message).toContain(threadId);
    expect((await client.refusal("experimentalFeature/list", { cursor: "x" })).message).toContain("x");
    await writeFile(file, `features.${ASK} = true\n${provider}`);
    expect(await enabled()).toBe(true);

    // A project can switch one for its own threads.
    const project = join(home, "project");
    markRepository(project);
    await mkdir(join(project, ".codex"));
    await writeFile(join(project, ".codex", "config.toml"), `[features]\n${ASK} = false\n`);
    const value = "trusted";
    const keyPath = `projects."${project}".trust_level`;
    await client.call("config/value/write", { keyPath, value, mergeStrategy: "replace" });
    const { thread } = await client.call("thread/start", { cwd: project });
    expect([await enabled({ threadId: thread.id }), await enabled()]).toEqual([false, true]);
  });

  it("[FEAT-2] can be switched while the host runs, unless they are configured", async () => {
    const { client, file, home, provider, enabled } = await stage();
    const set = (enablement: object) => client.call("experimentalFeature/enablement/set", { enablement });
    expect(await set({ [ASK]: true, network_proxy: true, nonsense: true })).toEqual({
      enablement: { [ASK]: true },
    });
    expect(await enabled()).toBe(true);
    expect((await client.call("config/read", {})).config.features).toEqual({ [ASK]: true });
    expect(await set({})).toEqual({ enablement: {} });
    expect(await enabled()).toBe(true);
    await writeFile(file, `features.${ASK} = false\n${provider}`);
    expect(await enabled()).toBe(false);
    expect((await client.call("config/read", {})).config.features).toEqual({ [ASK]: false });
    await writeFile(join(home, "requirements.toml"), `[features]\n${ASK} = true\n`);
    expect(await enabled()).toBe(true);
    const { data } = await client.refusal("experimentalFeature/enablement/set", {
      enablement: { [ASK]: false },
    });
    expect(data.code).toBe("featurePinned");
  });

  it("[FEAT-3] let models ask the user: in Plan mode, and in Default mode if that is switched on", async () => {
    const { client, model } = await stage();
    const answered = async (threadId: string, params: object): Promise<unknown> => {
      model.reply(asks(), say("done"));
      const input = [{ type: "text", text: "Ask me" }];
      const { turn } = await client.call("turn/start", { threadId, input, ...params });
      await client.turnCompleted(turn.id);
      const outputs = model.asked
        .at(-1)!
        .body.input.filter(({ type }: { type: string }) => type === "function_call_output");
      return outputs.at(-1).output;
    };
    const threadId = await client.startThread({});
    expect(await answered(threadId, {})).toBe("request_user_input is unavailable in Default mode");
    expect(client.told("item/tool/requestUserInput")).toEqual([]);
    const answering = (async () => {
      for (let count = 1; count <= 2; count++) {
        await client.until(() => client.told("item/tool/requestUserInput").length === count, "a question");
        const { id } = client.told("item/tool/requestUserInput").at(-1)!;
        client.send({ id, result: { answers: { drink: { answers: ["Tea"] } } } });
      }
    })();
    const settings = { model: "mock-model", reasoning_effort: null, developer_instructions: null };
    const plan = { collaborationMode: { mode: "plan", settings } };
    expect(await answered(threadId, plan)).toContain("Tea");
    await client.call("experimentalFeature/enablement/set", { enablement: { [ASK]: true } });
    const normal = { collaborationMode: { mode: "default", settings } };
    expect(await answered(threadId, normal)).toContain("Tea");
    await answering;
  });

  it("[FEAT-4] that are listed have an effect: without one, models lack its tools", async () => {
    const { client, model, home, file, provider } = await stage('sandbox_mode = "workspace-write"\n');
    const { data } = await client.call("experimentalFeature/list", {});
    const listed = data.map(({ name, enabled, stage: at }: Record<string, unknown>) => [name, enabled, at]);
    const tools: Record<string, string> = {
      goals: "create_goal",
      multi_agent: "spawn_agent",
      request_permissions_tool: "request_permissions",
      shell_tool: "exec_command",
      view_image: "view_image",
    };
    expect(listed).toEqual([
      [ASK, false, "beta"],
      ["network_proxy", false, "beta"],
      ...[...Object.keys(tools), "hooks"].sort().map((name) => [name, true, "stable"]),
    ]);
    const offered = async (): Promise<string[]> => {
      await client.turn(await client.startThread({ cwd: home }), "Hello!");
      const named = JSON.stringify(model.asked.at(-1)!.body.tools);
      return Object.values(tools).filter((name) => named.includes(`"${name}"`));
    };
    expect(await offered()).toEqual(Object.values(tools));
    for (const [name, tool] of Object.entries(tools)) {
      const set = (enabled: boolean) =>
        client.call("experimentalFeature/enablement/set", { enablement: { [name]: enabled } });
      expect(await set(false)).toEqual({ enablement: { [name]: false } });
      expect(await offered()).toEqual(Object.values(tools).filter((one) => one !== tool));
      await set(true);
    }
    const loaded = await client.startThread({});
    await writeFile(file, `features.goals = false\nfeatures.collab = false\n${provider}`);
    expect(await offered()).toEqual(["request_permissions", "exec_command", "view_image"]);
    const threadId = await client.startThread({});
    const { data: why } = await client.refusal("thread/goal/set", { threadId, objective: "Win." });
    expect(why.code).toBe("featureOff");
    // A loaded thread keeps what it was loaded with.
    await client.call("thread/goal/set", { threadId: loaded, objective: "Win." });
  });

  it("[FEAT-4] `hooks` turns hooks on and off", async () => {
    const { client, home, file, provider } = await stage('sandbox_mode = "danger-full-access"\n');
    const hooks = { UserPromptSubmit: [{ hooks: [{ type: "command", command: "echo once >> ran" }] }] };
    await writeFile(join(home, "hooks.json"), JSON.stringify({ hooks }));
    const cwd = await freshFolder("cwd");
    const turn = async () =>
      client.turn(await client.startThread({ cwd, sandbox: "danger-full-access" }), "Hello!");
    await turn();
    await writeFile(file, `features.codex_hooks = false\n${provider}`);
    await turn();
    expect(await readFile(join(cwd, "ran"), "utf8")).toBe("once\n");
  });
});
