// What models have used, by thread, day and model, and a limit on it.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder, tracesOf } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import { MockModel, type Reply, responses, sse, stream } from "../support/mock-model.ts";

const EXPERIMENTAL = { experimentalApi: true };

/** An answer that takes so many tokens. */
const spending = (input: number, cached: number, output: number): Reply => {
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    total_tokens: input + output,
  };
  const completed = { type: "response.completed", response: { id: "resp_1", usage } };
  return stream(
    sse([{ type: "response.created", response: { id: "resp_1" } }, ...responses.message("Hi"), completed]),
  );
};

async function homeFor(model: MockModel, ...usage: readonly string[]): Promise<string> {
  const home = await freshFolder();
  const config = [
    'model_provider = "own"',
    'model = "large"',
    "[model_providers.own]",
    'name = "Own"',
    `base_url = "${model.url}"`,
    ...usage,
  ];
  await writeFile(join(home, "config.toml"), config.join("\n"));
  return home;
}

it("[USAGE-2] adds up the usage by thread, day and model, over hosts, restarts and deletions", async () => {
  const model = await MockModel.start(spending(1000, 400, 50));
  const prices = ['[usage.prices."large"]', "input = 2", "cached_input = 0.5", "output = 10"];
  const home = await homeFor(model, ...prices);
  const first = await stdioHost({ home, capabilities: EXPERIMENTAL });
  expect(await first.client.call("account/usage/read")).toMatchObject({
    summary: { lifetimeTokens: 0, peakDailyTokens: 0, currentStreakDays: 0 },
    dailyUsageBuckets: [],
    threadUsage: null,
    limit: null,
  });
  const threadId = await first.client.startThread();
  await first.client.turn(threadId, "Hello");
  await first.client.turn(threadId, "Hello");
  const used = await first.client.call("account/usage/read", { threadId });
  // 2 × (600 × 2 $ + 400 × 0.5 $ + 50 × 10 $) for a million tokens.
  expect(used.threadUsage).toEqual({
    threadId,
    estimatedUsageCreditsMicros: 0,
    estimatedUsageUsdMicros: 3800,
    nativeUsageUsdMicros: null,
    groups: [
      {
        model: "large",
        reasoningEffort: null,
        speed: null,
        estimatedUsageCreditsMicros: 0,
        netNewInputTokens: 1200,
        cachedInputTokens: 800,
        inputTokens: 2000,
        outputTokens: 100,
        totalTokens: 2100,
      },
    ],
  });
  const other = await stdioHost({ home, capabilities: EXPERIMENTAL });
  await other.client.turn(await other.client.startThread({ model: "small" }), "Hello");
  await other.client.call("account/usage/read");
  await first.client.call("thread/delete", { threadId });
  expect(await tracesOf(home, threadId)).toEqual([]);

  const third = await stdioHost({ home, capabilities: EXPERIMENTAL });
  const all = await third.client.call("account/usage/read", { threadId: null });
  expect(all.summary).toMatchObject({
    lifetimeTokens: 3150,
    peakDailyTokens: expect.any(Number),
    longestStreakDays: expect.any(Number),
  });
  const counted = all.dailyUsageBuckets.reduce(
    (sum: number, { tokens }: { tokens: number }) => sum + tokens,
    0,
  );
  expect(counted).toBe(3150);
  expect(all.summary.currentStreakDays).toBe(all.dailyUsageBuckets.length);
  const large = { modelProvider: "own", model: "large", inputTokens: 2000, outputTokens: 100 };
  const small = { modelProvider: "own", model: "small", inputTokens: 1000, outputTokens: 50 };
  expect(all.models).toEqual(
    expect.arrayContaining([
      { ...large, cachedInputTokens: 800, costUsdMicros: 3800 },
      { ...small, cachedInputTokens: 400, costUsdMicros: null },
    ]),
  );
});

it("[USAGE-3] shows the used share of a daily limit, and calls no model beyond it", async () => {
  const model = await MockModel.start(spending(600, 0, 0));
  const home = await homeFor(model, "[usage]", "daily_tokens = 1000");
  const { client } = await stdioHost({ home, capabilities: EXPERIMENTAL });
  const threadId = await client.startThread();
  const percents = () =>
    client.told("account/rateLimits/updated").map(({ params }) => params.rateLimits.primary.usedPercent);
  await client.turn(threadId, "Hello");
  await eventually(() => percents().length === 1, "account/rateLimits/updated");
  await client.turn(threadId, "Hello");
  await eventually(() => percents().length === 2, "account/rateLimits/updated");
  expect(percents()).toEqual([60, 100]);
  const { rateLimits } = await client.call("account/rateLimits/read");
  expect(rateLimits).toMatchObject({
    limitId: "bobbin_daily",
    primary: { usedPercent: 100, windowDurationMins: 1440, resetsAt: expect.any(Number) },
    rateLimitReachedType: "rate_limit_reached",
  });
  const turnId = await client.turn(threadId, "Hello");
  const { turn } = (await client.turnCompleted(turnId)).params;
  expect(turn).toMatchObject({ status: "failed", error: { codexErrorInfo: "usageLimitExceeded" } });
  expect(turn.error.message).toMatch(/daily limit of this host is reached .* 1200 tokens are used/);
  expect(model.asked).toHaveLength(2);
  // Another host on the home counts the same, and the offline model is free.
  const other = await stdioHost({ home });
  const refused = await other.client.turn(await other.client.startThread(), "Hello");
  expect((await other.client.turnCompleted(refused)).params.turn.status).toBe("failed");
  const free = await other.client.turn(
    await other.client.startThread({ modelProvider: "offline", model: "offline" }),
    "Hello",
  );
  expect((await other.client.turnCompleted(free)).params.turn.status).toBe("completed");
  expect((await other.client.call("account/usage/read")).limit).toMatchObject({ dailyTokens: 1000 });
});

it("[USAGE-3] shows a raised limit as not reached, and no limit once it is removed", async () => {
  const model = await MockModel.start(spending(600, 0, 0));
  const home = await homeFor(model, "[usage]", "daily_tokens = 600");
  const { client } = await stdioHost({ home, capabilities: EXPERIMENTAL });
  const threadId = await client.startThread();
  const read = async () => (await client.call("account/rateLimits/read")).rateLimits;
  const limit = (value: number | null) =>
    client.call("config/value/write", { keyPath: "usage.daily_tokens", value, mergeStrategy: "replace" });
  await client.turn(threadId, "Hello");
  expect(await read()).toMatchObject({
    primary: { usedPercent: 100 },
    rateLimitReachedType: "rate_limit_reached",
  });
  await limit(6000);
  expect(await read()).toMatchObject({ primary: { usedPercent: 10 }, rateLimitReachedType: null });
  const turnId = await client.turn(threadId, "Hello");
  expect((await client.turnCompleted(turnId)).params.turn.status).toBe("completed");
  await limit(null);
  expect(await read()).toMatchObject({ limitId: null, primary: null });
});

it("[USAGE-3] limits the cost of a day, for models with a price", async () => {
  const model = await MockModel.start(spending(600, 0, 0));
  const prices = ['[usage.prices."large"]', "input = 2", "output = 10"];
  // 600 tokens of the model `large` cost 0.0012 $.
  const home = await homeFor(model, "[usage]", "daily_cost_usd = 0.0024", ...prices);
  const { client } = await stdioHost({ home, capabilities: EXPERIMENTAL });
  const statusOf = async (threadId: string): Promise<unknown> =>
    (await client.turnCompleted(await client.turn(threadId, "Hello"))).params.turn.status;
  const unpriced = await client.startThread({ model: "small" });
  expect(await statusOf(unpriced)).toBe("completed");
  expect((await client.call("account/usage/read")).limit).toMatchObject({
    dailyTokens: null,
    dailyCostUsdMicros: 2400,
    usedCostUsdMicros: 0,
  });
  const threadId = await client.startThread();
  expect(await statusOf(threadId)).toBe("completed");
  expect((await client.call("account/rateLimits/read")).rateLimits.primary.usedPercent).toBe(50);
  expect(await statusOf(threadId)).toBe("completed");
  expect(await statusOf(threadId)).toBe("failed");
  expect(await statusOf(unpriced)).toBe("failed");
  expect(model.asked).toHaveLength(3);
});
