import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { openWebSocket } from "../support/wire.ts";

const LOOPBACK = ["--listen", "ws://127.0.0.1:0"];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bobbin-doors-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the host answers to a request to upgrade with these headers. */
async function upgrade(url: string, headers: Record<string, string>): Promise<string> {
  try {
    const socket = await openWebSocket(url, headers);
    socket.close();
    await once(socket, "close");
    return "open";
  } catch (error) {
    return (error as Error).message.replace("the host answered ", "");
  }
}

describe("listeners", () => {
  it("[DOOR-1] [DOOR-2] [UNIX-1] lead to the same host, whichever a client takes", async () => {
    const path = join(folder, "many.sock");
    const host = await spawnHost({ args: [...LOOPBACK, "--listen", `unix://${path}`, "--stdio"] });
    await host.urls();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const stdio = host.stdio();
    await stdio.initialize();
    const clients = [stdio, await host.join(await host.url("ws")), await host.join(`unix://${path}`)];
    const threads: string[] = [];
    for (const client of clients) threads.push(await client.startThread());
    for (const client of clients) {
      expect((await client.call("thread/loaded/list")).data).toEqual(threads);
      await client.until(() => client.told("thread/started").length === 3, "all threads");
      const turnId = await client.say(threads[clients.indexOf(client)]!, "Hello");
      await client.turnCompleted(turnId);
    }
  });

  it("[DOOR-3] stay open when stdin closes", async () => {
    const host = await spawnHost({ args: [...LOOPBACK, "--listen", "stdio://"] });
    const stdio = host.stdio();
    await stdio.initialize();
    const threadId = await stdio.startThread();
    const socket = await host.join();
    stdio.end();
    const turnId = await socket.say(threadId, "Is anyone there?");
    expect(turnId).toBeDefined();
    await socket.waitFor(({ params }) => params?.status?.type === "idle", "idle");
  });

  it("[UNIX-1] have a place in the home when none is named", async () => {
    const host = await spawnHost({ args: ["--listen", "unix://"] });
    const url = await host.url("unix");
    expect(url).toBe(`unix://${join(host.home, "app-server-control", "app-server-control.sock")}`);
    await (await host.join(url)).call("model/list");
  });

  it("[UNIX-2] replace a socket that nobody serves, and leave one that is served", async () => {
    const path = join(folder, "stale.sock");
    const args = ["--listen", `unix://${path}`];
    const first = await spawnHost({ args });
    await first.urls();
    const second = await runBobbin(["app-server", ...args]);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain("another host is listening");
    await (await first.join(`unix://${path}`)).call("model/list");
    // Killed, it cannot clean up behind itself.
    await first.kill();
    expect((await stat(path)).isSocket()).toBe(true);
    const third = await spawnHost({ args });
    await third.urls();
    await (await third.join(`unix://${path}`)).call("model/list");
  });

  it("[WS-1] carry one message per frame, in both directions, and close only a connection with a frame that is too long", async () => {
    const host = await spawnHost({ args: LOOPBACK });
    const [client, other] = [await host.join(), await host.join()];
    // Line ends mean nothing here.
    client.sendText('\n{"id":"a",\n"method":"model/list"}\n');
    await client.waitFor(({ id }) => id === "a", "reply");
    client.sendText('{"id":"b","method":"model/list"}\n{"id":"c","method":"model/list"}');
    await client.waitFor(({ id, error }) => id === null && error?.code === -32700, "error");
    client.sendBytes(Buffer.from([0x22, 0xff, 0x22]));
    await client.call("model/list");
    client.sendBytes(Buffer.alloc(64 * 1024 * 1024 + 1, "x"));
    expect(await client.closed).toBe(1009);
    await other.call("model/list");
    expect(host.stderr).not.toContain("error");
  });
});

describe("HTTP on a socket", () => {
  it("[WS-2] [WS-3] [WS-4] answers probes, people and metrics", async () => {
    const host = await spawnHost({ args: LOOPBACK });
    const site = await host.site();
    for (const path of ["/readyz", "/healthz"]) {
      const response = await fetch(site + path);
      expect([response.status, await response.text()]).toEqual([200, "ok\n"]);
    }
    const client = await host.join();
    await client.startThread();
    await client.refusal("no/such");
    const page = await fetch(site);
    expect(page.headers.get("content-type")).toContain("text/html");
    const html = await page.text();
    expect(html).toContain("Bobbin");
    expect(html).toContain(await host.url());
    const metrics = await (await fetch(`${site}/metrics`)).text();
    expect(metrics).toMatch(/^bobbin_connections 1$/m);
    expect(metrics).toMatch(/^bobbin_threads_loaded 1$/m);
    expect(metrics).toMatch(/^bobbin_requests_total\{method="thread\/start",outcome="ok"\} 1$/m);
    expect(metrics).toMatch(/^bobbin_requests_total\{method="unknown",outcome="methodNotFound"\} 1$/m);
    expect((await fetch(`${site}/no/such`)).status).toBe(404);
    expect((await fetch(`${site}/readyz`, { method: "POST" })).status).toBe(405);
  });

  it("[ORIGIN-1] [ORIGIN-2] keeps foreign web pages and rebound names out", async () => {
    const host = await spawnHost({ args: [...LOOPBACK, "--allow-origin", "https://console.example"] });
    const url = await host.url();
    const site = await host.site();
    expect(await upgrade(url, { Origin: "https://evil.example" })).toBe("403");
    expect(await upgrade(url, { Origin: "null" })).toBe("403");
    expect(await upgrade(url, { Origin: "https://console.example" })).toBe("open");
    expect(await upgrade(url, { Origin: site })).toBe("open");
    expect(await upgrade(url, { Host: "evil.example" })).toBe("403");
    expect(await upgrade(url, {})).toBe("open");
    expect((await fetch(`${site}/metrics`, { headers: { Origin: "https://evil.example" } })).status).toBe(
      403,
    );
  });
});

describe("authentication", () => {
  it("[AUTH-1] is needed for anything but loopback", async () => {
    for (const address of ["0.0.0.0", "[::]"]) {
      const { code, stdout, stderr } = await runBobbin(["app-server", "--listen", `ws://${address}:0`]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^bobbin: refusing to listen on .* without authentication/);
      expect(stderr).toContain("--ws-auth");
    }
    const token = join(folder, "open-token");
    await writeFile(token, "secret-6d1f0b7c93a5e248\n");
    const auth = ["--ws-auth", "capability-token", "--ws-token-file", token];
    const host = await spawnHost({ args: ["--listen", "ws://0.0.0.0:0", ...auth] });
    const url = (await host.url()).replace("0.0.0.0", "127.0.0.1");
    expect(await upgrade(url, {})).toBe("401");
    expect(await upgrade(url, { Authorization: "Bearer secret-6d1f0b7c93a5e248" })).toBe("open");
  });

  it("[AUTH-2] [AUTH-4] [WS-2] requires the capability token, also for metrics", async () => {
    const file = join(folder, "token");
    await writeFile(file, "open-sesame-81c5f29b\n");
    const digest = createHash("sha256").update("open-sesame-81c5f29b").digest("hex");
    for (const flags of [
      ["--ws-token-file", file],
      ["--ws-token-sha256", digest],
    ]) {
      const host = await spawnHost({ args: [...LOOPBACK, "--ws-auth", "capability-token", ...flags] });
      const url = await host.url();
      expect(await upgrade(url, {})).toBe("401");
      expect(await upgrade(url, { Authorization: "Bearer open-sesame-81c5f29" })).toBe("401");
      expect(await upgrade(url, { Authorization: "Basic open-sesame-81c5f29b" })).toBe("401");
      const headers = { Authorization: "bearer open-sesame-81c5f29b" };
      const client = await host.connect(url, headers);
      await client.initialize();
      const site = await host.site();
      expect((await fetch(`${site}/metrics`)).status).toBe(401);
      expect((await fetch(`${site}/metrics`, { headers })).status).toBe(200);
      expect((await fetch(`${site}/readyz`)).status).toBe(200);
      expect((await fetch(`${site}/`)).status).toBe(200);
    }
  });

  it("[AUTH-3] [AUTH-5] [AUTH-7] [SAME-7] reads signed tokens, and separates the threads of each subject", async () => {
    const key = "0123456789abcdef0123456789abcdef";
    const file = join(folder, "secret");
    await writeFile(file, key);
    const host = await spawnHost({
      args: [
        ...LOOPBACK,
        ...["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", file],
        ...["--ws-issuer", "me", "--ws-audience", "bobbin", "--ws-max-clock-skew-seconds", "5"],
      ],
    });
    const url = await host.url();
    const now = Math.floor(Date.now() / 1000);
    const good = { exp: now + 600, iss: "me", aud: "bobbin" };
    const bearer = (claims: object, secret = key): Record<string, string> => ({
      Authorization: `Bearer ${signed(claims, secret)}`,
    });
    expect(await upgrade(url, {})).toBe("401");
    expect(await upgrade(url, bearer(good))).toBe("open");
    expect(await upgrade(url, bearer(good, `${key}!`))).toBe("401");
    expect(await upgrade(url, bearer({ ...good, exp: now - 60 }))).toBe("401");
    expect(await upgrade(url, bearer({ ...good, exp: undefined }))).toBe("401");
    expect(await upgrade(url, bearer({ ...good, nbf: now + 60 }))).toBe("401");
    expect(await upgrade(url, bearer({ ...good, iss: "you" }))).toBe("401");
    expect(await upgrade(url, bearer({ ...good, aud: "other" }))).toBe("401");
    for (const sub of ["", null, 7, ["ann"]]) {
      const headers = bearer({ ...good, sub });
      expect(await upgrade(url, headers), String(sub)).toBe("401");
      const refused = await fetch(`${await host.site()}/metrics`, { headers });
      expect(refused.status).toBe(401);
      expect(await refused.text()).toContain("the subject (sub) of the signed token");
      expect(host.stderr).not.toContain(headers.Authorization!.slice("Bearer ".length));
    }

    const ann = await host.connect(url, bearer({ ...good, sub: "ann" }));
    const bob = await host.connect(url, bearer({ ...good, sub: "bob" }));
    const all = await host.connect(url, bearer(good));
    for (const client of [ann, bob, all]) await client.initialize({ experimentalApi: true });
    const threadId = await ann.startThread({ idempotencyKey: "mine" });
    expect(await ann.startThread({ idempotencyKey: "mine" })).toBe(threadId);
    const turnId = await ann.say(threadId, "Between us");
    await ann.turnCompleted(turnId);
    expect((await bob.call("thread/loaded/list")).data).toEqual([]);
    for (const [method, more] of [
      ["turn/start", { input: [] }],
      ["turn/interrupt", { turnId: "" }],
    ] as const) {
      expect((await bob.refusal(method, { threadId, ...more })).message).toBe(
        `thread not found: ${threadId}`,
      );
    }
    expect(bob.frames.filter(({ method }) => method !== undefined)).toEqual([]);
    expect((await all.call("thread/loaded/list")).data).toEqual([threadId]);
    expect(all.told("thread/started")).toHaveLength(1);
    expect(await all.startThread({ idempotencyKey: "mine" })).not.toBe(threadId);
  });
});

describe("the command line", () => {
  it("[FLAG-1] takes --enable and --disable as overrides of features", async () => {
    const { client } = await stdioHost({
      args: ["--enable", "goals", "--enable", "apps", "--disable", "apps"],
    });
    const { config } = await client.call("config/read", {});
    expect(config.features).toEqual({ goals: true, apps: false });
  });

  it("[FLAG-3] points to the help when it cannot be parsed", async () => {
    for (const [args, help] of [
      [["nonsense"], "See bobbin --help."],
      [["completion", "nonsense"], "See bobbin completion --help."],
      [["app-server", "--nonsense"], "See bobbin app-server --help."],
    ] as const) {
      const { code, stderr } = await runBobbin(args);
      expect([code, stderr.trimEnd().split("\n").at(-1)]).toEqual([2, help]);
    }
    const { code, stdout } = await runBobbin(["app-server", "--help"]);
    expect(code).toBe(0);
    expect(stdout.replace(/\s+/g, " ")).toContain("(default: stdio://)");
  });

  it("[FLAG-1] overrides config.toml, before and after the command", async () => {
    const home = await mkdtemp(join(folder, "home-"));
    await writeFile(
      join(home, "config.toml"),
      '# mine\napproval_policy = "never"\nsandbox_mode = "workspace-write"\n[features]\nx = true\n',
    );
    const plain = await stdioHost({ home });
    expect(await plain.client.call("thread/start")).toMatchObject({
      approvalPolicy: "never",
      sandbox: { type: "workspaceWrite" },
    });
    const args = [
      "-c",
      'approval_policy="untrusted"',
      "--config",
      "sandbox_mode=read-only",
      "-c",
      "a.b.c=[1, 2]",
    ];
    const { client } = await stdioHost({ home, args: [...args, "-c", "model_reasoning_effort='high'"] });
    expect(await client.call("thread/start")).toMatchObject({
      approvalPolicy: "untrusted",
      sandbox: { type: "readOnly" },
      reasoningEffort: "high",
    });
    const before = await runBobbin(["-c", "approval_policy=never", "app-server"], {
      input: [
        { id: 1, method: "initialize", params: { clientInfo: { name: "x", version: "1" } } },
        { id: 2, method: "thread/start" },
      ]
        .map((message) => `${JSON.stringify(message)}\n`)
        .join(""),
    });
    expect(before.code).toBe(0);
    expect(before.stdout).toContain('"approvalPolicy":"never"');
  });

  it("[FLAG-2] prints the version that clients look for", async () => {
    for (const flag of ["--version", "-V"]) {
      const { code, stdout } = await runBobbin([flag]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^codex-cli 0\.169\.0 \(bobbin \d+\.\d+\.\d+\)\n$/);
    }
  });

  it("[AUTH-8] [FLAG-3] says what is wrong, and what would be right", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    const weak = join(folder, "weak-token");
    await writeFile(weak, "abc\n");
    const cases: [string[], RegExp][] = [
      [["--listen", "http://x"], /did you mean ws:\/\/x/],
      [["--listen", "ws://example.org:1"], /not an IP address/],
      [["--listen", `ws://127.0.0.1:${port}`], /is taken by another program/],
      [["--lisen", "off"], /--listen/],
      [["--ws-auth", "password"], /capability-token/],
      [[...LOOPBACK, "--ws-auth", "capability-token"], /--ws-token-file or --ws-token-sha256/],
      [[...LOOPBACK, "--ws-token-file", "/x"], /--ws-auth/],
      [[...LOOPBACK, "--ws-auth", "capability-token", "--ws-token-file", "relative"], /absolute/],
      [
        [...LOOPBACK, "--ws-auth", "capability-token", "--ws-token-file", join(folder, "none")],
        /cannot read/,
      ],
      [
        [...LOOPBACK, "--ws-auth", "capability-token", "--ws-token-file", weak],
        /has 3 characters and must have at least 20.*openssl rand -hex 32/,
      ],
      [[...LOOPBACK, "--ws-auth", "capability-token", "--ws-token-sha256", "zz"], /64 hex digits/],
      [["-c", "no-equals-sign"], /key=value/],
      [["-c", "approval_policy=sometimes"], /approval_policy.*on-request/],
      [["-c", "model=5"], /model.*string/],
      [["-c", "model_provider=nope"], /"nope" is not one of offline, openai/],
      [["--listen", "off"], /leaves nothing to listen on/],
    ];
    for (const [args, explains] of cases) {
      const { code, stdout, stderr } = await runBobbin(["app-server", ...args]);
      expect([code, stdout], args.join(" ")).toEqual([2, ""]);
      expect(stderr).toMatch(/^bobbin: /);
      expect(stderr).toMatch(explains);
      expect(stderr).not.toMatch(/\n {4}at /);
    }
    taken.close();
  });
});

function signed(claims: object, secret: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const body = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
}
