// What tool servers ask of the user: choices and authorizations.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnHost } from "../support/host-process.ts";
import { responses } from "../support/mock-model.ts";
import {
  acknowledged,
  answer,
  asked,
  call,
  EXPERIMENTAL,
  outputs,
  rapStage,
  SOCKET,
  type StageOptions,
  say,
} from "../support/rap-stage.ts";
import { FakeToolServer, type Heard, ok, postBack, status } from "../support/tool-server.ts";

const ANSWERS = "/user_choice_response/token";

async function waiting(options: Partial<StageOptions> = {}) {
  const server = await FakeToolServer.start({ deploy: {} });
  server.on.set(ANSWERS, ok);
  const stage = await rapStage([call(responses.call("deploy", "{}", "call_1")), say("Done")], {
    servers: { desk: server },
    ...options,
  });
  const turnId = await stage.client.say(stage.threadId, "deploy");
  const heard = await server.next("/invoke");
  await acknowledged(stage);
  return { ...stage, server, turnId, heard };
}

const choice = ({ body }: Heard, server: FakeToolServer, more: object = {}, key?: string) =>
  postBack(
    body.callback_url,
    {
      type: "user_choice",
      group_id: body.group_id,
      id: body.id,
      prompt: "Where to?",
      choices: ["Production", "Staging", "Nowhere"],
      default: 2,
      response_url: `${server.url}${ANSWERS}`,
      ...more,
    },
    key === undefined ? {} : { "idempotency-key": key },
  );

const authorize = ({ body }: Heard, auth_url: string) =>
  postBack(body.callback_url, { type: "oauth", group_id: body.group_id, id: body.id, auth_url });

/** All that is in the home. A file that the host removes meanwhile counts as empty. */
async function everythingIn(home: string): Promise<string> {
  const names = await readdir(home, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && !/sqlite|lock$/.test(entry.name));
  const texts = await Promise.all(
    files.map(({ parentPath, name }) =>
      readFile(join(parentPath, name), "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
        return "";
      }),
    ),
  );
  return texts.join("\n");
}

describe("a choice", () => {
  it("[RAPR-120] [RAPR-121] [RAPR-123] is shown, the call goes on waiting, and the answer goes to the server that asked", async () => {
    const { client, threadId, turnId, heard, server, model } = await waiting({
      lines: ['headers = { "x-key" = "k" }'],
    });
    expect(await choice(heard, server)).toBe(200);
    const { id, params } = await asked(client, "item/tool/requestUserInput");
    expect(params).toMatchObject({
      threadId,
      turnId,
      itemId: "call_1",
      questions: [
        {
          question: "Where to?",
          options: [{ label: "Production" }, { label: "Staging" }, { label: "Nowhere" }],
          isOther: false,
        },
      ],
    });
    const { thread } = await client.call("thread/read", { threadId });
    expect(thread.status).toEqual({ type: "active", activeFlags: ["waitingOnUserInput"] });
    // The same question is not asked again while it waits for its answer.
    expect(await choice(heard, server)).toBe(200);
    client.send({ id, result: { answers: { choice: { answers: ["Staging"] } } } });
    const { body, method, headers } = await server.next(ANSWERS);
    expect([method, headers["content-type"], headers["x-key"], body]).toEqual([
      "POST",
      "application/json",
      "k",
      { id: "call_1", selected: 1 },
    ]);
    expect(await answer(heard, "Deployed to staging.")).toBe(200);
    await client.turnCompleted(turnId);
    expect(outputs(model, 1)).toEqual(["Deployed to staging."]);
    expect(client.count("item/tool/requestUserInput")).toBe(1);
    expect(server.at(ANSWERS)).toHaveLength(1);
    expect(server.at("/invoke")).toHaveLength(1);
  });

  it("is a new one after its answer, and with another prompt, call or key, although all answers go to one URL", async () => {
    const { client, threadId, turnId, heard, server, model } = await waiting();
    const told: number[] = [];
    const choose = async (of: Heard, more: object, label: string, key?: string) => {
      const nth = told.length;
      expect(await choice(of, server, more, key)).toBe(200);
      expect(await choice(of, server, more, key)).toBe(200);
      await client.until(() => client.count("item/tool/requestUserInput") === nth + 1, "the question");
      const { id } = client.told("item/tool/requestUserInput")[nth]!;
      client.send({ id, result: { answers: { choice: { answers: [label] } } } });
      told.push((await server.next(ANSWERS, nth + 1)).body.selected);
    };
    await choose(heard, {}, "Production");
    await choose(heard, {}, "Nowhere");
    await choose(heard, { prompt: "And then?" }, "Staging");
    await choose(heard, { choices: ["Yes", "No"], default: 0 }, "No");
    await choose(heard, {}, "Nowhere", "once-more");
    await answer(heard, "Deployed.");
    await client.turnCompleted(turnId);
    model.reply(call(responses.call("deploy", "{}", "call_2")), say("Done"));
    await client.say(threadId, "again");
    await choose(await server.next("/invoke", 2), {}, "Staging");
    expect(told).toEqual([0, 2, 1, 1, 2, 1]);
  });

  it("[RAPR-122] is the default if the user selects nothing, or no client is connected", async () => {
    const { client, heard, server, turnId } = await waiting({ top: ["server_request_deadline_secs = 1"] });
    expect(await choice(heard, server)).toBe(200);
    const first = await asked(client, "item/tool/requestUserInput");
    client.send({ id: first.id, result: { answers: {} } });
    expect((await server.next(ANSWERS)).body).toEqual({ id: "call_1", selected: 2 });
    const second = `${server.url}${ANSWERS}2`;
    server.on.set(`${ANSWERS}2`, ok);
    expect(await choice(heard, server, { response_url: second, default: 0 })).toBe(200);
    await client.until(() => client.count("item/tool/requestUserInput") === 2, "the second question");
    await client.close();
    expect((await server.next(`${ANSWERS}2`)).body).toEqual({ id: "call_1", selected: 0 });
    expect(turnId).toBeDefined();
  });

  it("reaches the server that asked over failures and kills of the host", async () => {
    const { client, heard, server, home, host } = await waiting();
    server.on.set(ANSWERS, status(503));
    expect(await choice(heard, server)).toBe(200);
    const { id } = await asked(client, "item/tool/requestUserInput");
    client.send({ id, result: { answers: { choice: { answers: ["Production"] } } } });
    await server.next(ANSWERS);
    await host.kill();
    const before = server.at(ANSWERS).length;
    server.on.set(ANSWERS, ok);
    const next = await spawnHost({ home, args: SOCKET });
    await eventually(() => server.at(ANSWERS).length > before, "the answer comes again");
    expect(new Set(server.at(ANSWERS).map(({ body }) => body.selected))).toEqual(new Set([0]));
    await next.logged(({ msg, outcome }) => /a user's choice/.test(String(msg)) && outcome === "accepted");
  });

  it("is refused if its answer would go to another server", async () => {
    const { client, heard, server, turnId } = await waiting();
    const other = await FakeToolServer.start();
    for (const response_url of [
      `${other.url}${ANSWERS}`,
      "http://169.254.169.254/latest/meta-data",
      `http://user:secret@${new URL(server.url).host}${ANSWERS}`,
      "file:///etc/passwd",
    ]) {
      expect(await choice(heard, server, { response_url })).toBe(400);
    }
    expect(await choice(heard, server, { default: 3 })).toBe(400);
    expect(await answer(heard, "Never mind.")).toBe(200);
    await client.turnCompleted(turnId);
    expect(client.count("item/tool/requestUserInput")).toBe(0);
    expect(other.heard).toEqual([]);
  });

  it("is withdrawn when the call ends or is cancelled", async () => {
    const { client, heard, server, turnId, threadId, model } = await waiting();
    expect(await choice(heard, server)).toBe(200);
    const { id } = await asked(client, "item/tool/requestUserInput");
    expect(await answer(heard, "I did not need to know.")).toBe(200);
    await client.turnCompleted(turnId);
    expect(client.told("serverRequest/resolved")[0]!.params).toMatchObject({ threadId, requestId: id });
    model.reply(call(responses.call("deploy", "{}", "call_2")), say("ok"));
    const second = await client.say(threadId, "again");
    const again = await server.next("/invoke", 2);
    expect(await choice(again, server, { response_url: `${server.url}${ANSWERS}/b` })).toBe(200);
    await client.until(() => client.count("item/tool/requestUserInput") === 2, "asked again");
    await client.call("turn/interrupt", { threadId, turnId: second });
    await client.turnCompleted(second);
    expect(client.count("serverRequest/resolved")).toBe(2);
    expect(server.at(ANSWERS)).toEqual([]);
  });

  it("can be asked for a call that the model no longer waits for", async () => {
    const { client, heard, server, threadId, turnId, model } = await waiting();
    model.reply(say("It runs"));
    await client.call("turn/steer", {
      threadId,
      expectedTurnId: turnId,
      input: [{ type: "text", text: "Go on" }],
    });
    await client.turnCompleted(turnId);
    expect(await choice(heard, server)).toBe(200);
    const { id } = await asked(client, "item/tool/requestUserInput");
    await client.turn(threadId, "another turn, meanwhile");
    client.send({ id, result: { answers: { choice: { answers: ["Production"] } } } });
    expect((await server.next(ANSWERS)).body).toEqual({ id: "call_1", selected: 0 });
    const from = client.frames.length;
    expect(await answer(heard, "Deployed.")).toBe(200);
    await client.about(threadId, "turn/completed", from);
  });
});

describe("an authorization", () => {
  const URL_1 = "https://login.example.com/authorize?state=s3cret-one";

  it("[RAPR-110] [RAPR-111] [RAPR-112] [RAPR-113] is shown as a URL to visit, which is in no journal", async () => {
    const { client, threadId, turnId, heard, server, model, home } = await waiting();
    expect(await authorize(heard, "http://login.example.com/authorize")).toBe(400);
    expect(await authorize(heard, "javascript:alert(1)")).toBe(400);
    expect(await authorize(heard, URL_1)).toBe(200);
    const { id, params } = await asked(client, "mcpServer/elicitation/request");
    expect(params).toMatchObject({ threadId, turnId, serverName: "desk", mode: "url", url: URL_1 });
    client.send({ id, result: { action: "accept", content: null } });
    await client.about(threadId, "serverRequest/resolved");
    await eventually(async () => !(await everythingIn(home)).includes("s3cret"), "no trace of it is left");
    expect(await answer(heard, "Deployed.")).toBe(200);
    await client.turnCompleted(turnId);
    expect(outputs(model, 1)).toEqual(["Deployed."]);
    expect(JSON.stringify(model.asked[1]!.body.input)).toMatch(/deploy needs the user's authorization/);
    expect(JSON.stringify(model.asked[1]!.body)).not.toMatch(/s3cret/);
    expect(server.at("/invoke")).toHaveLength(1);
  });

  it("is asked again of new subscribers, with the latest URL, also after a kill of the host", async () => {
    const { client, threadId, heard, home, host } = await waiting();
    expect(await authorize(heard, URL_1)).toBe(200);
    const first = await asked(client, "mcpServer/elicitation/request");
    expect(await authorize(heard, "https://login.example.com/authorize?state=s3cret-two")).toBe(200);
    await client.until(() => client.count("mcpServer/elicitation/request") === 2, "the second address");
    expect(client.told("serverRequest/resolved")[0]!.params.requestId).toBe(first.id);
    const second = client.told("mcpServer/elicitation/request")[1]!;
    await host.kill();
    const next = await spawnHost({ home, args: SOCKET });
    const back = await next.join(undefined, EXPERIMENTAL);
    await back.call("thread/resume", { threadId });
    const again = await asked(back, "mcpServer/elicitation/request");
    expect([again.id, again.params.url]).toEqual([second.id, second.params.url]);
    const journals = (await everythingIn(join(home, "sessions"))) + (await everythingIn(join(home, "live")));
    expect(journals).not.toMatch(/s3cret/);
    expect(await answer(heard, "Deployed.")).toBe(200);
    await eventually(async () => !(await everythingIn(home)).includes("s3cret"), "no trace of it is left");
    expect(next.stderr).not.toMatch(/s3cret/);
  });
});
