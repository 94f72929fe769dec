import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import {
  chat,
  MockModel,
  messages,
  refuse,
  responses,
  silent,
  sse,
  stream,
  torn,
} from "../../../../test/support/mock-model.ts";
import {
  eventsOf,
  failureOf,
  inPieces,
  requestOf,
  settingsFor,
} from "../../../../test/support/model-calls.ts";
import { nodePlatform } from "../platform/node.ts";
import type { Http } from "../platform/platform.ts";
import { httpProvider } from "./http-provider.ts";

/** One recorded answer per API, with multi-byte characters in its text. */
const RECORDED = {
  responses: responses.stream(
    responses.reasoning(["Ich überlege …"], "opaque"),
    responses.message("Grüße, 世界 🌍!"),
    responses.call("shell", '{"cmd":"ls"}'),
  ),
  chat: chat.stream(
    chat.delta({ role: "assistant", reasoning_content: "Ich überlege …" }),
    chat.delta({ content: "Grüße, 世界" }),
    chat.delta({ content: " 🌍!" }),
    chat.delta({ tool_calls: [{ index: 0, id: "c1", function: { name: "shell", arguments: '{"cmd"' } }] }),
    chat.delta({ tool_calls: [{ index: 0, function: { arguments: ':"ls"}' } }] }),
  ),
  messages: messages.stream([
    messages.thinking(0, "Ich überlege …", "c2ln"),
    messages.text(1, "Grüße, 世界", " 🌍!"),
    messages.block(
      2,
      { type: "tool_use", id: "toolu_1", name: "shell", input: {} },
      { type: "input_json_delta", partial_json: '{"cmd":' },
      { type: "input_json_delta", partial_json: '"ls"}' },
    ),
  ]),
} as const;
const WIRES = ["responses", "chat", "messages"] as const;
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe.each(WIRES)("a stream on the %s wire", (wire) => {
  const settings = settingsFor(wire, "http://127.0.0.1:1/v1");
  const read = (...pieces: readonly Uint8Array[]) =>
    eventsOf(settings, requestOf(), { http: inPieces(...pieces) });

  it("yields the same events wherever its bytes are split", async () => {
    const bytes = encode(RECORDED[wire]);
    const whole = await read(bytes);
    expect(whole.at(-1)!.type).toBe("done");
    for (let at = 0; at <= bytes.length; at++) {
      expect(await read(bytes.subarray(0, at), bytes.subarray(at)), `cut at ${at}`).toEqual(whole);
    }
    expect(await read(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole);
  });

  it("yields the same events with CRLF, CR, comments, a BOM, several data lines and no space behind colons", async () => {
    const text = RECORDED[wire];
    const whole = await read(encode(text));
    const severalLines = text.replaceAll(/^data: \{(.*)$/gm, (_, rest: string) => `data: {\ndata: ${rest}`);
    for (const other of [
      text.replaceAll("\n", "\r\n"),
      text.replaceAll("\n", "\r"),
      `\uFEFF${text}`,
      text.replaceAll("\n\n", "\n\n: keep-alive\n\n"),
      text.replaceAll("data: ", "data:"),
      text.replaceAll("\n\n", "\nid: 7\nretry: 10\nunknown: x\n\n"),
      severalLines,
      text.trimEnd(),
    ]) {
      expect(await read(encode(other))).toEqual(whole);
      expect(await read(...Array.from(encode(other), (byte) => Uint8Array.of(byte)))).toEqual(whole);
    }
  });

  it("is cut off wherever it ends too early", async () => {
    const events = RECORDED[wire].split("\n\n").slice(0, -1);
    // The event that ends the answer is the last one, or for Chat Completions the third from the end, before usage
    // and `[DONE]`.
    for (let count = 0; count < events.length - (wire === "chat" ? 3 : 1); count++) {
      const text = events.slice(0, count).map((event) => `${event}\n\n`);
      const { error, retry } = failureOf(await read(encode(text.join(""))));
      expect(error.codexErrorInfo).toEqual({ responseStreamDisconnected: { httpStatusCode: null } });
      expect(retry).toEqual({ of: 5 });
    }
  });

  it("comes over HTTP, with what was configured", async () => {
    const model = await MockModel.start(stream(RECORDED[wire], 3, 50, 51, 200));
    const over = settingsFor(wire, model.url, {
      envKey: "KEY",
      headers: { "X-Own": "1" },
      envHeaders: { "x-env": "FROM_ENV", "x-none": "NOT_SET" },
      query: { v: "2 3" },
    });
    const events = await eventsOf(over, requestOf(), { env: { KEY: "k", FROM_ENV: "e" } });
    expect(events).toEqual(await read(encode(RECORDED[wire])));
    const [{ headers, query }] = model.asked as [(typeof model.asked)[0]];
    expect(wire === "messages" ? headers["x-api-key"] : headers.authorization).toBe(
      wire === "messages" ? "k" : "Bearer k",
    );
    expect(headers).toMatchObject({ "x-own": "1", "x-env": "e", "content-type": "application/json" });
    expect(headers["x-none"]).toBeUndefined();
    expect(query.get("v")).toBe("2 3");
  });

  it.each([
    [400, { error: { message: "maximum context length is 10" } }, "contextWindowExceeded", undefined],
    [400, { error: { message: "no" } }, "badRequest", undefined],
    [401, { error: { message: "no" } }, { httpConnectionFailed: { httpStatusCode: 401 } }, undefined],
    [403, { error: { message: "no" } }, { httpConnectionFailed: { httpStatusCode: 403 } }, undefined],
    [404, { error: { message: "model 'm-1' not found" } }, "modelNotFound", undefined],
    [404, "404 page not found", { httpConnectionFailed: { httpStatusCode: 404 } }, undefined],
    [
      429,
      { error: { message: "slow" } },
      { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
      { of: 4 },
    ],
    [429, { error: { code: "insufficient_quota", message: "pay" } }, "usageLimitExceeded", undefined],
    [429, { error: { type: "usage_not_included", message: "buy" } }, "usageLimitExceeded", undefined],
    [
      400,
      { error: { type: "invalid_request", code: "misalignment_policy_violation", message: "no" } },
      "misalignmentPolicyViolation",
      undefined,
    ],
    [
      403,
      { error: { code: "misalignment_policy_violation", message: "no" } },
      "misalignmentPolicyViolation",
      undefined,
    ],
    [400, { error: { code: "cyber_policy", message: "no" } }, "cyberPolicy", undefined],
    [503, { error: { code: "slow_down", message: "wait" } }, "rateLimitExceeded", { of: 4 }],
    [500, "", "internalServerError", { of: 4 }],
    [503, "busy", "serverOverloaded", { of: 4 }],
    [529, { error: { type: "overloaded_error", message: "busy" } }, "serverOverloaded", { of: 4 }],
  ])("explains the status %i with %j", async (status, body, info, retry) => {
    const model = await MockModel.start(refuse(status, body));
    const failure = failureOf(await eventsOf(settingsFor(wire, model.url)));
    expect(failure.error.codexErrorInfo).toEqual(info);
    expect(failure.retry).toEqual(retry);
    expect(failure.error.message).toContain(
      status < 500 && status !== 404 && retry === undefined ? "Local" : "",
    );
  });

  it("fails when the server is silent, resets the connection, or sends no event stream", async () => {
    const model = await MockModel.start(silent(""));
    const impatient = settingsFor(wire, model.url, { streamIdleTimeoutMs: 100 });
    expect(failureOf(await eventsOf(impatient)).error.message).toContain("no data for 0.1 s");
    model.reply(torn(RECORDED[wire].slice(0, 60)));
    expect(failureOf(await eventsOf(settingsFor(wire, model.url))).retry).toEqual({ of: 5 });
    model.reply(stream("data: {oops\n\n"));
    expect(failureOf(await eventsOf(settingsFor(wire, model.url))).error.message).toContain("not valid JSON");
    model.reply(refuse(200, "<html></html>", { "content-type": "text/html" }));
    const page = failureOf(await eventsOf(settingsFor(wire, model.url)));
    expect(page.error.codexErrorInfo).toEqual({ responseStreamConnectionFailed: { httpStatusCode: 200 } });
    expect(page.retry).toBeUndefined();
  });
});

/** A server in this process that sends the pieces repeatedly, and counts the bytes that the client read. */
function endless(first: string, piece: Uint8Array): { readonly http: Http; read: number; stopped: boolean } {
  const server = {
    read: 0,
    stopped: false,
    http: (async (_url, { signal }) => {
      async function* body() {
        yield encode(first);
        for (; !signal.aborted; server.read += piece.length) yield piece;
      }
      signal.addEventListener("abort", () => {
        server.stopped = true;
      });
      const headers = new Headers({ "content-type": "text/event-stream" });
      return { status: 200, headers, body: body() };
    }) satisfies Http as Http,
  };
  return server;
}

describe.each(WIRES)("an answer without end on the %s wire", (wire) => {
  const settings = settingsFor(wire, "http://127.0.0.1:1/v1");
  const MEBIBYTE = 1024 * 1024;
  /** How much a server may send beyond the text of an answer. */
  const AROUND = 16 * MEBIBYTE;
  const filling = encode("x".repeat(MEBIBYTE));

  it.each([
    ["one event", "data: ", filling],
    ["lines of one event", "data: x", encode(`${"x".repeat(MEBIBYTE - 7)}\ndata: `)],
    ["comments", "", encode(`: ${"x".repeat(MEBIBYTE - 4)}\n\n`)],
    ["events that say nothing", "", encode(`data: {"type":"ping","x":"${"x".repeat(MEBIBYTE - 32)}"}\n\n`)],
  ])("[MODEL-10] is not read any further: %s", async (_what, first, piece) => {
    const server = endless(first, piece);
    const events = await eventsOf(settings, requestOf({ answerBytes: 1 }), server);
    const { error, retry } = failureOf(events);
    expect([error.code, error.codexErrorInfo, retry]).toEqual(["answerTooLarge", "other", undefined]);
    expect(error.message).toContain("1 bytes (model_answer_max_bytes in config.toml)");
    // One further piece may be under way when the limit is reached.
    expect(server.read).toBeLessThanOrEqual(AROUND + 2 * MEBIBYTE);
  });

  it("is not read for long after its last event", async () => {
    const server = endless(RECORDED[wire], filling);
    const events = await eventsOf(settings, requestOf(), server);
    expect(events.at(-1)!.type).toBe("done");
    await eventually(() => server.stopped, "the answer is no longer read");
    expect(server.read).toBeLessThanOrEqual(2 * MEBIBYTE);
  });
});

describe("a list of models", () => {
  it("is not read without end", async () => {
    const server = endless('{"data":[', encode(`${'{"id":"m"},'.repeat(100_000)}`));
    const platform = { ...nodePlatform(), http: server.http };
    const provider = httpProvider({
      settings: settingsFor("chat", "http://localhost/v1", { local: true }),
      platform,
      env: {},
    });
    expect((await provider.models()).map(({ id }) => id)).toEqual(["m-1"]);
    expect(server.read).toBeLessThanOrEqual(8 * 1024 * 1024);
  });
});

describe("a server that cannot be reached", () => {
  it("is reported with its URL and without secrets", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const settings = settingsFor("chat", `http://user:hidden@127.0.0.1:${port}/v1`, {
      query: { key: "hidden" },
    });
    const { error, retry } = failureOf(await eventsOf(settings));
    expect(error.message).toContain(`http://127.0.0.1:${port}/v1/chat/completions: nothing listens there`);
    expect(error.message).not.toContain("hidden");
    expect(retry).toEqual({ of: 4 });
  });

  it("is not called without the key that it needs", async () => {
    const settings = settingsFor("responses", "http://127.0.0.1:1/v1", { envKey: "NO_SUCH_KEY" });
    const { error, retry } = failureOf(await eventsOf(settings));
    expect(error.message).toContain("NO_SUCH_KEY");
    expect(retry).toBeUndefined();
  });
});

describe("Retry-After", () => {
  it.each([
    [{ "retry-after": "3" }, 3000],
    [{ "retry-after-ms": "40" }, 40],
    [{ "retry-after": "soon" }, undefined],
  ])("is heeded: %j", async (headers, afterMs) => {
    const model = await MockModel.start(refuse(503, "", headers as Record<string, string>));
    expect(failureOf(await eventsOf(settingsFor("chat", model.url))).retry).toEqual({ of: 4, afterMs });
  });

  it("is heeded as a date", async () => {
    const date = new Date(Date.now() + 100_000).toUTCString();
    const model = await MockModel.start(refuse(503, "", { "retry-after": date }));
    const { retry } = failureOf(await eventsOf(settingsFor("chat", model.url)));
    expect(retry).toEqual({ of: 4, afterMs: expect.closeTo(100_000, -5) });
  });

  it("is too long to wait for", async () => {
    const model = await MockModel.start(refuse(429, sse([]), { "retry-after": "3600" }));
    const { error, retry } = failureOf(await eventsOf(settingsFor("chat", model.url)));
    expect(retry).toBeUndefined();
    expect(error.message).toContain("3600 s");
  });
});
