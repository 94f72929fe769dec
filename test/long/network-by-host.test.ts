// Commands that have the network by host: on the real program, with real processes and a local model.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { hasLocalName, localName } from "../support/local-name.ts";
import { MockModel, type Reply, responses, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const say = (text: string): Reply => stream(responses.stream(responses.message(text)));
const run = (cmd: string, callId = "call_1", more: object = {}): Reply =>
  stream(
    responses.stream(responses.call("exec_command", JSON.stringify({ login: false, cmd, ...more }), callId)),
  );

const METHOD = "item/commandExecution/requestApproval";
const { name = "", address = "" } = localName ?? {};

const PROFILE = [
  'default_permissions = "net"',
  "[permissions.net]",
  'extends = ":workspace"',
  "[permissions.net.network]",
  "enabled = true",
  "[permissions.net.network.domains]",
  `"${address}" = "allow"`,
];

let server: Server;
let port: number;
let served: number;

beforeEach(async () => {
  served = 0;
  server = createServer((_, reply) => {
    served++;
    reply.end("hello from outside\n");
  });
  await new Promise<void>((done) => server.listen(0, address, done));
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const curl = (path = ""): string => `curl -sS http://${name}:${port}/${path}`;

interface Stage {
  readonly model: MockModel;
  readonly host: HostProcess;
  readonly client: WireClient;
  readonly threadId: string;
  readonly cwd: string;
  readonly home: string;
}

async function stage(replies: readonly Reply[], kind: "stdio" | "ws" = "ws"): Promise<Stage> {
  const model = await MockModel.start(...replies);
  const { home, cwd } = await modelHome("responses", model.url, {
    top: ['approval_policy = "on-request"', ...PROFILE],
  });
  const env = { SHELL: "/bin/bash" };
  const capabilities = { experimentalApi: true };
  if (kind === "stdio") {
    const { host, client } = await stdioHost({ home, env, capabilities });
    return { model, host, client, threadId: await client.startThread({ cwd }), cwd, home };
  }
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"], env });
  const client = await host.join(undefined, capabilities);
  return { model, host, client, threadId: await client.startThread({ cwd }), cwd, home };
}

async function nextHost(home: string): Promise<{ host: HostProcess; client: WireClient }> {
  const host = await spawnHost({
    home,
    args: ["--listen", "ws://127.0.0.1:0"],
    env: { SHELL: "/bin/bash" },
  });
  return { host, client: await host.join(undefined, { experimentalApi: true }) };
}

/** What became of a turn, in short; where the status changes is free. */
function story(frames: readonly Received[]): string[] {
  return frames.flatMap(({ method, params }) => {
    if (method === METHOD) return ["asked"];
    if (method === "serverRequest/resolved") return ["resolved"];
    if (method === "turn/completed") return [`turn ${params.turn.status}`];
    return params?.item?.type === "commandExecution" ? [`${method} ${params.item.status}`] : [];
  });
}

function asked(client: WireClient, nth = 1): Promise<Received> {
  let seen = 0;
  return client.waitFor(({ method }) => method === METHOD && ++seen >= nth, "a question");
}

function outputOf(model: MockModel, nth = 1): string {
  const outputs = model.asked[nth]!.body.input.filter(
    ({ type }: { type: string }) => type === "function_call_output",
  );
  return outputs.at(-1).output;
}

const amend = (action: "allow" | "deny"): object => ({
  applyNetworkPolicyAmendment: { network_policy_amendment: { host: name, action } },
});

describe.runIf(hasSandbox && hasLocalName)("a command that connects to a host", () => {
  it.each(["stdio", "ws"] as const)(
    "[NETWORK-2] waits while one question is asked for all of its connections, and goes on when it is accepted (%s)",
    async (kind) => {
      const { model, client, threadId } = await stage(
        [run(`${curl("a")} & ${curl("b")} & wait; ${curl("c")}`), say("done")],
        kind,
      );
      const from = client.frames.length;
      const turnId = await client.say(threadId, "go");
      const question = await asked(client);
      expect(question.params).toEqual({
        kind: "command",
        threadId,
        turnId,
        itemId: "call_1",
        startedAtMs: expect.any(Number),
        approvalId: `network#http#${name}#${port}`,
        environmentId: "local",
        reason: `On port ${port}`,
        networkApprovalContext: { host: name, protocol: "http" },
        proposedNetworkPolicyAmendments: [
          { host: name, action: "allow" },
          { host: name, action: "deny" },
        ],
        availableDecisions: [
          "accept",
          "acceptForSession",
          amend("allow"),
          amend("deny"),
          "decline",
          "cancel",
        ],
      });
      expect(served).toBe(0);
      client.send({ id: question.id, result: { decision: "accept" } });
      await client.turnCompleted(turnId);
      expect(story(client.frames.slice(from))).toEqual([
        "item/started inProgress",
        "asked",
        "resolved",
        "item/completed completed",
        "turn completed",
      ]);
      expect(outputOf(model).match(/hello from outside/g)).toHaveLength(3);
    },
  );

  it("[NETWORK-3] is refused with a reason when it is declined, also when it tries again", async () => {
    const { model, client, threadId } = await stage([run(`${curl()}; ${curl()}`), say("understood")]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    client.send({ id: (await asked(client)).id, result: { decision: "decline" } });
    await client.turnCompleted(turnId);
    expect(story(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed completed",
      "turn completed",
    ]);
    expect(outputOf(model)).toMatch(
      /was refused: the user declined it[\s\S]*was refused: the user declined it/,
    );
    expect(served).toBe(0);
  });

  it("[NETWORK-3] is not asked about again when it was accepted for the session, also in the next host", async () => {
    const first = await stage([run(curl()), run(curl(), "call_2"), say("done")]);
    const turnId = await first.client.say(first.threadId, "go");
    first.client.send({ id: (await asked(first.client)).id, result: { decision: "acceptForSession" } });
    await first.client.turnCompleted(turnId);
    expect(first.client.count(METHOD)).toBe(1);
    await first.host.kill();
    first.model.reply(run(curl(), "call_3"), say("done"));
    const { host, client } = await nextHost(first.home);
    await client.call("thread/resume", { threadId: first.threadId });
    await client.turnCompleted(await client.say(first.threadId, "again"));
    expect(client.count(METHOD)).toBe(0);
    expect(served).toBe(3);

    const { threadId } = first;
    const { data } = await client.call("thread/grants/list", { threadId });
    expect(data).toMatchObject([
      {
        kind: "network",
        description: expect.stringMatching(`^Connect to ${name}:\\d+ by http$`),
        grantedAtMs: expect.any(Number),
      },
    ]);
    await client.call("thread/grants/revoke", { threadId, grantId: data[0].id });
    first.model.reply(run(curl(), "call_4"), say("done"));
    const last = await client.say(threadId, "once more");
    client.send({ id: (await asked(client)).id, result: { decision: "decline" } });
    await client.turnCompleted(last);
    expect(served).toBe(3);
    await host.kill();
  });

  it.each(["allow", "deny"] as const)(
    "[NETWORK-3] is not asked about by any thread when the answer was to %s it for good",
    async (action) => {
      const first = await stage([run(curl()), say("done")]);
      const turnId = await first.client.say(first.threadId, "go");
      first.client.send({ id: (await asked(first.client)).id, result: { decision: amend(action) } });
      await first.client.turnCompleted(turnId);
      const file = join(first.home, "rules", "default.rules");
      await eventually(() => existsSync(file), "the rules file");
      expect(await readFile(file, "utf8")).toBe(
        `network_rule(host="${name}", protocol="http", decision="${action}")\n`,
      );
      await first.host.kill();
      first.model.reply(run(curl(), "call_2"), say("done"));
      const { host, client } = await nextHost(first.home);
      const threadId = await client.startThread({ cwd: first.cwd });
      await client.turnCompleted(await client.say(threadId, "again"));
      expect(client.count(METHOD)).toBe(0);
      expect(served).toBe(action === "allow" ? 2 : 0);
      if (action === "deny")
        expect(outputOf(first.model, 3)).toContain(`A rule forbids connections to ${name}`);
      await host.kill();
    },
  );

  it("[NETWORK-3] [NETWORK-4] vanishes for a second client when the first one answers", async () => {
    const { host, client, threadId } = await stage([run(curl()), say("done")]);
    const other = await host.join(undefined, { experimentalApi: true });
    await other.call("thread/resume", { threadId });
    const turnId = await client.say(threadId, "go");
    const [question, same] = await Promise.all([asked(client), asked(other)]);
    expect(same).toMatchObject({ id: question.id, params: question.params });
    client.send({ id: question.id, result: { decision: "accept" } });
    await other.waitFor(
      ({ method, params }) => method === "serverRequest/resolved" && params.requestId === question.id,
      "the end of the question",
    );
    await Promise.all([client.turnCompleted(turnId), other.turnCompleted(turnId)]);
    expect(story(other.frames)).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed completed",
      "turn completed",
    ]);
  });

  it("[NETWORK-4] ends its question and its item before its turn when that is interrupted", async () => {
    const { client, threadId } = await stage([run(curl())]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    await asked(client);
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    expect(story(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed failed",
      "turn interrupted",
    ]);
  });

  it("[NETWORK-4] ends its turn when the question is cancelled", async () => {
    const { client, threadId } = await stage([run(curl())]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    client.send({ id: (await asked(client)).id, result: { decision: "cancel" } });
    await client.turnCompleted(turnId);
    expect(story(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed failed",
      "turn interrupted",
    ]);
    expect(served).toBe(0);
  });

  it("[NETWORK-4] ends its question with the command that gives up", async () => {
    const { model, client, threadId } = await stage([run(`${curl()} -m 1`), say("done")]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "go");
    await client.turnCompleted(turnId);
    expect(story(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed failed",
      "turn completed",
    ]);
    expect(outputOf(model)).toContain("timed out");
  });

  it("[NETWORK-2] applies the answer to a retry of a program that gave up", async () => {
    const { model, client, threadId } = await stage([
      run(`${curl()} -m 1; until [ -e go ]; do sleep 0.05; done; ${curl()}`, "call_1", {
        yield_time_ms: 30000,
      }),
      say("done"),
    ]);
    const turnId = await client.say(threadId, "go");
    const question = await asked(client);
    await client.waitFor(
      ({ method, params }) =>
        method === "item/commandExecution/outputDelta" && params.delta.includes("timed out"),
      "curl to give up",
    );
    client.send({ id: question.id, result: { decision: "accept" } });
    await client.waitFor(({ method }) => method === "serverRequest/resolved", "the end of the question");
    await writeFile(join((await client.call("thread/read", { threadId })).thread.cwd, "go"), "");
    await client.turnCompleted(turnId);
    expect(client.count(METHOD)).toBe(1);
    expect(outputOf(model)).toContain("hello from outside");
  });

  it("[NETWORK-2] waits longer than its yield time while the user thinks", async () => {
    const { model, client, threadId } = await stage([
      run(`(sleep 3; echo later) & ${curl()}; wait`, "call_1", { yield_time_ms: 2000 }),
      say("done"),
    ]);
    const turnId = await client.say(threadId, "go");
    const question = await asked(client);
    await client.waitFor(
      ({ method, params }) =>
        method === "item/commandExecution/outputDelta" && params.delta.includes("later"),
      "the yield time to pass",
    );
    expect(model.asked).toHaveLength(1);
    client.send({ id: question.id, result: { decision: "accept" } });
    await client.turnCompleted(turnId);
    expect(outputOf(model)).toMatch(/exited with code 0[\s\S]*hello from outside/);
  });

  it("[NETWORK-1] refuses under `never`, without a question", async () => {
    const { model, client, threadId } = await stage([run(curl()), say("done")]);
    await client.call("thread/settings/update", { threadId, approvalPolicy: "never" });
    await client.turnCompleted(await client.say(threadId, "go"));
    expect(client.count(METHOD)).toBe(0);
    expect(outputOf(model)).toContain(
      "it is not among the allowed hosts, and this thread is set to ask nobody",
    );
  });

  it("[NETWORK-5] cannot connect to its own host through the proxy, although the address is listed", async () => {
    const { model, host, client, threadId } = await stage([say("never")]);
    const own = new URL(await host.url()).port;
    model.reply(run(`curl -sS http://${address}:${own}/ http://${address}:${port}/`), say("done"));
    await client.turnCompleted(await client.say(threadId, "go"));
    expect(outputOf(model)).toContain(
      `Commands cannot connect to the host that runs them (${address}:${own})`,
    );
    expect(outputOf(model)).toContain("hello from outside");
  });

  it("[NETWORK-4] ends its question before its thread is closed by an unload", async () => {
    const { client, threadId } = await stage([run(curl())]);
    const from = client.frames.length;
    await client.say(threadId, "go");
    await asked(client);
    await client.call("thread/unload", { threadId, interrupt: true });
    await client.waitFor(({ method }) => method === "thread/closed", "the end of the thread");
    expect(story(client.frames.slice(from))).toEqual([
      "item/started inProgress",
      "asked",
      "resolved",
      "item/completed failed",
      "turn interrupted",
    ]);
  });

  it("[NETWORK-4] refuses a command that was left running while no turn runs, and asks in the next turn", async () => {
    const script = `until [ -e one ]; do sleep 0.05; done; ${curl()}; until [ -e two ]; do sleep 0.05; done; ${curl()}`;
    const { model, client, threadId, cwd } = await stage([
      run(script, "call_1", { yield_time_ms: 250 }),
      say("left"),
    ]);
    await client.turnCompleted(await client.say(threadId, "go"));
    await writeFile(join(cwd, "one"), "");
    await client.waitFor(
      ({ method, params }) =>
        method === "item/commandExecution/outputDelta" && params.delta.includes("while no turn runs"),
      "the refusal",
    );
    expect(client.count(METHOD)).toBe(0);
    model.reply(
      run("until [ -e end ]; do sleep 0.05; done", "call_2", { yield_time_ms: 30_000 }),
      say("done"),
    );
    const turnId = await client.say(threadId, "again");
    await client.waitFor(({ params }) => params?.item?.id === "call_2", "the second command");
    await writeFile(join(cwd, "two"), "");
    const question = await asked(client);
    expect(question.params).toMatchObject({ turnId, itemId: "call_1" });
    client.send({ id: question.id, result: { decision: "accept" } });
    await client.waitFor(
      ({ method, params }) => method === "item/completed" && params.item.id === "call_1",
      "the end of the first command",
    );
    await writeFile(join(cwd, "end"), "");
    await client.turnCompleted(turnId);
    expect(served).toBe(1);
  });

  it("[NETWORK-2] asks again for another command when the one that asked has ended", async () => {
    const waits = `until [ -e go ]; do sleep 0.05; done; ${curl()}`;
    const { client, threadId, cwd } = await stage([
      stream(
        responses.stream(
          responses.call("exec_command", JSON.stringify({ login: false, cmd: `${curl()} -m 3` }), "call_1"),
          responses.call("exec_command", JSON.stringify({ login: false, cmd: waits }), "call_2"),
        ),
      ),
      say("done"),
    ]);
    const turnId = await client.say(threadId, "go");
    expect((await asked(client)).params.itemId).toBe("call_1");
    // Both wait for the same answer now, until the first one gives up.
    await writeFile(join(cwd, "go"), "");
    const second = await asked(client, 2);
    expect(second.params.itemId).toBe("call_2");
    client.send({ id: second.id, result: { decision: "accept" } });
    await client.turnCompleted(turnId);
    expect(client.count(METHOD)).toBe(2);
    expect(served).toBe(1);
  });

  it("[NETWORK-1] says why a program that ignores the proxy has no network", async () => {
    const { model, client, threadId } = await stage([
      run("curl -sS --noproxy '*' http://host.example/"),
      say("done"),
    ]);
    await client.turnCompleted(await client.say(threadId, "go"));
    expect(client.count(METHOD)).toBe(0);
    expect(outputOf(model)).toMatch(/resolve host[\s\S]*A program that does not use it has no network/);
  });
});
