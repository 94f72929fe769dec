// One turn in the terminal, on a home that others use.
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { MockModel, messages, silent, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { runBobbin } from "../support/run-bobbin.ts";

it("[CLI-1] leaves the threads of a host that was killed to the next host", async () => {
  const model = await MockModel.start(silent(""), say("Here I am."), say("Where were we?"));
  const { home, cwd } = await modelHome("responses", model.url);
  const { host, client } = await stdioHost({ home });
  const threadId = await client.startThread({ cwd });
  const turnId = await client.say(threadId, "Are you there?");
  await eventually(async () => model.asked.length === 1, "the model was asked");
  await host.kill();

  const ran = await runBobbin(["exec", "Hello"], { env: { BOBBIN_HOME: home } });
  expect(ran).toMatchObject({ code: 0, stdout: "Here I am.\n" });
  expect(model.asked).toHaveLength(2);

  const next = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const back = await next.join();
  await eventually(async () => {
    const { thread } = await back.call("thread/read", { threadId, includeTurns: true });
    const [turn] = thread.turns;
    expect([turn.id, turn.status]).toEqual([turnId, expect.stringMatching(/^(inProgress|completed)$/)]);
    return turn.status === "completed";
  }, "the turn went on");
  expect(model.asked).toHaveLength(3);
});

it("[CLI-2] talks to a real model with nothing but a key and the provider's name", async () => {
  for (const [provider, reply, header, key] of [
    ["openai", say("Hi!"), "authorization", "Bearer sk-test"],
    ["anthropic", stream(messages.stream([messages.text(0, "Hi!")])), "x-api-key", "sk-test"],
  ] as const) {
    const model = await MockModel.start(reply);
    const there = ["-c", `model_providers.${provider}.base_url="${model.url}"`];
    const env = { [`${provider.toUpperCase()}_API_KEY`]: "sk-test" };
    const ran = await runBobbin(["exec", "-c", `model_provider=${provider}`, ...there, "Hello"], { env });
    expect(ran).toMatchObject({ code: 0, stdout: "Hi!\n" });
    expect(model.asked[0]!.headers[header]).toBe(key);
  }
});
