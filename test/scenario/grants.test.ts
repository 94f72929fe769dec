// What people allowed for the session of a thread: listed, revoked, and gone for the next decision.
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { MockModel, type Reply } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { callTool, escalated, patchFiles, say } from "../support/model-replies.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import type { WireClient } from "../support/wire-client.ts";

const METHOD = "item/commandExecution/requestApproval";
const TOP = ['sandbox_mode = "workspace-write"', 'approval_policy = "on-request"'];

const start = (home: string): Promise<HostProcess> =>
  spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"], env: { SHELL: "/bin/bash" } });
const join = (host: HostProcess): Promise<WireClient> => host.join(undefined, { experimentalApi: true });

async function answered(client: WireClient, threadId: string, decision: string): Promise<void> {
  const from = client.frames.length;
  const turnId = await client.say(threadId, "go");
  const { id } = await client.waitFor(({ method }) => method === METHOD, "a question", from);
  client.send({ id, result: { decision } });
  await client.turnCompleted(turnId);
}

/** A thread in which a command was allowed for the session. */
async function stage() {
  const model = await MockModel.start(escalated("echo one", {}, "call_1"), say("done"));
  const { home, cwd } = await modelHome("responses", model.url, { top: TOP });
  const host = await start(home);
  const client = await join(host);
  const threadId = await client.startThread({ cwd });
  await answered(client, threadId, "acceptForSession");
  return { model, home, cwd, host, client, threadId };
}

describe("a grant for the session", () => {
  it("[GRANT-1] [GRANT-2] is listed, revoked with a notification to all subscribers, and then asked for again", async () => {
    const { model, host, client, threadId, cwd } = await stage();
    const other = await join(host);
    await other.call("thread/resume", { threadId });
    const { data } = await client.call("thread/grants/list", { threadId });
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{12}$/),
        kind: "command",
        description: `Run this command outside of the sandbox, in ${cwd}: echo one`,
        scope: "session",
        grantedAtMs: expect.any(Number),
      },
    ]);
    const grantId = data[0].id;
    expect(await client.call("thread/grants/revoke", { threadId, grantId })).toEqual({});
    const revoked = ({ method }: { method?: string }) => method === "thread/grants/revoked";
    for (const one of [client, other])
      expect((await one.waitFor(revoked, "the notification")).params).toEqual({ threadId, grantId });
    expect(await client.call("thread/grants/list", { threadId })).toEqual({ data: [] });
    expect((await client.refusal("thread/grants/revoke", { threadId, grantId })).data.code).toBe(
      "grantNotFound",
    );

    model.reply(escalated("echo one", {}, "call_2"), say("done"));
    await answered(client, threadId, "decline");
  });

  it("[GRANT-1] of permissions no longer extends the sandbox once it is revoked", async () => {
    const { model, client, threadId } = await stage();
    const outside = await freshFolder("outside");
    const patch = (name: string, callId: string): Reply =>
      patchFiles(callId, `*** Add File: ${outside}/${name}`, "+x");
    const asked = (method: string) => client.waitFor((frame) => frame.method === method, "a question");
    const wanted = { reason: "May I?", permissions: { file_system: { write: [outside] } } };
    model.reply(callTool("request_permissions", wanted, "call_2"), patch("a", "call_3"), say("done"));
    const first = await client.say(threadId, "go");
    const { id, params } = await asked("item/permissions/requestApproval");
    client.send({ id, result: { permissions: params.permissions, scope: "session" } });
    await client.turnCompleted(first);
    expect(client.told("item/fileChange/requestApproval")).toEqual([]);

    const { data } = await client.call("thread/grants/list", { threadId });
    const grant = data.find(({ kind }: { kind: string }) => kind === "permissions");
    expect(grant.description).toBe(`Let commands and patches write to ${outside}`);
    await client.call("thread/grants/revoke", { threadId, grantId: grant.id });
    model.reply(patch("b", "call_4"), say("done"));
    const second = await client.say(threadId, "go");
    const question = await asked("item/fileChange/requestApproval");
    client.send({ id: question.id, result: { decision: "decline" } });
    await client.turnCompleted(second);
  });

  it("[GRANT-1] outlives its host, and can be revoked by another host without a load, and in the terminal", async () => {
    const { model, home, host, threadId } = await stage();
    const rules = (...args: string[]) =>
      runBobbin(["rules", "grants", ...args], { env: { BOBBIN_HOME: home } });
    const listed = await rules(threadId);
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining("echo one") });
    const [{ id }] = JSON.parse((await rules(threadId, "--json")).stdout);
    // The host that has the thread is the one that can change it.
    expect(await rules(threadId, "--revoke", id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(threadId),
    });
    host.signal("SIGTERM");
    await host.exited;

    const revoked = await rules(threadId, "--revoke", id);
    expect(revoked).toMatchObject({ code: 0, stdout: expect.stringContaining("Nothing is allowed") });
    expect(await rules(threadId, "--revoke", id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`no grant ${id}`),
    });

    const client = await join(await start(home));
    await client.call("thread/resume", { threadId });
    model.reply(escalated("echo one", {}, "call_2"), say("done"));
    await answered(client, threadId, "acceptForSession");
    const { data } = await client.call("thread/grants/list", { threadId });
    expect(data).toHaveLength(1);
  });
});
