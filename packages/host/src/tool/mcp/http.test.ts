import { describe, expect, it } from "vitest";
import { eventually, settled } from "../../../../../test/support/eventually.ts";
import { answer, everythingOverHttp, fakeHttpServer } from "../../../../../test/support/mcp-http.ts";
import { PoolStage } from "../../../../../test/support/mcp-pool-stage.ts";
import type { McpAskHandler, McpAuth, McpError } from "./mcp-interface.ts";

const caught = (work: Promise<unknown>): Promise<McpError> =>
  work.then(
    () => expect.fail("it went well"),
    (cause: unknown) => cause as McpError,
  );

const handler = (name: string): McpAskHandler => ({
  elicit: async () => ({ action: "accept", content: { name } }),
  sample: async () => ({ role: "assistant", model: "m", content: { type: "text", text: name } }),
});

/** A message in an event stream. */
const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;

describe("a server over HTTP", () => {
  it("[MCP-9] is connected to, called, asked for resources and followed", async () => {
    const stage = await PoolStage.open({ own: { url: await everythingOverHttp() } });
    const a = await stage.load("a");
    expect(await stage.call(a, "echo", { message: "hi" })).toBe("Echo: hi");
    const seen: number[] = [];
    await stage.call(
      a,
      "trigger-long-running-operation",
      { duration: 0.2, steps: 4 },
      {
        onProgress: ({ progress }) => seen.push(progress),
      },
    );
    expect(seen).toEqual([1, 2, 3, 4]);
    const { signal } = new AbortController();
    const { resources, nextCursor } = await stage.server(a).listResources(null, signal);
    expect(resources.length).toBeGreaterThan(0);
    expect(nextCursor === null || typeof nextCursor === "string").toBe(true);
    const { contents } = await stage.server(a).readResource(String(resources[0]!.uri), signal);
    expect(contents.length).toBe(1);
    expect(
      (await stage.server(a).listResourceTemplates(null, signal)).resourceTemplates.length,
    ).toBeGreaterThan(0);
  });

  it("[MCP-7] asks the call that it asks for, whatever other threads do", async () => {
    const stage = await PoolStage.open({ own: { url: await everythingOverHttp() } });
    const threads = await Promise.all(["a", "b", "c"].map((id) => stage.load(id)));
    await stage.call(threads[0]!, "echo", { message: "hi" });
    const answers = await Promise.all(
      threads.map((thread) =>
        stage.call(
          thread,
          "trigger-elicitation-request",
          {},
          { asked: handler(`person of ${thread.facts.id}`) },
        ),
      ),
    );
    for (const [nth, { facts }] of threads.entries()) expect(answers[nth]).toContain(`person of ${facts.id}`);
    expect(stage.mcp.pool.isIsolated(stage.server(threads[0]!).settings, "local")).toBe(false);
  });

  it("[MCP-7] asks nobody during a resource read, whatever calls other threads have", async () => {
    const fake = await fakeHttpServer();
    const replies = new Map<unknown, (reply: unknown) => void>();
    let finish = (): void => {};
    fake.handle = ({ id, method, params, result }, response) => {
      if (method === undefined && replies.has(id)) replies.get(id)!(result);
      if (method === "tools/call") {
        finish = () => answer(response, { id, result: { content: [] } });
        return true;
      }
      if (method !== "resources/read") return false;
      response.writeHead(200, { "content-type": "text/event-stream" });
      replies.set("ask-1", (reply) => {
        const contents = [{ uri: params.uri, text: JSON.stringify(reply) }];
        response.end(event({ id, result: { contents } }));
      });
      const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
      response.write(
        event({ id: "ask-1", method: "elicitation/create", params: { message: "Who?", requestedSchema } }),
      );
      return true;
    };
    const stage = await PoolStage.open({ own: { url: fake.url } });
    const [a, b] = [await stage.load("a"), await stage.load("b")];
    let asked = 0;
    const blue: McpAskHandler = {
      ...handler("blue"),
      elicit: async () => {
        asked++;
        return { action: "accept", content: { name: "blue" } };
      },
    };
    const waiting = stage.call(b, "echo", {}, { asked: blue });
    await eventually(() => fake.requests.some(({ message }) => message.method === "tools/call"), "b calls");
    const { contents } = await stage.server(a).readResource("test://one", new AbortController().signal);
    expect(contents).toMatchObject([{ text: JSON.stringify({ action: "cancel" }) }]);
    expect(asked).toBe(0);
    expect(stage.mcp.pool.isIsolated(stage.server(b).settings, "local")).toBe(false);
    finish();
    await waiting;
  });

  it("[MCP-9] that speaks an older version is spoken to in that version", async () => {
    const fake = await fakeHttpServer();
    fake.handle = ({ id, method }, response) => {
      if (method !== "initialize") return false;
      const serverInfo = { name: "old", version: "1" };
      const result = { protocolVersion: "2025-03-26", capabilities: { tools: {} }, serverInfo };
      answer(response, { id, result }, { "mcp-session-id": "one" });
      return true;
    };
    const stage = await PoolStage.open({ own: { url: fake.url } });
    const a = await stage.load("a");
    expect(await stage.call(a, "echo", { message: "hi" })).toBe("hi");
    const [called] = fake.requests.filter(({ message }) => message.method === "tools/call");
    expect(called!.headers["mcp-protocol-version"]).toBe("2025-03-26");
  });

  it("[MCP-9] gets the configured headers, and those of a helper, on each request", async () => {
    const fake = await fakeHttpServer();
    const helper = `printf '{"X-Helped": "%s", "Mcp-Session-Id": "forged"}' "$HOME"`;
    const stage = await PoolStage.open(
      {
        own: {
          url: fake.url,
          http_headers: { "X-Plain": "one" },
          env_http_headers: { "X-From-Env": "FROM_ENV", "X-Unset": "UNSET" },
          bearer_token_env_var: "TOKEN",
          http_headers_helper: helper,
        },
      },
      { env: { ...process.env, FROM_ENV: "two", TOKEN: "three", HOME: "/home/x" } },
    );
    const a = await stage.load("a");
    expect(await stage.call(a, "echo", { message: "hi" })).toBe("hi");
    for (const { headers } of fake.requests) {
      expect(headers).toMatchObject({
        "x-plain": "one",
        "x-from-env": "two",
        authorization: "Bearer three",
        "x-helped": "/home/x",
      });
      expect(headers).not.toHaveProperty("x-unset");
      expect(headers["mcp-session-id"] ?? "one").toBe("one");
    }
  });

  it("[MCP-9] whose helper fails is not connected to", async () => {
    const fake = await fakeHttpServer();
    const stage = await PoolStage.open({
      exits: { url: fake.url, http_headers_helper: "exit 4" },
      prints: { url: fake.url, http_headers_helper: "echo secret" },
    });
    const a = await stage.load("a");
    expect((await caught(stage.call(a, "echo", {}, {}, "exits"))).message).toContain("it exited with code 4");
    const { message } = await caught(stage.call(a, "echo", {}, {}, "prints"));
    expect(message).toContain("did not print a JSON object");
    expect(message).not.toContain("secret");
    expect(fake.requests).toEqual([]);
  });

  it("[MCP-5] that has forgotten the session is connected to again, and the call is made once", async () => {
    const fake = await fakeHttpServer();
    const stage = await PoolStage.open({ own: { url: fake.url } });
    const a = await stage.load("a");
    await stage.call(a, "echo", { message: "first" });
    let forgets = true;
    fake.handle = ({ method }, response) => {
      if (method !== "tools/call" || !forgets) return false;
      forgets = false;
      response.writeHead(404).end("no such session");
      return true;
    };
    const before = fake.requests.length;
    expect(await stage.call(a, "echo", { message: "second" })).toBe("second");
    const methods = fake.requests.slice(before).map(({ message }) => message.method);
    expect(methods.filter((method) => method === "initialize").length).toBe(1);
    expect(methods.filter((method) => method === "tools/call").length).toBe(2);
  });

  it("[MCP-5] that breaks off its answer gives the model words to act on", async () => {
    const fake = await fakeHttpServer();
    const stage = await PoolStage.open({ own: { url: fake.url } });
    const a = await stage.load("a");
    await stage.call(a, "echo", { message: "first" });
    fake.handle = ({ method }, response) => {
      if (method !== "tools/call") return false;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": hello\n\n");
      setImmediate(() => response.destroy());
      return true;
    };
    const error = await caught(stage.call(a, "echo", { message: "second" }));
    expect(error.kind).toBe("lost");
    expect(error.message).toContain("Whether it had an effect is not known.");
  });

  it("[MCP-6] whose answer is too large, or no answer, gives the model words to act on", async () => {
    const fake = await fakeHttpServer();
    const stage = await PoolStage.open({ own: { url: fake.url } });
    const a = await stage.load("a");
    await stage.call(a, "echo", { message: "first" });
    const replies: Readonly<Record<string, (id: unknown) => [string, string]>> = {
      json: (id) => [
        "application/json",
        JSON.stringify({ jsonrpc: "2.0", id, result: { x: "x".repeat(40_000_000) } }),
      ],
      event: (id) => [
        "text/event-stream",
        `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { x: "x".repeat(40_000_000) } })}\n\n`,
      ],
      html: () => ["text/html", "<html>"],
      garbage: () => ["application/json", "{"],
    };
    fake.handle = ({ method, params, id }, response) => {
      if (method !== "tools/call") return false;
      const [type, body] = replies[String(params.arguments.message)]!(id);
      response.writeHead(200, { "content-type": type }).end(body);
      return true;
    };
    for (const message of Object.keys(replies)) {
      const error = await caught(stage.call(a, "echo", { message }));
      const isLarge = message === "json" || message === "event";
      expect([message, error.kind]).toEqual([message, isLarge ? "tooLarge" : "invalid"]);
    }
    fake.handle = () => false;
    expect(await stage.call(a, "echo", { message: "after" })).toBe("after");
  });

  it("[MCP-6] that floods is read slowly, and others are not kept waiting", async () => {
    const [fake, other] = [await fakeHttpServer(), await fakeHttpServer()];
    fake.handle = ({ id, method, params }, response) => {
      if (method !== "tools/call") return false;
      const { progressToken } = params._meta;
      const events = Array.from({ length: 5000 }, (_, progress) =>
        event({ method: "notifications/progress", params: { progressToken, progress } }),
      );
      const reply = event({ id, result: { content: [{ type: "text", text: "done" }] } });
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end([...events, ": nothing\n\n".repeat(1000), reply].join(""));
      return true;
    };
    const stage = await PoolStage.open(
      { own: { url: fake.url, tool_timeout_sec: 3600 }, other: { url: other.url } },
      { byHand: true },
    );
    const a = await stage.load("a");
    let seen = 0;
    const onProgress = (): void => void seen++;
    const flood = stage.call(a, "echo", {}, { onProgress });
    // The clock stands still, so that only the burst is read.
    await eventually(() => seen >= 2000, "the burst is read");
    expect(await settled(() => seen)).toBeLessThan(2010);
    expect(await stage.call(a, "echo", { message: "hi" }, {}, "other")).toBe("hi");
    const before = seen;
    stage.pass(1000);
    expect((await settled(() => seen)) - before).toBeLessThan(510);
    let text = "";
    let seconds = 1;
    void flood.then((answered) => {
      text = answered;
    });
    await eventually(() => {
      if (text !== "") return true;
      stage.pass(1000);
      seconds++;
      return false;
    }, "the rest is read");
    // 2,000 of 6,000 events at once, and 500 in each second.
    expect(text).toBe("done");
    expect(seconds).toBeGreaterThanOrEqual(8);
  });

  it("[MCP-6] is not slowed down because its answers are large", async () => {
    const fake = await fakeHttpServer();
    fake.handle = ({ id, method, params }, response) => {
      if (method !== "tools/call") return false;
      const { progressToken } = params._meta;
      const progress = (nth: number) =>
        event({ method: "notifications/progress", params: { progressToken, progress: nth } });
      const text = "x".repeat(params.arguments.size);
      const reply = event({ id, result: { content: [{ type: "text", text }] } });
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end([progress(1), progress(2), reply].join(""));
      return true;
    };
    // The clock stands still: a pause would never end.
    const stage = await PoolStage.open({ own: { url: fake.url } }, { byHand: true });
    const a = await stage.load("a");
    for (let nth = 0; nth < 3; nth++)
      expect((await stage.call(a, "echo", { size: 8_000_000 })).length).toBe(8_000_000);
    expect((await stage.call(a, "echo", { size: 1 })).length).toBe(1);
  });

  it("[MCP-9] that wants a login gets tokens, is asked again once, and says what to do", async () => {
    const fake = await fakeHttpServer();
    const asked: string[] = [];
    const auth: McpAuth = {
      token: async () => "old",
      refused: async (server, owner, { token, challenge }) => {
        asked.push(`${server.name} ${owner} ${token} ${challenge}`);
        return fresh;
      },
      status: async () => "oAuth",
      advice: ({ name }) => `log in to ${name}`,
    };
    let fresh: string | undefined = "new";
    fake.handle = (_message, response, { headers }) => {
      if (headers.authorization === "Bearer new") return false;
      response.writeHead(401, { "www-authenticate": "Bearer x" }).end();
      return true;
    };
    const stage = await PoolStage.open({ own: { url: fake.url } }, { auth });
    const a = await stage.load("a");
    expect(await stage.call(a, "echo", { message: "hi" })).toBe("hi");
    expect(asked[0]).toBe("own local old Bearer x");
    fresh = undefined;
    const error = await caught(stage.call(a, "echo", { message: "hi" }));
    expect(error).toMatchObject({ kind: "unauthorized", message: expect.stringContaining("log in to own") });
    expect(stage.told.at(-1)).toMatchObject({ status: "failed", failureReason: "reauthenticationRequired" });
    fresh = "new";
    stage.mcp.authChanged("local", stage.server(a).settings);
    await eventually(() => stage.told.at(-1)!.status === "ready", "it is connected again");
    expect(await stage.call(a, "echo", { message: "again" })).toBe("again");
  });

  it("[MCP-9] that leads elsewhere does not get the credentials there", async () => {
    const [fake, elsewhere] = [await fakeHttpServer(), await fakeHttpServer()];
    fake.handle = (_message, response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
      return true;
    };
    const stage = await PoolStage.open({ own: { url: fake.url, http_headers: { authorization: "secret" } } });
    const a = await stage.load("a");
    await caught(stage.call(a, "echo"));
    expect(elsewhere.requests).toEqual([]);
  });

  it("[MCP-3] has its session ended with the last lease", async () => {
    const fake = await fakeHttpServer();
    const stage = await PoolStage.open({ own: { url: fake.url } }, { byHand: true });
    const [a] = [await stage.load("a"), await stage.load("b")];
    await stage.call(a, "echo", { message: "hi" });
    stage.mcp.unload("a");
    stage.mcp.unload("b");
    stage.pass(5000);
    await eventually(() => fake.requests.at(-1)!.verb === "DELETE", "the session was ended");
    expect(fake.requests.at(-1)!.headers["mcp-session-id"]).toBe("one");
    expect(fake.requests.filter(({ message }) => message.method === "initialize").length).toBe(1);
  });
});
