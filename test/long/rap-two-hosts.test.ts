// Hosts on one home share the place where tool servers post back, and leave it to each other.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { responses } from "../support/mock-model.ts";
import {
  acknowledged,
  answer,
  call,
  EXPERIMENTAL,
  outputs,
  rapStage,
  SOCKET,
  say,
} from "../support/rap-stage.ts";
import { FakeToolServer, type Heard, postBack } from "../support/tool-server.ts";

const look = () => call(responses.call("look", "{}"));

/** A host, and a call of it that waits. */
async function waiting(rap: readonly string[] = []) {
  const server = await FakeToolServer.start({ look: {} });
  const stage = await rapStage([look(), say("Seen")], { servers: { desk: server }, rap });
  const turnId = await stage.client.say(stage.threadId, "look");
  const heard = await server.next("/invoke");
  await acknowledged(stage);
  return { ...stage, server, turnId, heard };
}

/** A further host on the same home, and the port that it listens on. */
async function another(home: string): Promise<{ host: HostProcess; port: number }> {
  const host = await spawnHost({ home, args: SOCKET });
  const { port } = await host.logged(({ msg }) => msg === "listening for tool servers");
  return { host, port: port as number };
}

const at = (port: number, { body }: Heard) =>
  Object.assign(new URL(body.callback_url as string), { port: String(port) }).href;
const result = ({ body }: Heard, text: string) => ({
  type: "tool_result",
  group_id: body.group_id,
  id: body.id,
  text,
});
const takenOver = ({ msg }: { msg?: unknown }) => msg === "took over a callback port for tool servers";

const places: [string, () => Promise<readonly string[]>][] = [
  ["a port that was chosen", async () => []],
  ["a port that is configured", async () => [`callback_listen = "127.0.0.1:${await freePort()}"`]],
];

describe.each(places)("two hosts on one home with %s", (_, rap) => {
  it("pass callbacks on to the host that has the thread, and to no other", async () => {
    const { client, turnId, heard, home, host, model } = await waiting(await rap());
    const { port } = await another(home);
    expect(port).not.toBe(Number(new URL(heard.body.callback_url).port));
    // As a host would be known that is gone, and whose port someone else has by now.
    const stranger = await FakeToolServer.start();
    const path = join(home, "rap_callbacks.json");
    const kept = JSON.parse(await readFile(path, "utf8"));
    kept.forwards.unshift(Number(new URL(stranger.url).port));
    await writeFile(path, JSON.stringify(kept));
    expect(await postBack(at(port, heard), { ...result(heard, "x"), id: "another" })).toBe(400);
    expect(await postBack(at(port, heard), result(heard, "by way of the other"))).toBe(200);
    await client.turnCompleted(turnId);
    expect(outputs(model, 1)).toEqual(["by way of the other"]);
    expect(stranger.heard).toEqual([]);
    await host.kill();
  });

  it("can both call tools, also for ephemeral threads", async () => {
    const { home, cwd, server, heard, model } = await waiting(await rap());
    const { host } = await another(home);
    const client = await host.join(undefined, EXPERIMENTAL);
    for (const [nth, ephemeral] of [false, true].entries()) {
      model.reply(look(), say("Seen too"));
      const threadId = await client.startThread({ cwd, ephemeral });
      const turnId = await client.say(threadId, "look");
      const other = await server.next("/invoke", nth + 2);
      expect(new URL(other.body.callback_url).port).toBe(new URL(heard.body.callback_url).port);
      expect(await answer(other, "seen by the other")).toBe(200);
      expect((await client.turnCompleted(turnId)).params.turn.status).toBe("completed");
      expect(await answer(other, "again")).toBe(200);
      await client.call("thread/unload", { threadId });
      expect(await answer(other, "late")).toBe(410);
    }
  });

  it.each(["SIGTERM", "SIGKILL"] as const)("leave the port to the one that stays (%s)", async (signal) => {
    const { home, host, heard, model } = await waiting(await rap());
    const { host: next } = await another(home);
    host.signal(signal);
    await host.exited;
    await next.logged(takenOver);
    expect(await answer(heard, "after all")).toBe(200);
    await eventually(() => model.asked.length === 2, "the model is told");
    expect(outputs(model, 1)).toEqual(["after all"]);
  });
});

describe("a port for tool servers that another program has", () => {
  it("is bound when it is free, and no call is made before", async () => {
    const stranger = await FakeToolServer.start();
    const server = await FakeToolServer.start({ look: {} });
    const rap = [`callback_listen = "${new URL(stranger.url).host}"`];
    const replies = [look(), say("Not seen"), look(), say("Seen")];
    const { client, threadId, model, host } = await rapStage(replies, { servers: { desk: server }, rap });
    await client.turn(threadId, "look");
    expect(outputs(model, 1)).toEqual([
      expect.stringMatching(/callback port for tool servers, \d+, is in use by another program/),
    ]);
    expect(server.at("/invoke")).toEqual([]);
    await stranger.close();
    await host.logged(({ msg }) => msg === "listening for tool servers");
    const turnId = await client.say(threadId, "look");
    expect(await answer(await server.next("/invoke"), "here")).toBe(200);
    await client.turnCompleted(turnId);
    expect(outputs(model, 3).at(-1)).toBe("here");
  });
});
