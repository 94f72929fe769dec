import { describe, expect, it } from "vitest";
import { redactor, secretsIn, secretVariables } from "./redact-secrets.ts";

const redact = redactor(["correct horse battery", 'quo"ted\\value', "short", "correct horse"]);

describe("a text in a report", () => {
  it.each([
    ["the key is correct horse battery.", "the key is [redacted]."],
    ['{"a":"quo\\"ted\\\\value"}', '{"a":"[redacted]"}'],
    ["correct horse", "[redacted]"],
    ["OPENAI sk-proj-abcdefghijklmnopqrstuv end", "OPENAI [redacted] end"],
    ["sk-ant-api03-abcdefghijklmnopqrst_-x", "[redacted]"],
    ["ghp_abcdefghijklmnopqrstuvwxyz012345", "[redacted]"],
    ["Authorization: Bearer abc.def-ghi_jkl", "Authorization: Bearer [redacted]"],
    ["postgres://bobbin:hunter22@db/x", "postgres://bobbin:[redacted]@db/x"],
    ['{"api_key": "abcdef123"}', '{"api_key": "[redacted]"}'],
    ["MY_TOKEN=abcdef123 rest", "MY_TOKEN=[redacted] rest"],
    ['{"password":"correct mule battery"}', '{"password":"[redacted]"}'],
    ['{\\"passphrase\\":\\"two words\\",\\"n\\":1}', '{\\"passphrase\\":\\"[redacted]\\",\\"n\\":1}'],
    ["password: 'correct mule \"battery\"' end", "password: '[redacted]' end"],
    ["Cookie: session=abcdef; auth=ghijkl\nAccept: */*", "Cookie: [redacted]\nAccept: */*"],
    ["AKIAABCDEFGHIJKLMNOP", "[redacted]"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "[redacted]"],
    ["-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\nx", "[redacted]\nx"],
  ])("keeps no secret: %j", (text, clean) => {
    expect(redact(text)).toBe(clean);
  });

  it.each([
    "short",
    "inputTokens: 15",
    '{"outputTokens":5,"totalTokens":15}',
    "a tokenizer, a keyboard",
    "https://example.org/x",
  ])("stays as it is where there is none: %j", (text) => {
    expect(redact(text)).toBe(text);
  });

  it("takes time in proportion to its length, whatever is in it", () => {
    for (const piece of ["sk-", "a://b:", "token=", "Bearer ", "eyJ", "-----BEGIN PRIVATE KEY-----", "x_"]) {
      expect(redact(piece.repeat(50_000)).length).toBeGreaterThan(0);
    }
  });
});

describe("secrets of the host", () => {
  it("are values of a configuration under names of secrets, in headers and in environments", () => {
    const config = {
      model: "gpt-5",
      model_providers: {
        mine: { experimental_bearer_token: "one", env_key: "MY_VARIABLE", http_headers: { "X-A": "two" } },
      },
      mcp_servers: { files: { command: "npx", env: { ANY: "three" }, bearer_token_env_var: "OTHER" } },
    };
    expect([...secretsIn(config)]).toEqual(["one", "two", "three"]);
  });

  it("are variables with such names, and those that are named", () => {
    const env = { PATH: "/bin", GH_TOKEN: "a", MINE: "b", NONE: undefined };
    expect(secretVariables(env, new Set(["MINE"]))).toEqual(["a", "b"]);
  });
});
