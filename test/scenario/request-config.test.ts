// The `config` of a request as a layer of its own, on the real program with a local model.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { spawnHost } from "../support/host-process.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";

async function stage(top: readonly string[] = [], required = "") {
  const model = await MockModel.start(...Array.from({ length: 6 }, () => say("done")));
  const { home, cwd } = await modelHome("responses", model.url, { top });
  await writeFile(join(home, "requirements.toml"), required);
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join(undefined, { experimentalApi: true });
  /** The web search that the model was offered last; undefined if there was none. */
  const search = (): Record<string, unknown> | undefined =>
    model.asked.at(-1)!.body.tools.find(({ type }: { type: string }) => type === "web_search");
  return { model, home, cwd, client, search };
}

describe("the config of a request", () => {
  it("[LAYER-9] sets the thread's web search, summary prompt and review model, also for the next load", async () => {
    const { model, cwd, client, search } = await stage([
      'web_search = "live"',
      'compact_prompt = "CONFIGURED"',
      'review_model = "configured-reviewer"',
    ]);
    const config = { web_search: "disabled", compact_prompt: "ASKED", review_model: "asked-reviewer" };
    const threadId = await client.startThread({ cwd, config });
    await client.turn(threadId, "Hello!");
    expect(search()).toBeUndefined();
    await client.call("thread/unload", { threadId });
    await client.call("thread/resume", { threadId });
    await client.turn(threadId, "Hello again!");
    expect(search()).toBeUndefined();
    const from = client.frames.length;
    await client.call("thread/compact/start", { threadId });
    await client.waitFor(({ method }) => method === "turn/completed", "the summary", from);
    expect(JSON.stringify(model.asked.at(-1)!.body.input.at(-1))).toContain("ASKED");
    const target = { type: "custom", instructions: "Look." };
    const { turn } = await client.call("review/start", { threadId, target });
    await client.turnCompleted(turn.id);
    expect(model.asked.at(-1)!.body.model).toBe("asked-reviewer");
    await client.turn(await client.startThread({ cwd }), "Hello!");
    expect(search()).toMatchObject({ external_web_access: true });
    expect(client.told("configWarning")).toEqual([]);
  });

  it("[REQ-2] cannot set a web search that is not allowed, now or when the thread is loaded again", async () => {
    const { home, cwd, client, search } = await stage();
    const threadId = await client.startThread({ cwd, config: { web_search: "live" } });
    await client.turn(threadId, "Hello!");
    expect(search()).toMatchObject({ external_web_access: true });
    await client.call("thread/unload", { threadId });
    await writeFile(join(home, "requirements.toml"), 'allowed_web_search_modes = ["cached"]\n');
    await client.call("thread/resume", { threadId });
    await client.turn(threadId, "Hello again!");
    expect(search()).toBeUndefined();
    const { data } = await client.refusal("thread/start", { cwd, config: { web_search: "live" } });
    expect(data.code).toBe("webSearchModeNotAllowed");
  });

  it("[KEYS-8] names the keys that have no effect in it, once", async () => {
    const { cwd, client } = await stage();
    const config = {
      "features.goals": false,
      "features.apps": true,
      shell_environment_policy: { inherit: "none" },
      project_doc_max_bytes: 1,
      tui: { theme: "dark" },
      model_verbosity: "low",
    };
    await client.call("thread/start", { cwd, config });
    await client.call("thread/start", { cwd, config });
    expect(client.told("configWarning").map(({ params }) => params.summary)).toEqual(
      ["features", "shell_environment_policy", "project_doc_max_bytes"].map(
        (key) => `config of thread/start: \`${key}\` has no effect in a request`,
      ),
    );
  });
});
