// What tool servers have of threads outlives the host, whatever the configuration is by then.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { responses } from "../support/mock-model.ts";
import {
  acknowledged,
  answer,
  call,
  EXPERIMENTAL,
  journalOf,
  offered,
  outputs,
  type RapStage,
  rapStage,
  SOCKET,
  type StageOptions,
  say,
} from "../support/rap-stage.ts";
import { FakeToolServer, hang, ok, postBack } from "../support/tool-server.ts";

const listening = ({ msg }: { msg?: unknown }) => msg === "listening for tool servers";

/** A call that waits at a server of the name `desk`. */
async function waiting(desk: FakeToolServer, options: StageOptions) {
  const stage = await rapStage([call(responses.call("look", "{}")), say("Seen")], options);
  await stage.client.say(stage.threadId, "look");
  const heard = await desk.next("/invoke");
  await acknowledged(stage);
  return { ...stage, heard };
}

/** The host ends; the next one starts when the configuration was changed. */
async function restart(stage: RapStage, change: (config: string) => string = (same) => same) {
  stage.host.signal("SIGTERM");
  await stage.host.exited;
  const path = join(stage.home, "config.toml");
  await writeFile(path, change(await readFile(path, "utf8")));
  return spawnHost({ home: stage.home, args: SOCKET });
}

const withoutDesk = (config: string) => config.replace(/\[rap_servers\.desk\]\nurl = "[^"]*"\n?/, "");

/** Waits until the thread's turn has ended, in a host that has just started. */
async function ended(host: HostProcess, threadId: string): Promise<void> {
  const client = await host.join(undefined, EXPERIMENTAL);
  await client.call("thread/resume", { threadId });
  await eventually(async () => {
    const { thread } = await client.call("thread/read", { threadId });
    return thread.status.type === "idle";
  }, "the turn has ended");
}

describe("a call that waits while its host is restarted", () => {
  it("is answered although its server, the only one, is no longer configured", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    const stage = await waiting(desk, { servers: { desk } });
    const host = await restart(stage, withoutDesk);
    await host.logged(listening);
    expect(await answer(stage.heard, "It rains.")).toBe(200);
    await ended(host, stage.threadId);
    expect(outputs(stage.model, 1)).toEqual(["It rains."]);
  });

  it("is answered though only its thread has the server", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    const params = { toolServers: { desk: { url: desk.url } } };
    const stage = await waiting(desk, { servers: {}, params });
    const host = await restart(stage);
    await host.logged(listening);
    expect(await answer(stage.heard, "It rains.")).toBe(200);
    await ended(host, stage.threadId);
    expect(outputs(stage.model, 1)).toEqual(["It rains."]);
  });

  it("cannot ask the user if its server is gone: that is warned of once, and its result is accepted", async () => {
    const other = await FakeToolServer.start({ roll: {} });
    const desk = await FakeToolServer.start({ look: {} });
    const stage = await waiting(desk, { servers: { desk, other } });
    const host = await restart(stage, withoutDesk);
    await host.logged(listening);
    const { callback_url, id, group_id } = stage.heard.body;
    const choice = { type: "user_choice", group_id, id, prompt: "Really?", choices: ["y", "n"], default: 0 };
    expect(await postBack(callback_url, { ...choice, response_url: `${desk.url}/answer` })).toBe(410);
    expect(await answer(stage.heard, "It rains.")).toBe(200);
    await ended(host, stage.threadId);
  });
});

describe("a call whose host is killed before it is acknowledged", () => {
  /** The server has the call, and its host never hears so. */
  async function killed(options: Omit<StageOptions, "servers"> & { readonly annotations?: object } = {}) {
    const desk = await FakeToolServer.start({ look: { annotations: options.annotations ?? {} } });
    desk.on.set("/invoke", hang);
    const stage = await rapStage([call(responses.call("look", "{}")), say("Seen")], {
      ...options,
      servers: { desk },
    });
    await stage.client.say(stage.threadId, "look");
    const heard = await desk.next("/invoke");
    await stage.host.kill();
    desk.on.set("/invoke", ok);
    expect((await journalOf(stage)).text).not.toContain('"toolWaiting"');
    return { ...stage, desk, heard };
  }

  it("[RAPR-51] goes on when its result comes, and is not sent again", async () => {
    const stage = await killed();
    const { home, threadId, desk, heard, model } = stage;
    await expect(answer(heard, "nobody is there")).rejects.toThrow();
    const host = await spawnHost({ home, args: SOCKET });
    await host.logged(listening);
    expect(await answer(heard, "It rains.")).toBe(200);
    await ended(host, threadId);
    expect(outputs(model, 1)).toEqual(["It rains."]);
    expect(desk.at("/invoke")).toHaveLength(1);
  });

  it("[RAPR-51] waits over further restarts, for no longer than its deadline", async () => {
    const stage = await killed({ lines: ["call_deadline_secs = 5"] });
    const { home, threadId, desk, heard, model } = stage;
    const parked = await spawnHost({ home, args: SOCKET });
    await parked.logged(listening);
    parked.signal("SIGTERM");
    await parked.exited;
    const host = await spawnHost({ home, args: SOCKET });
    await ended(host, threadId);
    expect(outputs(model, 1)).toEqual([expect.stringMatching(/^Error: .*its effect is not known/)]);
    const { body } = await desk.next("/cancel_tool_call");
    expect(body).toEqual({ thread_id: threadId, tool_call_id: heard.body.id });
    expect(await answer(heard, "too late")).toBe(200);
    expect(desk.at("/invoke")).toHaveLength(1);
    expect(model.asked).toHaveLength(2);
  });

  it("[RAPR-52] is sent again with the same id if its tool is idempotent", async () => {
    const { home, threadId, desk, heard, model } = await killed({ annotations: { idempotent: true } });
    const host = await spawnHost({ home, args: SOCKET });
    const again = await desk.next("/invoke", 2);
    expect(again.body).toEqual(heard.body);
    expect(await answer(again, "It rains.")).toBe(200);
    await ended(host, threadId);
    expect(outputs(model, 1)).toEqual(["It rains."]);
  });
});

describe("a subscription whose host is restarted", () => {
  it("goes on although its server is no longer configured, and the model can end it", async () => {
    const server = await FakeToolServer.start({ look: {} });
    const stage = await rapStage([call(responses.call("look", "{}")), say("Seen")], {
      servers: { desk: server },
    });
    const turnId = await stage.client.say(stage.threadId, "look");
    const heard = await server.next("/invoke");
    expect(await answer(heard, "Subscribed", { subscription: true })).toBe(200);
    await stage.client.turnCompleted(turnId);
    const host = await restart(stage, withoutDesk);
    await host.logged(listening);
    stage.model.reply(say("Noted"));
    const { callback_url, id: tool_call_id, group_id } = heard.body;
    const event = {
      type: "subscription_event",
      group_id,
      tool_call_id,
      text: "It snows.",
      associative: true,
    };
    expect(await postBack(callback_url, event)).toBe(200);
    await eventually(() => stage.model.asked.length === 3, "the model is shown the event");
    expect(outputs(stage.model, 2).at(-1)).toBe("It snows.");
    expect(offered(stage.model, 2, "look", "cancel_subscription")).toBe("cancel_subscription");
  });
});
