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
  offered,
  outputs,
  type RapStage,
  rapStage,
  SOCKET,
  type StageOptions,
  say,
} from "../support/rap-stage.ts";
import { FakeToolServer, postBack } from "../support/tool-server.ts";

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
  it("is answered though its server, the only one, is not configured any more", async () => {
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

  it("can not ask the user any more if its server is gone: that is told once, and its result is taken", async () => {
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

describe("a subscription whose host is restarted", () => {
  it("goes on though its server is not configured any more, and can be ended by the model", async () => {
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
