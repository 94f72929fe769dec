import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { readModelProviders } from "./model-providers.ts";
import { managedKey, NO_REQUIREMENTS } from "./requirements.ts";

const choice = (table: Record<string, unknown>) => {
  const { modelProvider, model } = readModelProviders(table);
  return [modelProvider, model];
};
const provider = (entry: Record<string, unknown>, id = "x") =>
  readModelProviders({ model_providers: { [id]: entry } }).modelProviders.find((one) => one.id === id);

describe("which model is asked", () => {
  it("is the one that is built in when nothing is configured", () => {
    expect(choice({})).toEqual(["offline", "offline"]);
    expect(choice({ model: "my-own" })).toEqual(["offline", "my-own"]);
  });

  it("follows from what is configured", () => {
    expect(choice({ model_provider: "ollama" })).toEqual(["ollama", "gpt-oss:20b"]);
    expect(choice({ model: "gpt-5.4" })).toEqual(["openai", "gpt-5.4"]);
    expect(choice({ model: "claude-opus-4-5" })).toEqual(["anthropic", "claude-opus-4-5"]);
    expect(choice({ model: "m", model_providers: { x: {} } })).toEqual(["x", "m"]);
    expect(choice({ model: "m", model_providers: { x: {}, y: {} } })).toEqual(["offline", "m"]);
    expect(choice({ model_provider: "nope" })).toEqual(["nope", "offline"]);
  });

  it("comes first in its provider's list", () => {
    const { modelProviders } = readModelProviders({ model: "gpt-5.4" });
    expect(modelProviders.find(({ id }) => id === "openai")!.models[0]).toBe("gpt-5.4");
  });
});

describe("openai_base_url", () => {
  const openaiUrl = (table: Record<string, unknown>) =>
    readModelProviders(table).modelProviders.find(({ id }) => id === "openai")!.baseUrl;

  it("sets the address of the provider openai only", () => {
    const { modelProviders } = readModelProviders({
      openai_base_url: "https://proxy.example/v1",
      model_providers: { x: {} },
    });
    const urls = modelProviders.filter(({ baseUrl }) => baseUrl.includes("proxy")).map(({ id }) => id);
    expect(urls).toEqual(["openai"]);
  });

  it("is overridden by the provider's own entry, and ignored if it is empty", () => {
    const openai_base_url = "https://proxy.example/v1";
    const own = { openai: { base_url: "https://own.example/v1" } };
    expect(openaiUrl({ openai_base_url, model_providers: own })).toBe("https://own.example/v1");
    expect(openaiUrl({ openai_base_url, model_providers: { openai: { name: "Mine" } } })).toBe(
      openai_base_url,
    );
    expect(openaiUrl({ openai_base_url: " " })).toBe("https://api.openai.com/v1");
  });

  it("must be an address", () => {
    expect(() => openaiUrl({ openai_base_url: "proxy" })).toThrow("openai_base_url: expected an http://");
  });

  it("has no effect, and cannot be written, if an administrator manages the providers", () => {
    const requirements = { ...NO_REQUIREMENTS, values: { model_providers: {} } };
    const { modelProviders } = readConfig({ openai_base_url: "https://proxy.example/v1" }, { requirements });
    expect(modelProviders.some(({ baseUrl }) => baseUrl.includes("proxy"))).toBe(false);
    expect(managedKey(requirements, ["openai_base_url"])).toBe("model_providers");
  });
});

describe("an entry of model_providers", () => {
  it("takes the keys that people bring", () => {
    expect(
      provider({
        name: "Mine",
        base_url: "http://localhost:8000/v1",
        wire_api: "chat",
        env_key: "MY_KEY",
        env_key_instructions: "Ask Ada.",
        http_headers: { a: "1" },
        env_http_headers: { b: "B" },
        query_params: { c: 2 },
        request_max_retries: 1n,
        stream_max_retries: 1000,
        stream_idle_timeout_ms: 5,
        supports_websockets: true,
      }),
    ).toEqual({
      id: "x",
      name: "Mine",
      wire: "chat",
      baseUrl: "http://localhost:8000/v1",
      models: expect.any(Array),
      envKey: "MY_KEY",
      envKeyInstructions: "Ask Ada.",
      envKeyFirst: true,
      bearerToken: null,
      headers: { a: "1" },
      envHeaders: { b: "B" },
      query: { c: "2" },
      requestMaxRetries: 1,
      streamMaxRetries: 100,
      streamIdleTimeoutMs: 5,
      requiresOpenaiAuth: false,
      local: false,
    });
  });

  it("has what is usual where it says nothing", () => {
    expect(provider({})).toMatchObject({
      name: "x",
      wire: "responses",
      baseUrl: "https://api.openai.com/v1",
      envKey: null,
      requestMaxRetries: 4,
      streamMaxRetries: 5,
      streamIdleTimeoutMs: 300_000,
    });
    expect(provider({ wire_api: "messages" })!.baseUrl).toBe("https://api.anthropic.com/v1");
    expect(provider({ requires_openai_auth: true })!.envKey).toBe("OPENAI_API_KEY");
  });

  it("changes single keys of one that is built in", () => {
    expect(provider({ base_url: "http://box:11434/v1" }, "ollama")).toMatchObject({
      name: "Ollama",
      wire: "chat",
      baseUrl: "http://box:11434/v1",
      local: true,
    });
  });

  it.each([
    [{ wire_api: "grpc" }, 'model_providers.x.wire_api: "grpc" is not one of responses, chat, messages'],
    [{ base_url: "box" }, "model_providers.x.base_url: expected an http"],
    [{ env_key: 7 }, "model_providers.x.env_key: expected a string"],
    [{ request_max_retries: -1 }, "model_providers.x.request_max_retries: expected a whole number"],
    [{ http_headers: { a: [] } }, "model_providers.x.http_headers.a: expected a string"],
    [{ requires_openai_auth: "yes" }, "model_providers.x.requires_openai_auth: expected true or false"],
  ])("is refused with the key's name: %j", (entry, message) => {
    expect(() => provider(entry)).toThrow(message);
  });
});
