// The way in over real HTTP and WebSockets.
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { LinkRecording } from "../../../../../test/support/link-recording.ts";
import { type Authenticate, withSessions } from "../listen/authenticate.ts";
import type { Listener } from "../listen/listener.ts";
import { listenWebSocket } from "../listen/websocket.ts";
import { ConsoleLogin } from "./console-login.ts";

const listeners: Listener[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close(0);
});

const tokens: Authenticate = (header) =>
  header === "Bearer good"
    ? { principal: { kind: "subject", subject: "ada" } }
    : { status: 401, code: "unauthorized", message: "no" };

async function open({ isOpen = false } = {}) {
  let last = 0;
  const random = (bytes: number) => Buffer.from(String(++last).padStart(bytes, "0"));
  const consoleLogin = new ConsoleLogin({ now: () => 0, random, secret: Buffer.alloc(32) });
  const recording = new LinkRecording();
  const listener = await listenWebSocket({
    accept: recording.accept,
    host: "127.0.0.1",
    port: 0,
    allowedOrigins: ["https://app.example"],
    ...(!isOpen && { authenticate: withSessions(tokens, consoleLogin), consoleLogin }),
  });
  listeners.push(listener);
  const { port } = new URL(listener.url);
  const page = `http://127.0.0.1:${port}`;
  return {
    consoleLogin,
    page,
    url: listener.url,
    async post(path: string, body: unknown, headers: Record<string, string> = {}, method = "POST") {
      const sent = typeof body === "string" ? body : JSON.stringify(body);
      const asked = httpRequest({
        host: "127.0.0.1",
        port,
        path,
        method,
        headers: { "content-type": "application/json", ...headers },
      });
      asked.on("error", () => {});
      asked.end(sent);
      const [response]: [IncomingMessage] = (await once(asked, "response")) as [IncomingMessage];
      return { status: response.statusCode, ...JSON.parse((await text(response)) || "{}") };
    },
    /** The subprotocol of a WebSocket that was let in, or the status of the refusal. */
    connect(ticket: string, origin: string): Promise<string | number> {
      const client = new WebSocket(listener.url, ["bobbin.v1", `ticket.${ticket}`], { origin });
      return new Promise((resolve) => {
        client.once("open", () => {
          resolve(client.protocol);
          client.terminate();
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

describe("the login of the console", () => {
  it("[CONSOLE-8] leads from a token over a session key and a ticket to a WebSocket", async () => {
    const { consoleLogin, post, connect, page } = await open();
    const token = consoleLogin.issueToken();
    const { status, key } = await post("/session", { token }, { origin: page });
    expect(status).toBe(200);
    expect(await post("/session", { token }, { origin: page })).toMatchObject({
      status: 401,
      error: { code: "consoleTokenUsed", message: expect.stringContaining("bobbin open") },
    });
    const headers = { origin: page, authorization: `Bearer ${key}` };
    const { ticket, expiresInMs } = await post("/ticket", {}, headers);
    expect(expiresInMs).toBe(30_000);
    expect(await connect(ticket, page)).toBe("bobbin.v1");
    expect(await connect(ticket, page)).toBe(401);
    expect(await connect("guess", page)).toBe(401);
  });

  it("[CONSOLE-8] lets one of two sockets in that come with the same ticket at once", async () => {
    const { post, connect, page } = await open();
    const { ticket } = await post("/ticket", {}, { origin: page, authorization: "Bearer good" });
    const both = await Promise.all([connect(ticket, page), connect(ticket, page)]);
    expect(both.sort()).toEqual([401, "bobbin.v1"]);
  });

  it("[CONSOLE-8] binds a ticket to the page that it is for", async () => {
    const { post, connect, page } = await open();
    const authorization = "Bearer good";
    const { ticket } = await post("/ticket", { origin: "https://app.example" }, { authorization });
    expect(await connect(ticket, page)).toBe(403);
    expect(await connect(ticket, "https://evil.example")).toBe(403);
    expect(await connect(ticket, "https://app.example")).toBe("bobbin.v1");
    const other = { origin: page, authorization };
    expect(await post("/ticket", { origin: "https://app.example" }, other)).toMatchObject({ status: 400 });
    expect(await post("/ticket", {}, { authorization })).toMatchObject({ status: 400 });
  });

  it("[CONSOLE-8] is not used up by a GET, and needs a bearer token for tickets", async () => {
    const { consoleLogin, post, page } = await open();
    const token = consoleLogin.issueToken();
    for (const method of ["GET", "HEAD", "PUT"])
      expect((await post("/session", "", {}, method)).status, method).toBe(405);
    expect((await post("/session", { token })).status).toBe(200);
    expect(await post("/ticket", {}, { origin: page })).toMatchObject({ status: 401 });
    const forged = { origin: page, authorization: "Bearer bobbin-session.9.x.y" };
    expect(await post("/ticket", {}, forged)).toMatchObject({ error: { code: "sessionInvalid" } });
  });

  it("refuses other pages, and bodies that are no small JSON object", async () => {
    const { consoleLogin, post } = await open();
    const token = consoleLogin.issueToken();
    expect((await post("/session", { token }, { origin: "https://evil.example" })).status).toBe(403);
    for (const body of [
      "",
      "{",
      "[]",
      "null",
      "7",
      `{"token":7}`,
      JSON.stringify({ token: "x".repeat(5000) }),
    ])
      expect(await post("/session", body), body.slice(0, 20)).toMatchObject({
        status: 400,
        error: { code: "badRequest" },
      });
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await post("/session", `token=${token}`, form)).status).toBe(400);
    expect((await post("/session", { token })).status).toBe(200);
  });

  it("is not there on a listener without authentication, nor is a link made over TCP", async () => {
    const { post } = await open({ isOpen: true });
    for (const path of ["/session", "/ticket"])
      expect(await post(path, {})).toMatchObject({ status: 404, error: { code: "notNeeded" } });
    expect(await post("/open", {})).toMatchObject({ status: 403, error: { code: "notPermitted" } });
  });
});
