import { expect, it } from "vitest";
import { readConfig } from "../config/config.ts";
import { modelProblem } from "./model-problem.ts";

const problem = (table: Record<string, unknown>, env: Record<string, string> = {}) =>
  modelProblem(readConfig(table), env)?.found;

it("finds nothing wrong with the offline model, nor with a model whose key is there", () => {
  expect(problem({})).toBeUndefined();
  expect(problem({ model: "gpt-5" }, { OPENAI_API_KEY: "sk-1" })).toBeUndefined();
  expect(problem({ model_provider: "ollama", model: "qwen3" })).toBeUndefined();
  const mine = { base_url: "http://127.0.0.1:1/v1", experimental_bearer_token: "t", env_key: "MINE" };
  expect(problem({ model_provider: "mine", model_providers: { mine } })).toBeUndefined();
});

it("says that the offline provider has no other model", () => {
  expect(problem({ model_provider: "offline", model: "gpt-5" })).toBe(
    "the provider offline has no model gpt-5",
  );
  expect(problem({ model: "mystery" })).toBe("the provider offline has no model mystery");
});

it("says which variable lacks the key", () => {
  expect(problem({ model: "gpt-5" })).toBe("gpt-5 needs a key for OpenAI, and OPENAI_API_KEY is not set");
  expect(problem({ model: "gpt-5" }, { OPENAI_API_KEY: " " })).toContain("OPENAI_API_KEY is not set");
});

it("says that a provider is not known", () => {
  expect(problem({ model_provider: "oss" })).toBe("the model provider oss is not known");
});
