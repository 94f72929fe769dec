import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { createConnection } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { LinkRecording } from "../../../../../test/support/link-recording.ts";
import type { Authenticate } from "../listen/authenticate.ts";
import type { Listener } from "../listen/listener.ts";
import { listenWebSocket, type WebSocketOptions } from "../listen/websocket.ts";
import type { Site } from "./site-endpoints.ts";

const listeners: Listener[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close(0);
});

const site: Site = {
  version: "1.2.3",
  metrics: async () => "threads_loaded 3\n",
  status: async () => [
    ["Threads loaded", "3"],
    ["Model", "<offline>"],
  ],
};

async function open(options: Partial<WebSocketOptions> = {}) {
  const { accept } = new LinkRecording();
  const listener = await listenWebSocket({ accept, host: "127.0.0.1", port: 0, site, ...options });
  listeners.push(listener);
  const { port } = new URL(listener.url);
  return {
    listener,
    port,
    async ask(path: string, headers: Record<string, string> = {}, method = "GET") {
      const asked = httpRequest({ host: "127.0.0.1", port, path, method, headers }).end();
      const [response]: [IncomingMessage] = (await once(asked, "response")) as [IncomingMessage];
      return { status: response.statusCode, headers: response.headers, body: await text(response) };
    },
    /** The status of an attempt to connect; 101 when it worked. */
    async upgrade(headers: Record<string, string> = {}): Promise<number> {
      const client = new WebSocket(`ws://127.0.0.1:${port}`, { headers });
      return new Promise((resolve) => {
        client.once("open", () => {
          client.terminate();
          resolve(101);
        });
        client.once("unexpected-response", (request, response) => {
          request.destroy();
          resolve(response.statusCode ?? 0);
        });
        client.on("error", () => {});
      });
    },
  };
}

const authenticate: Authenticate = (header) =>
  header === "Bearer good"
    ? { principal: { kind: "token" } }
    : { status: 401, code: "unauthorized", message: "no", headers: { "WWW-Authenticate": "Bearer" } };

describe("the HTTP side", () => {
  it("answers probes", async () => {
    const { ask } = await open();
    expect(await ask("/readyz")).toMatchObject({ status: 200, body: "ok\n" });
    expect(await ask("/healthz?verbose")).toMatchObject({ status: 200, body: "ok\n" });
  });

  it("is not ready while the listener is closing", async () => {
    const { listener, port } = await open();
    const probe = createConnection(Number(port), "127.0.0.1");
    let got = "";
    probe.on("data", (chunk) => {
      got += chunk;
    });
    // Half a request holds its connection open across the close.
    probe.write("GET /readyz HTTP/1.1\r\n");
    // Connected later, so that the half request has arrived.
    await once(new WebSocket(listener.url), "open");
    const closed = listener.close(10_000);
    probe.write("Host: localhost\r\n\r\n");
    await once(probe, "close");
    expect(got).toMatch(/^HTTP\/1\.1 503 /);
    await Promise.all([closed, listener.close(0)]);
  });

  it("gives the metrics", async () => {
    const { ask } = await open();
    const reply = await ask("/metrics");
    expect(reply).toMatchObject({ status: 200, body: "threads_loaded 3\n" });
    expect(reply.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  });

  it("says that metrics failed instead of hanging", async () => {
    const { ask } = await open({ site: { metrics: () => Promise.reject(new Error("no registry")) } });
    expect(await ask("/metrics")).toMatchObject({
      status: 500,
      body: expect.stringContaining("no registry"),
    });
  });

  it("shows a person what this is and how to connect, with nothing loaded from anywhere", async () => {
    const { ask, port } = await open();
    const { status, headers, body } = await ask("/", { host: `localhost:${port}` });
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/);
    expect(headers["content-security-policy"]).not.toContain("unsafe");
    expect(body).toContain(`ws://localhost:${port}`);
    expect(body).toContain("npx wscat");
    expect(body).toContain("1.2.3");
    expect(body).toContain('<iframe src="/status"');
    expect(body).not.toMatch(/<script|<link|style=|src="?http/);
    const frame = await ask("/status");
    expect(frame.body).toContain("&#60;offline&#62;");
    expect(frame.headers["content-security-policy"]).toContain("frame-ancestors 'self'");
  });

  it("serves the console at / and its files by their names, and the page for programs beside it", async () => {
    const page =
      '<meta name="a" content="%BOBBIN_ADDRESS%"><meta name="b" content="%BOBBIN_AUTH%">%BOBBIN_VERSION%';
    const files = new Map([
      ["/index.html", { type: "text/html; charset=utf-8", body: Buffer.from(page) }],
      [
        "/assets/main-1a2b.js",
        {
          type: "text/javascript; charset=utf-8",
          body: Buffer.from("run()"),
          encoded: { gzip: Buffer.from("zipped") },
        },
      ],
    ]);
    const { ask, port } = await open({ site: { ...site, version: '<"1">', console: async () => files } });
    const { headers, body } = await ask("/", { host: `localhost:${port}` });
    expect(body).toBe(
      `<meta name="a" content="ws://localhost:${port}"><meta name="b" content="none">&#60;&#34;1&#34;&#62;`,
    );
    expect(headers["cache-control"]).toBe("no-store");
    const policy = headers["content-security-policy"];
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).toContain("trusted-types 'none'");
    expect(policy).not.toContain("unsafe");
    const script = await ask("/assets/main-1a2b.js");
    expect(script).toMatchObject({ status: 200, body: "run()" });
    expect(script.headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(script.headers["cache-control"]).toContain("immutable");
    expect(script.headers["x-content-type-options"]).toBe("nosniff");
    const zipped = await ask("/assets/main-1a2b.js", { "accept-encoding": "gzip, br" });
    expect(zipped).toMatchObject({ status: 200, body: "zipped" });
    expect(zipped.headers).toEqual({
      ...script.headers,
      date: expect.any(String),
      "content-encoding": "gzip",
      "content-length": "6",
    });
    expect(zipped.headers.vary).toBe("Accept-Encoding");
    for (const path of ["/assets/", "/assets/../index.html", "/assets/%2e%2e/index.html", "/index.html"])
      expect((await ask(path)).status, path).toBe(404);
    expect((await ask("/assets/main-1a2b.js", { origin: "https://evil.example" })).status).toBe(403);
    expect((await ask("/assets/main-1a2b.js", { host: "evil.example" })).status).toBe(403);
    expect((await ask("/connect")).body).toContain("npx wscat");
  });

  it("answers HEAD without a body", async () => {
    const { ask } = await open();
    expect(await ask("/", {}, "HEAD")).toMatchObject({ status: 200, body: "" });
  });

  it("answers other paths with 404 and other methods with 405, in JSON", async () => {
    const { ask } = await open();
    const missing = await ask("/nothing<here>");
    expect(missing.status).toBe(404);
    expect(JSON.parse(missing.body).error.code).toBe("notFound");
    const post = await ask("/", {}, "POST");
    expect(post).toMatchObject({ status: 405, headers: { allow: "GET, HEAD", connection: "close" } });
    expect(JSON.parse(post.body).error.code).toBe("methodNotAllowed");
  });

  it("does not read a body that never ends", async () => {
    const { port } = await open();
    const client = createConnection(Number(port), "127.0.0.1");
    client.on("error", () => {});
    client.resume();
    client.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000\r\n\r\n");
    const flood = Buffer.alloc(64 * 1024);
    const pump = (): void => void (client.writable && client.write(flood, () => setImmediate(pump)));
    pump();
    await new Promise((resolve) => client.once("close", resolve));
  });

  it("refuses to upgrade to anything but a WebSocket", async () => {
    const { ask } = await open();
    expect((await ask("/", { connection: "upgrade", upgrade: "h2c" })).status).toBe(426);
  });

  it("survives bytes that are no HTTP", async () => {
    const { port, ask } = await open();
    const client = createConnection(Number(port), "127.0.0.1");
    client.end("\0\0nonsense\r\n\r\n");
    client.resume();
    await once(client, "close");
    expect((await ask("/healthz")).status).toBe(200);
  });
});

describe("authentication", () => {
  it("comes before the upgrade and guards the metrics, but not probes and page", async () => {
    const { ask, upgrade } = await open({ authenticate });
    expect(await upgrade()).toBe(401);
    expect(await upgrade({ authorization: "Bearer bad" })).toBe(401);
    expect(await upgrade({ authorization: "Bearer good" })).toBe(101);
    const denied = await ask("/metrics");
    expect(denied).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } });
    expect(JSON.parse(denied.body)).toEqual({ error: { code: "unauthorized", message: "no" } });
    expect((await ask("/status")).status).toBe(401);
    expect((await ask("/metrics", { authorization: "Bearer good" })).status).toBe(200);
    expect((await ask("/readyz")).status).toBe(200);
    const page = await ask("/");
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining("bearer token") });
    expect(page.body).not.toContain("<iframe");
  });
});

describe("web pages", () => {
  it.each([
    ["http://localhost:PORT", 101],
    ["http://127.0.0.1:PORT", 101],
    ["http://[::1]:PORT", 101],
    ["https://app.example.com", 101],
    ["vscode-webview://abc", 101],
    ["http://localhost:1", 403],
    ["https://localhost:PORT", 403],
    ["http://localhost", 403],
    ["http://evil.example:PORT", 403],
    ["http://app.example.com", 403],
    ["https://app.example.com.evil.example", 403],
    ["http://localhost.evil.example:PORT", 403],
    ["http://127.0.0.1.evil.example:PORT", 403],
    ["null", 403],
    ["", 403],
    ["nonsense", 403],
  ])("of %j get %i", async (origin, status) => {
    const allowedOrigins = ["https://App.example.com/", "vscode-webview://abc"];
    const { upgrade, ask, port } = await open({ allowedOrigins });
    const headers = { origin: origin.replace("PORT", port) };
    expect(await upgrade(headers)).toBe(status);
    expect((await ask("/", headers)).status).toBe(status === 101 ? 200 : 403);
    expect((await ask("/readyz", headers)).status).toBe(status === 101 ? 200 : 403);
  });

  it.each([
    ["localhost:PORT", true],
    ["LOCALHOST:PORT", true],
    ["bobbin.localhost:PORT", true],
    ["127.0.0.1:PORT", true],
    ["127.1.2.3:PORT", true],
    ["[::1]:PORT", true],
    ["localhost", true],
    ["localhost:8080", true],
    ["evil.example:PORT", false],
    ["evil.example", false],
    ["localhost.evil.example:PORT", false],
    ["127.0.0.1.evil.example:PORT", false],
    ["192.168.0.7:PORT", false],
    [".", false],
    ["localhost:PORT@evil.example", false],
  ])("that had their name resolve to us are told by Host %j", async (host, ours) => {
    const { upgrade, ask, port } = await open();
    const headers = { host: host.replace("PORT", port) };
    expect(await upgrade(headers)).toBe(ours ? 101 : 403);
    for (const path of ["/", "/metrics", "/status"]) {
      expect((await ask(path, headers)).status).toBe(ours ? 200 : 403);
    }
    expect((await ask("/readyz", headers)).status).toBe(200);
  });

  it("are refused by Host even when their Origin agrees with it", async () => {
    const { upgrade, port } = await open();
    const name = `evil.example:${port}`;
    expect(await upgrade({ host: name, origin: `http://${name}` })).toBe(403);
  });

  it("are refused with the flag that lets them in", async () => {
    const { ask } = await open();
    const { body } = await ask("/", { origin: "https://app.example" });
    expect(JSON.parse(body).error).toMatchObject({
      code: "originRefused",
      message: expect.stringContaining("--allow-origin https://app.example"),
    });
  });

  it("that came through a forwarded port are our own", async () => {
    const { upgrade } = await open();
    expect(await upgrade({ host: "localhost:8080", origin: "http://localhost:8080" })).toBe(101);
    expect(await upgrade({ host: "localhost:8080", origin: "http://localhost:8081" })).toBe(403);
  });

  it("may be opened by any name on a listener for other machines, and connect only from its address", async () => {
    const { upgrade, ask, port } = await open({ host: "0.0.0.0", authenticate });
    const authorization = "Bearer good";
    expect((await ask("/", { host: "bobbin.example" })).status).toBe(200);
    expect(await upgrade({ authorization, host: "bobbin.example" })).toBe(101);
    const name = `bobbin.example:${port}`;
    expect(await upgrade({ authorization, host: name, origin: `http://${name}` })).toBe(403);
    expect(await upgrade({ authorization, origin: `http://127.0.0.1:${port}` })).toBe(101);
  });
});
