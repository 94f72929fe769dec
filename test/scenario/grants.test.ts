// What people allowed for the session of a thread: listed, revoked, and gone for the next decision.
import { describe, expect, it } from "vitest";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { escalated, say } from "../support/model-replies.ts";
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
  it("[GRANT-1] [GRANT-2] is listed, revoked before all who follow the thread, and asked for again", async () => {
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

  it("[GRANT-1] outlives its host, is revoked by another one without a load, and in the terminal", async () => {
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
