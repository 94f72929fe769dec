import { describe, expect, it } from "vitest";
import { stdioHost } from "../support/host-process.ts";
import { mockHost } from "../support/mock-host.ts";
import { type Reply, refuse, responses, sse, stream } from "../support/mock-model.ts";

const TEXT = responses.stream(responses.message("Hello"));
const withHeaders =
  (headers: Record<string, string>, text = TEXT): Reply =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream", ...headers });
    response.end(text);
  };

const NOTHING = {
  credits: null,
  individualLimit: null,
  limitId: null,
  limitName: null,
  normalModelSlug: null,
  planType: null,
  primary: null,
  rateLimitReachedType: null,
  secondary: null,
  spendControlReached: null,
};

describe("a provider", () => {
  it("[NEWS-1] may report rate limits, and clients are notified and can read them", async () => {
    const limits = {
      "x-codex-primary-used-percent": "12.5",
      "x-codex-primary-window-minutes": "300",
      "x-codex-primary-reset-at": "1794800000",
      "x-codex-secondary-used-percent": "0",
      "x-codex-credits-has-credits": "true",
      "x-codex-credits-unlimited": "false",
      "x-codex-credits-balance": "9.99",
      "x-codex-bengalfox-primary-used-percent": "80",
      "x-codex-bengalfox-limit-name": "Bengal",
    };
    const { model, client, threadId } = await mockHost([withHeaders(limits)]);
    const read = () => client.call("account/rateLimits/read");
    expect(await read()).toMatchObject({ rateLimits: NOTHING, rateLimitsByLimitId: null });
    await client.turn(threadId, "hi");
    const credits = { hasCredits: true, unlimited: false, balance: "9.99" };
    const codex = {
      ...NOTHING,
      limitId: "codex",
      credits,
      primary: { usedPercent: 13, windowDurationMins: 300, resetsAt: 1794800000 },
    };
    const bengal = {
      ...NOTHING,
      limitId: "codex_bengalfox",
      limitName: "Bengal",
      credits,
      primary: { usedPercent: 80, windowDurationMins: null, resetsAt: null },
    };
    const told = () => client.told("account/rateLimits/updated").map(({ params }) => params.rateLimits);
    expect(told()).toEqual([codex, bengal]);
    expect(await read()).toMatchObject({
      rateLimits: codex,
      rateLimitsByLimitId: { codex, codex_bengalfox: bengal },
    });
    // Also with a refusal, and as an event; what is not said again stays.
    model.reply((response) => {
      response.writeHead(429, { "content-type": "application/json", "x-codex-primary-used-percent": "100" });
      response.end('{"error":{"type":"usage_limit_reached","message":"no more"}}');
    });
    await client.turn(threadId, "hi");
    expect(told().at(-1)).toMatchObject({ primary: { usedPercent: 100 }, credits: null });
    const event = {
      type: "codex.rate_limits",
      rate_limits: { secondary: { used_percent: 7.4, window_minutes: 60 } },
    };
    model.reply(stream(sse([event]) + TEXT));
    await client.turn(threadId, "hi");
    expect((await read()).rateLimits).toMatchObject({
      primary: { usedPercent: 100 },
      secondary: { usedPercent: 7, windowDurationMins: 60, resetsAt: null },
      credits,
    });
    // Nothing said, nothing told.
    const before = told().length;
    model.reply(stream(TEXT));
    await client.turn(threadId, "hi");
    expect(told()).toHaveLength(before);
  });

  it("[NEWS-2] may answer with another model, which is notified once per turn and stored", async () => {
    const other = { "openai-model": "Other-Model" };
    const call = responses.stream(responses.call("get_goal", "{}"));
    const { model, host, client, threadId, home } = await mockHost([
      withHeaders(other, call),
      withHeaders(other),
    ]);
    const turnId = await client.turn(threadId, "hi");
    const rerouted = {
      threadId,
      turnId,
      fromModel: "mock-model",
      toModel: "Other-Model",
      reason: "highRiskCyberActivity",
    };
    expect(client.told("model/rerouted").map(({ params }) => params)).toEqual([rerouted]);
    for (const same of ["Mock-Model", "mock-model-2026-01-01"]) {
      model.reply(withHeaders({ "openai-model": same }));
      await client.turn(threadId, "hi");
    }
    expect(client.count("model/rerouted")).toBe(1);
    host.signal("SIGKILL");
    await host.exited;
    const next = await stdioHost({ home, capabilities: { experimentalApi: true } });
    await next.client.call("thread/resume", { threadId, afterCursor: "1.1.0" });
    await next.client.about(threadId, "model/rerouted");
  });

  it("[NEWS-3] may have an unknown model", async () => {
    const { client, threadId } = await mockHost([stream(TEXT)]);
    const warnings = () => client.told("warning").map(({ params }) => params);
    await client.turn(threadId, "hi");
    const message =
      "Model metadata for `mock-model` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.";
    expect(warnings()).toEqual([{ threadId, message }]);
    await client.turn(threadId, "hi");
    expect(warnings()).toHaveLength(2);
    const known = await client.startThread({ model: "gpt-5" });
    await client.turn(known, "hi");
    const configured = await client.startThread({ config: { model_context_window: 1000 } });
    await client.turn(configured, "hi");
    expect(warnings()).toHaveLength(2);
  });

  it("[NEWS-4] gets the configured settings", async () => {
    const config = [
      'model_reasoning_effort = "high"',
      'model_reasoning_summary = "concise"',
      'model_verbosity = "low"',
      "model_context_window = 12345",
      "model_auto_compact_token_limit = 10000",
    ];
    const { model, client, threadId } = await mockHost([stream(TEXT)], config);
    await client.turn(threadId, "hi");
    expect(model.asked.at(-1)!.body).toMatchObject({
      reasoning: { effort: "high", summary: "concise" },
      text: { verbosity: "low" },
    });
    expect(client.told("thread/tokenUsage/updated").at(-1)!.params.tokenUsage.modelContextWindow).toBe(12345);
    const own = await client.startThread({
      config: { model_verbosity: "high", model_reasoning_summary: "none", model_context_window: 99 },
    });
    const outputSchema = { type: "object" };
    const { turn } = await client.call("turn/start", {
      threadId: own,
      input: [{ type: "text", text: "hi" }],
      outputSchema,
    });
    await client.turnCompleted(turn.id);
    expect(model.asked.at(-1)!.body).toMatchObject({
      reasoning: { effort: "high" },
      text: { verbosity: "high", format: { type: "json_schema", schema: outputSchema } },
    });
    expect(model.asked.at(-1)!.body.reasoning.summary).toBeUndefined();
    expect(client.told("thread/tokenUsage/updated").at(-1)!.params.tokenUsage.modelContextWindow).toBe(99);
    const alone = await mockHost([stream(TEXT)], ['model_reasoning_summary = "detailed"']);
    await alone.client.turn(alone.threadId, "hi");
    expect(alone.model.asked.at(-1)!.body.reasoning).toEqual({ summary: "detailed" });
    const refusal = await client.refusal("thread/start", { config: { model_verbosity: "loud" } });
    expect(refusal.data.code).toBe("badConfig");
  });

  it("[NEWS-5] gets a service tier that it supports, and no other", async () => {
    const { model, client } = await mockHost([stream(TEXT)], ['service_tier = "fast"']);
    const threadId = await client.startThread({ model: "gpt-5.5" });
    const sent = () => model.asked.at(-1)!.body.service_tier;
    const kept = () => client.told("thread/settings/updated").at(-1)?.params.threadSettings.serviceTier;
    const say = async (params: object) => {
      const input = [{ type: "text", text: "hi" }];
      const { turn } = await client.call("turn/start", { threadId, input, ...params });
      await client.turnCompleted(turn.id);
    };
    await say({});
    expect(sent()).toBe("priority");
    for (const [tier, keptAs, sentAs] of [
      ["flex", "flex", "flex"],
      ["fast", "priority", "priority"],
      ["bogus", "bogus", undefined],
      ["priority", "priority", "priority"],
      [null, "default", undefined],
    ] as const) {
      await say({ serviceTier: tier });
      expect([kept(), sent()]).toEqual([keptAs, sentAs]);
    }
    await client.call("thread/settings/update", { threadId, serviceTier: "fast" });
    expect(kept()).toBe("priority");
    await client.call("thread/settings/update", { threadId, serviceTier: null });
    await say({});
    expect([kept(), sent()]).toEqual(["default", undefined]);

    const started = async (params: object) => (await client.call("thread/start", params)).serviceTier;
    expect(await started({ model: "gpt-5.5" })).toBe("priority");
    expect(await started({ model: "gpt-5.5", serviceTier: null })).toBe("default");
    expect(await started({ model: "gpt-5.5", serviceTier: "bogus" })).toBeNull();
    expect(await started({ model: "mock-model" })).toBeNull();
    expect(await started({ config: { service_tier: "flex" } })).toBe("flex");
  });

  it("[NEWS-1] with malformed rate limits is ignored", async () => {
    const { client, threadId } = await mockHost([
      withHeaders({ "x-codex-primary-used-percent": "much", "x--primary-used-percent": "NaN" }),
      refuse(500, ""),
    ]);
    await client.turn(threadId, "hi");
    expect(client.count("account/rateLimits/updated")).toBe(0);
  });
});
