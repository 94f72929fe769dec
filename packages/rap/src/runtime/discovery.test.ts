import { describe, expect, it } from "vitest";
import {
  drip,
  FakeToolServer,
  hang,
  json,
  reset,
  status,
  toolset,
} from "../../../../test/support/tool-server.ts";
import { LIMITS } from "../wire/index.ts";
import { discover, type RuntimePorts, type ServerAddress } from "./index.ts";

const ports: RuntimePorts = {
  send: (url, request) => fetch(url, request),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => 0,
};
const TOOLSET = "/.well-known/rap-toolset";

const at = (url: string, more: Partial<ServerAddress> = {}): ServerAddress => {
  return { name: "desk", url, headers: { authorization: "Bearer b" }, allowedOrigins: [], ...more };
};
const ask = (server: ServerAddress, timeoutMs = 5000) => discover(server, ports, { timeoutMs });

describe("discovery", () => {
  it("[RAPR-20] [RAPR-8] asks at the well-known path under the base URL, with the server's credentials", async () => {
    const server = await FakeToolServer.start();
    server.on.set(`/base${TOOLSET}`, json(toolset(server.url, { look: {} })));
    const found = await ask(at(`${server.url}/base/`));
    expect(found).toMatchObject({
      kind: "ready",
      toolset: { name: "desk", endpoint: `${server.url}/invoke` },
    });
    expect(server.heard[0]).toMatchObject({
      method: "GET",
      headers: { accept: "application/json", authorization: "Bearer b" },
    });
  });

  it("[RAPR-21] [RAPR-22] refuses a toolset as a whole if one tool is invalid", async () => {
    const server = await FakeToolServer.start();
    const good = toolset(server.url, { look: {} });
    const tool = (more: object) => ({ ...good, tools: [{ ...(good.tools as object[])[0], ...more }] });
    const bad: [unknown, RegExp][] = [
      [{ ...good, name: "" }, /name must not be empty/],
      [{ ...good, endpoint: "nowhere" }, /endpoint must be a URL/],
      [{ ...good, tools: [] }, /tools must have 1/],
      [tool({ name: "no spaces" }), /tools\[0\]\.name/],
      [tool({ description: undefined }), /description must be a string/],
      [tool({ inputSchema: { type: "nothing" } }), /inputSchema\.type/],
      [tool({ inputSchema: { $ref: "#/nowhere" } }), /schema of look/],
      [tool({ inputSchema: { $ref: "#" } }), /schema of look cannot be used: it goes too deep/],
      [{ ...good, tools: [...(good.tools as []), ...(good.tools as [])] }, /unique/],
      ["{ not json", /not JSON/],
    ];
    for (const [value, says] of bad) {
      server.offer(value);
      const found = await ask(at(server.url));
      expect(found).toEqual({ kind: "invalid", says: expect.stringMatching(says) });
    }
  });

  it("[RAPR-30] refuses a tool with the name that is reserved for events", async () => {
    const server = await FakeToolServer.start({ receive_event__injected: {} });
    expect(await ask(at(server.url))).toEqual({ kind: "invalid", says: expect.stringMatching(/reserved/) });
  });

  it("[RAPR-28] follows a few redirects to the server's own origin, and none to others", async () => {
    const other = await FakeToolServer.start({ look: {} });
    const server = await FakeToolServer.start();
    server.on.set("/moved", json(toolset(server.url, { look: {} })));
    server.on.set(TOOLSET, status(302, { location: "/moved" }));
    expect((await ask(at(server.url))).kind).toBe("ready");
    server.on.set(TOOLSET, status(302, { location: `${other.url}${TOOLSET}` }));
    expect(await ask(at(server.url))).toMatchObject({
      kind: "unreachable",
      says: expect.stringMatching(/redirects/),
    });
    expect(other.heard).toEqual([]);
    server.on.set(TOOLSET, status(302, { location: TOOLSET }));
    expect((await ask(at(server.url))).kind).toBe("unreachable");
  });

  it("refuses an endpoint at an origin that is not the server's own, unless it is allowed", async () => {
    const server = await FakeToolServer.start();
    for (const endpoint of [
      "http://169.254.169.254/latest",
      "http://127.0.0.1:1/invoke",
      "http://u:p@127.0.0.1/",
    ]) {
      server.offer({ ...toolset(server.url, { look: {} }), endpoint });
      expect(await ask(at(server.url))).toMatchObject({
        kind: "invalid",
        says: expect.stringMatching(/not allowed/),
      });
    }
    server.offer({ ...toolset(server.url, { look: {} }), endpoint: "https://run.example.com/invoke" });
    const allowed = { allowedOrigins: ["https://run.example.com"] };
    expect((await ask(at(server.url, allowed))).kind).toBe("ready");
  });

  it("has a limit in time and size", async () => {
    const server = await FakeToolServer.start();
    for (const behave of [hang, drip]) {
      server.on.set(TOOLSET, behave);
      expect(await ask(at(server.url), 100)).toMatchObject({
        kind: "unreachable",
        says: expect.stringMatching(/in time/),
      });
    }
    server.on.set(TOOLSET, json(" ".repeat(LIMITS.toolsetBytes + 1)));
    expect(await ask(at(server.url))).toMatchObject({
      kind: "invalid",
      says: expect.stringMatching(/larger/),
    });
    server.on.set(TOOLSET, (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      for (let sent = 0; sent <= LIMITS.toolsetBytes; sent += 65_536) response.write(" ".repeat(65_536));
    });
    expect(await ask(at(server.url))).toMatchObject({
      kind: "invalid",
      says: expect.stringMatching(/larger/),
    });
  });

  it("has one time limit for everything, redirects included", async () => {
    let now = 0;
    const timers = new Set<{ readonly at: number; readonly run: () => void }>();
    const slow: RuntimePorts = {
      ...ports,
      after(ms, run) {
        const timer = { at: now + ms, run };
        timers.add(timer);
        return () => timers.delete(timer);
      },
      async send() {
        now += 2000;
        for (const { at, run } of timers) if (at <= now) run();
        return new Response(null, { status: 302, headers: { location: "/again" } });
      },
    };
    const found = await discover(at("http://tools.example.com"), slow, { timeoutMs: 5000 });
    expect(found).toMatchObject({ kind: "unreachable", says: expect.stringMatching(/in time/) });
    expect(now).toBe(6000);
    expect(timers.size).toBe(0);
  });

  it("distinguishes a server that is down, one that refuses the credentials, and one with an invalid toolset", async () => {
    const server = await FakeToolServer.start();
    for (const [behave, kind] of [
      [reset, "unreachable"],
      [status(503), "unreachable"],
      ...[201, 304, 404, 429].map((code) => [status(code), "unreachable"] as const),
      ...[401, 403].map((code) => [status(code), "refused"] as const),
      [status(200, { "content-type": "text/html" }), "invalid"],
    ] as const) {
      server.on.set(TOOLSET, behave);
      expect((await ask(at(server.url))).kind).toBe(kind);
    }
    await server.close();
    expect(await ask(at(server.url))).toMatchObject({
      kind: "unreachable",
      says: expect.stringMatching(/ECONNREFUSED/),
    });
  });

  it("gives the same toolset for the same text", async () => {
    const server = await FakeToolServer.start({ look: {} });
    const first = await ask(at(server.url));
    if (first.kind !== "ready") throw new Error(first.says);
    const again = await discover(at(server.url), ports, { timeoutMs: 5000, known: first });
    expect(again.kind === "ready" && again.toolset).toBe(first.toolset);
  });
});
