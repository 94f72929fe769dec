import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  argumentsCheck,
  displayProblem,
  encodeInvocation,
  isId,
  isJson,
  LIMITS,
  PATHS,
  type Parsed,
  parseCallback,
  parseCancelToolCall,
  parseCloseThread,
  parseIdempotencyKey,
  parseInvocation,
  parseJson,
  parseMigrate,
  parseReturnAddress,
  parseToolset,
  parseUserChoiceResponse,
  readBytes,
  underBase,
} from "./index.ts";

const call = {
  operation: "deploy",
  arguments: { to: "staging" },
  id: "call_1",
  callback_url: "https://host.example.com/callback/abc",
  group_id: "thread_1",
};
const tool = { name: "deploy", description: "Deploys.", inputSchema: { type: "object" } };
const toolset = { name: "ops", endpoint: "https://tools.example.com/invoke", tools: [tool] };
const result = { type: "tool_result", group_id: "thread_1", id: "call_1", text: "done" };
const choice = {
  type: "user_choice",
  group_id: "thread_1",
  id: "call_1",
  prompt: "Really?",
  choices: ["Yes", "No"],
  default: 1,
  response_url: "http://127.0.0.1:9/answer",
};

const problem = (read: Parsed<unknown>): string =>
  read.ok ? "read" : `${read.problem.path} ${read.problem.says}`.trim();

describe("an invocation", () => {
  it("has defaults for fields that are absent or null", () => {
    const whole = { ...call, call_id: null, thread_ancestors: [], user_id: null };
    expect(parseInvocation(call)).toEqual({ ok: true, value: whole });
    expect(parseInvocation({ ...call, call_id: null, thread_ancestors: null, user_id: null })).toEqual({
      ok: true,
      value: whole,
    });
  });

  it("contains ancestors on the wire only if there are some", () => {
    const read = parseInvocation({ ...call, thread_ancestors: ["root", "parent"], more: true });
    expect(read.ok && JSON.parse(encodeInvocation(read.value))).toEqual({
      ...call,
      call_id: null,
      user_id: null,
      thread_ancestors: ["root", "parent"],
    });
    const root = parseInvocation(call);
    expect(root.ok && encodeInvocation(root.value)).not.toContain("thread_ancestors");
  });

  it.each([
    [{ operation: "" }, "operation must not be empty"],
    [{ arguments: [] }, "arguments must be an object"],
    [{ arguments: undefined }, "arguments must be an object"],
    [{ id: 7 }, "id must be a string"],
    [{ id: "a\0b" }, "id must be well-formed and without control characters"],
    [{ id: "\ud800" }, "id must be well-formed and without control characters"],
    [{ group_id: "x".repeat(10_240) }, `group_id must not be longer than ${LIMITS.id}`],
    [{ callback_url: "file:///etc/passwd" }, "callback_url must begin with http:// or https://"],
    [{ callback_url: "callback" }, "callback_url must be a URL"],
    [{ thread_ancestors: ["a", ""] }, "thread_ancestors[1] must not be empty"],
  ])("is refused with %j", (change, says) => {
    expect(problem(parseInvocation({ ...call, ...change }))).toBe(says);
  });

  it("still has a return address when other fields are invalid", () => {
    const read = parseReturnAddress({ ...call, arguments: "none", operation: 5 });
    expect(read.ok && read.value).toEqual({
      id: "call_1",
      call_id: null,
      callback_url: call.callback_url,
      group_id: "thread_1",
    });
  });
});

describe("a toolset", () => {
  it("is parsed with its tools", () => {
    const annotations = { destructive: true, "x-ours": { a: 1 } };
    const read = parseToolset({ ...toolset, tools: [{ ...tool, annotations, displayScript: '"x"' }] });
    expect(read).toEqual({
      ok: true,
      value: { ...toolset, needsMigration: false, tools: [{ ...tool, annotations, displayScript: '"x"' }] },
    });
  });

  it.each([
    [{ name: "" }, "name must not be empty"],
    [{ name: "n".repeat(129) }, "name must not be longer than 128"],
    [{ endpoint: "/invoke" }, "endpoint must be a URL"],
    [{ tools: [] }, "tools must have 1 or more entries"],
    [{ tools: [tool, tool] }, "tools[1].name must be unique in its toolset"],
    [{ tools: [{ ...tool, name: "a b" }] }, /^tools\[0\].name must have letters/],
    [{ tools: [{ ...tool, description: undefined }] }, "tools[0].description must be a string"],
    [
      { tools: [tool, { ...tool, name: "b", inputSchema: true }] },
      "tools[1].inputSchema must be a JSON Schema object",
    ],
    [{ tools: [{ ...tool, annotations: { readOnly: "yes" } }] }, /readOnly must be true or false/],
    [{ needsMigration: 1 }, "needsMigration must be true or false"],
  ])("is refused whole with %j", (change, says) => {
    expect(problem(parseToolset({ ...toolset, ...change }))).toMatch(says);
  });

  it.each([
    [{ type: "strange" }, /inputSchema.type must be a type/],
    [{ properties: { a: { type: 5 } } }, /inputSchema.properties.a.type/],
    [{ required: "a" }, /required must be an array of names/],
    [{ anyOf: [] }, /anyOf must be an array of schemas/],
    [{ pattern: "(" }, /pattern must be a regular expression/],
    [{ $ref: "https://elsewhere.example.com/schema" }, /must stay inside/],
    [{ items: { minLength: -1 } }, /items.minLength must be a whole number/],
  ])("is refused with the schema %j", (inputSchema, says) => {
    expect(problem(parseToolset({ ...toolset, tools: [{ ...tool, inputSchema }] }))).toMatch(says);
  });
});

describe("arguments", () => {
  it("are checked by the schema, with texts for a model", () => {
    const check = argumentsCheck({
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
      required: ["city"],
      additionalProperties: false,
    });
    expect(check({ city: "Bern", days: 2 })).toBeUndefined();
    expect(check({})).toContain("city");
    expect(check({ city: "Bern", days: 0 })).toContain("days");
    expect(check([])).toBeDefined();
  });

  it("are checked through refs, and a ref without a target is reported at once", () => {
    const check = argumentsCheck({ $ref: "#/$defs/a", $defs: { a: { required: ["x"] } } });
    expect(check({})).toContain("x");
    expect(() => argumentsCheck({ $ref: "#/$defs/b" })).toThrow();
  });
});

describe("a callback", () => {
  it("can be any of the five messages", () => {
    const messages = [
      { ...result, call_id: "c", subscription: true },
      {
        type: "subscription_event",
        group_id: "t",
        tool_call_id: "c",
        text: "",
        associative: true,
        final: false,
      },
      { type: "oauth", group_id: "t", id: "c", call_id: null, auth_url: "https://login.example.com/?a=b" },
      { ...choice, call_id: null },
      { type: "view_update", group_id: "t", view_type: "diff", content: {} },
    ];
    for (const message of messages) expect(parseCallback(message)).toEqual({ ok: true, value: message });
  });

  it("skips display segments of unknown types, and keeps the order of the others", () => {
    const text = { type: "text", content: "short" };
    const diff = { type: "diff", content: { path: "a", patch: "---" } };
    const read = parseCallback({
      ...result,
      display_as: [{ type: "chart", content: { x: 1 } }, diff, text],
    });
    expect(read.ok && read.value.type === "tool_result" && read.value.display_as).toEqual([diff, text]);
  });

  it.each([
    [
      "a segment of the wrong form",
      [{ type: "diff", content: "x" }],
      [],
      "display_as[0].content must be an object",
    ],
    [
      "one of several",
      [
        { type: 5, content: "x" },
        { type: "text", content: "short" },
      ],
      [{ type: "text", content: "short" }],
      "display_as[0].type must be a string",
    ],
    ["no list", "x", undefined, "display_as must be an array"],
    ["nothing", null, undefined, undefined],
    ["too many", Array(257).fill({ type: "text", content: "" }), undefined, /not have more than 256/],
  ])("reads a result beside a display with %s", (_, display_as, shown, says) => {
    const read = parseCallback({ ...result, display_as });
    expect(read).toEqual({
      ok: true,
      value: expect.objectContaining({ text: "done", ...(shown && { display_as: shown }) }),
    });
    expect(read.ok && "display_as" in read.value).toBe(shown !== undefined);
    const wrong = displayProblem(display_as);
    if (says === undefined) expect(wrong).toBeUndefined();
    else expect(`${wrong?.path} ${wrong?.says}`).toMatch(says);
  });

  it.each([
    [{ ...result, type: "constructor" }, /^type must be one of/],
    [{ ...result, text: undefined }, "text is required unless content is present"],
    [{ ...result, content: [] }, "content must have 1 or more entries"],
    [{ ...result, content: [{ type: "video" }] }, "content[0].type must be text or image"],
    [{ ...result, content: [{ type: "image", data: "<>", mediaType: "image/png" }] }, /base64/],
    [{ ...result, content: [{ type: "image", data: "AA==", mediaType: "text/html" }] }, /type of an image/],
    [{ ...choice, default: 2 }, "default must be an index of choices"],
    [{ ...choice, default: 0.5 }, /default must be a whole number/],
    [{ ...choice, choices: [] }, "choices must have 1 or more entries"],
    [{ ...choice, response_url: "javascript:alert(1)" }, /response_url must begin with http/],
    [{ type: "oauth", group_id: "t", id: "c", auth_url: "http://login.example.com" }, /begin with https/],
    [{ type: "view_update", group_id: "t", view_type: "diff", content: "x" }, "content must be an object"],
    [{ type: "subscription_event", group_id: "t", id: "c", text: "" }, "tool_call_id must be a string"],
  ])("is refused as %j", (message, says) => {
    expect(problem(parseCallback(message))).toMatch(says);
  });
});

describe("notices", () => {
  it("are read", () => {
    expect(parseCloseThread({ thread_id: "t" })).toEqual({ ok: true, value: { thread_id: "t" } });
    expect(parseCancelToolCall({ thread_id: "t", tool_call_id: "c" }).ok).toBe(true);
    expect(parseMigrate({ session_id: "t", destination_url: "http://127.0.0.1:1" }).ok).toBe(true);
    expect(parseUserChoiceResponse({ id: "c", selected: 0 }).ok).toBe(true);
    expect(parseUserChoiceResponse({ id: "c", selected: -1 }).ok).toBe(false);
    expect(parseMigrate({ session_id: "t", destination_url: "gopher://x" }).ok).toBe(false);
  });

  it("accept ids that look like paths, and refuse ids that are no text", () => {
    expect(isId("../../etc/passwd")).toBe(true);
    for (const hostile of ["", "a\0", "a\n", "\ud83d", "x".repeat(10_240), null, 4, {}, ["t"]]) {
      expect(isId(hostile), JSON.stringify(hostile)).toBe(false);
      expect(parseCloseThread({ thread_id: hostile }).ok).toBe(false);
    }
  });
});

describe("bodies", () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const stream = (...chunks: string[]): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(bytes(chunk));
        controller.close();
      },
    });

  it("are read up to their limit", async () => {
    expect(await readBytes(stream("ab", "cd"), 4)).toEqual(bytes("abcd"));
    expect(await readBytes(stream("ab", "cd", "e"), 4)).toBeUndefined();
    expect(await readBytes(null, 4)).toEqual(bytes(""));
  });

  it("must be an object in UTF-8 of limited depth", () => {
    expect(parseJson(bytes('{"a":1}'))).toEqual({ ok: true, value: { a: 1 } });
    expect(problem(parseJson(bytes("[]")))).toBe("must be an object");
    expect(problem(parseJson(bytes("{")))).toBe("is not JSON");
    expect(problem(parseJson(Uint8Array.of(0x22, 0xff, 0x22)))).toBe("is not UTF-8");
    const deep = 200_000;
    expect(problem(parseJson(bytes(`{"a":${"[".repeat(deep)}${"]".repeat(deep)}}`)))).toMatch(
      /nested deeper/,
    );
  });

  it("are JSON if their Content-Type says so", () => {
    for (const type of [
      "application/json",
      "Application/JSON; charset=UTF-8",
      'application/json;charset="utf-8"',
    ])
      expect(isJson(type), type).toBe(true);
    for (const type of [null, "", "text/plain", "application/jsonp", "application/json; charset=latin1"])
      expect(isJson(type), String(type)).toBe(false);
  });

  it("have an idempotency key, if it is valid", () => {
    expect(parseIdempotencyKey("a-1")).toBe("a-1");
    for (const bad of [null, undefined, "", "a b", "ä", "k".repeat(256)])
      expect(parseIdempotencyKey(bad)).toBeUndefined();
  });
});

it("builds endpoint URLs under a base URL with and without a path", () => {
  expect(underBase("https://a.example.com", PATHS.toolset)).toBe(
    "https://a.example.com/.well-known/rap-toolset",
  );
  expect(underBase("https://a.example.com/x/", PATHS.closeThread)).toBe(
    "https://a.example.com/x/close_thread",
  );
  expect(underBase("https://a.example.com/x?q#h", PATHS.migrate)).toBe("https://a.example.com/x/migrate");
});

it("parses any input without throwing", () => {
  const parsers = [
    parseToolset,
    parseInvocation,
    parseReturnAddress,
    parseCallback,
    parseCloseThread,
    parseCancelToolCall,
    parseMigrate,
    parseUserChoiceResponse,
  ];
  const near = fc.oneof(
    fc.constant<object>(call),
    fc.constant<object>(toolset),
    fc.constant<object>(result),
    fc.constant<object>(choice),
  );
  const spoiled = fc
    .tuple(near, fc.nat(9), fc.jsonValue())
    .map(([message, at, value]) => ({ ...message, [Object.keys(message)[at] ?? "extra"]: value }));
  fc.assert(
    fc.property(fc.oneof(fc.anything(), spoiled), (value) => {
      for (const parser of parsers) expect(typeof parser(value).ok).toBe("boolean");
    }),
  );
});
