// An MCP server on stdio that does on request what servers should not do. It uses no library, so that it starts quickly and
// can break the protocol. What it does from its start on is said by its arguments:
//   --start-after MS   answers nothing before that
//   --start-when FILE  answers nothing before that is there
//   --hang             never answers
//   --exit CODE        exits at once
//   --strict           exits at a request that it does not know, as some older servers do
//   --mute             answers no request that it does not know
//   --late             has another tool right behind its first list
//   --version V        speaks that version of the protocol only
//   --modern           speaks the version of 2026 only: it asks by its result, and never by a request
//   --garbage          prints lines that are no messages between its messages
//   --prompts          offers prompts
//   --mute-resources   answers no request for resources
//   --cancelled FILE   writes what is cancelled to a file
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? (args[args.indexOf(name) + 1] ?? "") : undefined);
const write = (text) => process.stdout.write(`${text}\n`);
const send = (message) => {
  if (args.includes("--garbage")) write("this is no message");
  write(JSON.stringify({ jsonrpc: "2.0", ...message }));
};
const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

if (option("--exit") !== undefined) {
  process.stderr.write("it cannot go on\n");
  process.exit(Number(option("--exit")));
}

let asked = 0;
const answers = new Map();
/** A request of ours to the client. */
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = `ask-${++asked}`;
    answers.set(id, resolve);
    send({ id, method, params });
  });

const object = { type: "object" };
const tools = {
  echo: ({ message }) => text(message),
  pid: () => text(process.pid),
  cwd: () => text(process.cwd()),
  env: () => text(JSON.stringify(process.env)),
  roots: async () => text(JSON.stringify(await ask("roots/list", {}))),
  die: () => process.exit(3),
  fail: () => {
    throw Object.assign(new Error("it does not want to"), { code: -32_042, data: { why: "no" } });
  },
  twice: (_args, id) => {
    send({ id, result: text("first") });
    return text("second");
  },
  /** Waits until a file is there. */
  until: async ({ file }) => {
    while (!existsSync(file)) await wait(10);
    return text("it is there");
  },
  /** Asks the person, when a file is there. */
  ask: async ({ file, message = "Which color?", properties = { color: { type: "string" } }, required }) => {
    while (file !== undefined && !existsSync(file)) await wait(10);
    const requestedSchema = { type: "object", properties, ...(required && { required }) };
    const { result, error } = await ask("elicitation/create", { message, requestedSchema });
    return text(JSON.stringify(error ?? result));
  },
  /** Answers at once, and asks when a file is there. Writes the answer to another file. */
  askLater: ({ file, answer }) => {
    void (async () => {
      while (!existsSync(file)) await wait(10);
      const params = { message: "Which color?", requestedSchema: { ...object, properties: {} } };
      const { result } = await ask("elicitation/create", params);
      writeFileSync(`${answer}.new`, JSON.stringify(result));
      renameSync(`${answer}.new`, answer);
    })();
    return text("later");
  },
  sample: async () => {
    const messages = [{ role: "user", content: { type: "text", text: "Hello" } }];
    const { result, error } = await ask("sampling/createMessage", { messages, maxTokens: 10 });
    return text(JSON.stringify(error ?? result));
  },
  progress: async ({ steps, ms = 1 }, _id, meta) => {
    for (let progress = 1; progress <= steps; progress++) {
      await wait(ms);
      send({
        method: "notifications/progress",
        params: { progressToken: meta.progressToken, progress, total: steps },
      });
    }
    return text("done");
  },
  picture: ({ bytes }) => {
    const dot =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const data = Buffer.concat([Buffer.from(dot, "base64"), Buffer.alloc(bytes, 1)]).toString("base64");
    return { content: [{ type: "image", data, mimeType: "image/png" }] };
  },
  silence: () => new Promise(() => {}),
  big: ({ bytes }) => text("x".repeat(bytes)),
  /** Has another tool from now on. */
  learn: ({ name }) => {
    tools[name] = () => text(`${name} was learned`);
    send({ method: "notifications/tools/list_changed" });
    return text("learned");
  },
  /** Never ends. */
  flood: async () => {
    const message = JSON.stringify({
      jsonrpc: "2.0",
      method: "notifications/message",
      params: { level: "info", data: "x" },
    });
    for (;;)
      if (!process.stdout.write(`${message}\nflood\n`))
        await new Promise((resolve) => process.stdout.once("drain", resolve));
  },
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: option("--version") ?? protocolVersion,
    capabilities: { tools: { listChanged: true }, resources: {} },
    serverInfo: { name: "mcp-program", version: "1" },
    instructions: "Use it in tests.",
  }),
  ping: () => ({}),
  "tools/list": () => {
    const listed = {
      tools: Object.keys(tools).map((name) => ({
        name,
        description: `The tool ${name}.`,
        inputSchema: object,
      })),
    };
    if (args.includes("--same-page")) return { ...listed, nextCursor: "next" };
    if (args.includes("--late") && tools.late === undefined) {
      tools.late = () => text("better late than never");
      setImmediate(() => send({ method: "notifications/tools/list_changed" }));
    }
    return listed;
  },
  "tools/call": ({ name, arguments: given, _meta }, id) => {
    if (tools[name] === undefined) throw Object.assign(new Error(`no tool ${name}`), { code: -32_602 });
    return tools[name](given ?? {}, id, _meta ?? {});
  },
  "resources/list": () => ({ resources: [{ uri: "test://one", name: "one" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "test://{name}", name: "any" }] }),
  /** The address `test://TOOL?ARGUMENTS` has the text that the tool answers with. */
  "resources/read": async ({ uri, _meta }, id) => {
    const { host, searchParams } = new URL(uri);
    if (host === "meta") return { contents: [{ uri, text: JSON.stringify(_meta) }] };
    const result = await tools[host]?.(Object.fromEntries(searchParams), id, {});
    return { contents: [{ uri, text: result?.content[0].text ?? `this is ${uri}` }] };
  },
};

if (args.includes("--mute-resources"))
  for (const name of Object.keys(methods))
    if (name.startsWith("resources/")) methods[name] = () => new Promise(() => {});

if (args.includes("--prompts")) {
  const { initialize } = methods;
  methods.initialize = (params) => {
    const result = initialize(params);
    return { ...result, capabilities: { ...result.capabilities, prompts: {} } };
  };
  const user = (content) => ({ role: "user", content });
  const dot =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const prompts = {
    poem: ({ topic, style = "plain" }) => [
      user({ type: "text", text: `Write a ${style} poem about ${topic}.` }),
    ],
    rich: () => [
      user({ type: "text", text: "Look at this." }),
      user({ type: "image", data: dot, mimeType: "image/png" }),
      user({ type: "image", data: "<svg onload=alert(1)>", mimeType: "image/svg+xml" }),
      user({ type: "resource", resource: { uri: "test://one", text: "the text of one" } }),
      user({ type: "resource_link", uri: "test://two", name: "two" }),
      user({ type: "surprise" }),
      "no message",
    ],
    talk: () => [
      user({ type: "text", text: "Who are you?" }),
      { role: "assistant", content: { type: "text", text: "A poet." } },
      user({ type: "text", text: "Prove it." }),
    ],
    hang: () => new Promise(() => {}),
    "with space": () => [],
    __proto__: null,
  };
  const listed = {
    poem: {
      description: "A poem,\non demand",
      arguments: [
        { name: "topic", description: "What about", required: true },
        { name: "style" },
        { noname: 1 },
      ],
    },
    rich: { title: "Rich" },
  };
  methods["prompts/list"] = ({ cursor }) => {
    const all = Object.keys(prompts).map((name) => ({ name, ...listed[name] }));
    return cursor === "2"
      ? { prompts: all.slice(2) }
      : { prompts: [...all.slice(0, 2), null], nextCursor: "2" };
  };
  methods["prompts/get"] = async ({ name, arguments: given }) => {
    if (prompts[name] === undefined) throw Object.assign(new Error(`no prompt ${name}`), { code: -32_602 });
    return { messages: await prompts[name](given ?? {}) };
  };
}

if (args.includes("--modern")) {
  delete methods.initialize;
  const complete = (method) => async (params, id) => {
    const result = await method(params, id);
    return { resultType: "complete", ttlMs: 0, cacheScope: "private", ...result };
  };
  for (const name of Object.keys(methods)) methods[name] = complete(methods[name]);
  methods["server/discover"] = () => ({
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    instructions: "It is new.",
    ttlMs: 0,
    cacheScope: "private",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "modern", version: "2" } },
  });
  const call = methods["tools/call"];
  methods["tools/call"] = async (params, id) => {
    if (params.name !== "ask") return call(params, id);
    if (params.inputResponses !== undefined)
      return {
        resultType: "complete",
        ...text(JSON.stringify([params.inputResponses, params.requestState])),
      };
    const requestedSchema = { type: "object", properties: { color: { type: "string" } } };
    const inputRequests = {
      color: {
        method: "elicitation/create",
        params: { mode: "form", message: "Which color?", requestedSchema },
      },
      where: { method: "roots/list", params: {} },
    };
    return { resultType: "input_required", inputRequests, requestState: "as it was" };
  };
}

const startAt = Date.now() + Number(option("--start-after") ?? 0);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result, error } = JSON.parse(line);
  if (args.includes("--hang")) continue;
  if (method === undefined) {
    answers.get(id)?.({ result, error });
    continue;
  }
  if (id === undefined) {
    const file = option("--cancelled");
    if (method === "notifications/cancelled" && file !== undefined) writeFileSync(file, line);
    continue;
  }
  if (methods[method] === undefined) {
    if (args.includes("--strict")) process.exit(1);
    if (args.includes("--mute")) continue;
    send({ id, error: { code: -32_601, message: "Method not found" } });
    continue;
  }
  void (async () => {
    await wait(Math.max(0, startAt - Date.now()));
    while (option("--start-when") !== undefined && !existsSync(option("--start-when"))) await wait(10);
    try {
      send({ id, result: await methods[method](params ?? {}, id) });
    } catch ({ message, code, data }) {
      send({ id, error: { code: code ?? -32_603, message, data } });
    }
  })();
}
process.exit(0);
