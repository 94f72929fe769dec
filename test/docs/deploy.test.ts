// Does what docs/deploy.md says; only addresses, ports, files and programs are replaced by those of the test.
import { execFile, spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import WebSocket from "ws";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { blockWith, ROOT } from "../support/markdown.ts";
import { Reader } from "../support/reader.ts";
import { TEST_CERTIFICATE } from "../support/test-certificate.ts";
import { notRunBy } from "./snippet-list.ts";

const PAGE = "docs/deploy.md";
const run = promisify(execFile);

interface Token {
  readonly path: string;
  readonly headers: Record<string, string>;
}

let making: Promise<Token> | undefined;

/** The first one of the tokens that the page has its reader create. */
function token(): Promise<Token> {
  making ??= createTokens();
  return making;
}

async function createTokens(): Promise<Token> {
  const folder = await freshFolder("token");
  const reader = await Reader.at("");
  const lines = (await blockWith(PAGE, "sh", "token capability")).trimEnd().split("\n");
  const printed: string[] = [];
  for (const line of lines) {
    const { code, text } = await reader.run(line.replaceAll("/etc/bobbin", folder));
    expect([line, code], text).toEqual([line, 0]);
    printed.push(text);
  }
  // The last one signs a token for Ann.
  expect(printed[2]).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/m);
  const path = join(folder, "token");
  return { path, headers: { Authorization: `Bearer ${(await readFile(path, "utf8")).trim()}` } };
}

/** Starts a host with the arguments of a command of the page, on any port of loopback. */
async function start([program, name, ...args]: readonly string[], tokenPath: string): Promise<HostProcess> {
  expect([program?.split("/").at(-1), name]).toEqual(["bobbin", "app-server"]);
  const here = args.map((one) =>
    /^ws:/.test(one) ? "ws://127.0.0.1:0" : one.startsWith("/") ? tokenPath : one,
  );
  return await spawnHost({ args: here });
}

/** What a program that checks a file gives, or why it could not be run. */
interface Verified {
  readonly code?: unknown;
  readonly stderr?: string;
}

async function unit(): Promise<{ text: string; command: string[] }> {
  const text = await blockWith(PAGE, "ini", "ExecStart=");
  return { text, command: /^ExecStart=(.*)$/m.exec(text)![1]!.split(" ") };
}

describe("the page on deployment", () => {
  it("[DEPLOY-1] has a unit whose host serves clients behind its proxy, with a token", async () => {
    const { path, headers } = await token();
    const { command } = await unit();
    const host = await start(command, path);
    const url = await host.url();
    const { port } = new URL(url);
    // What nginx sends for a page of its own address.
    const nginx = await blockWith(PAGE, "nginx", "proxy_pass");
    const proxied = {
      ...headers,
      Host: /Host ([^;]+);/.exec(nginx)![1]!.replace("4545", port),
      Origin: `https://${/server_name ([^;]+);/.exec(nginx)![1]}`,
    };
    const client = await host.connect(url, proxied);
    await client.initialize();
    await client.turn(await client.startThread(), "hello");
    await expect(
      host.connect(url, { ...proxied, Authorization: "Bearer wrong-wrong-wrong-wrong" }),
    ).rejects.toThrow();
    await expect(
      host.connect(url, { ...proxied, Origin: "https://elsewhere.example.com" }),
    ).rejects.toThrow();
    for (const probe of ["healthz", "readyz"])
      expect((await fetch(`${await host.site()}/${probe}`)).status, probe).toBe(200);
    expect((await fetch(`${await host.site()}/metrics`)).status).toBe(401);
    await host.kill();
  });

  it("[DEPLOY-1] has an image whose command starts a host, and is healthy", async () => {
    const text = await blockWith(PAGE, "dockerfile", "FROM ");
    const { path } = await token();
    const host = await start(JSON.parse(/^CMD (\[.*\])$/m.exec(text)![1]!) as string[], path);
    const [program, ...args] = JSON.parse(/^HEALTHCHECK CMD (\[.*\])$/m.exec(text)![1]!) as string[];
    expect(program).toBe("node");
    const { port } = new URL(await host.url());
    const probe = args.map((one) => one.replace("4545", port));
    await expect(run(process.execPath, probe)).resolves.toMatchObject({ stderr: "" });
    await host.kill();
    await expect(run(process.execPath, probe)).rejects.toMatchObject({ code: 1 });
  });

  it("[DEPLOY-2] has a backup that is made while a host runs, and a home that is restored from it", async () => {
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"], home: await freshFolder() });
    const client = await host.join();
    const threadId = await client.startThread();
    await client.turn(threadId, "remember this");
    const archive = join(await freshFolder("backup"), "bobbin.tgz");
    const line = (await blockWith(PAGE, "sh", "tar -czf")).trim();
    expect(line).toContain("/var/lib/bobbin ");
    const here = line.replace("/var/backups/bobbin.tgz", archive).replace("/var/lib/bobbin", host.home);
    await run("sh", ["-c", here]);
    await host.kill();
    const home = await freshFolder("restored");
    await run("tar", ["-xzf", archive, "-C", home]);
    const next = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"], home });
    const reader = await next.join();
    const { data } = await reader.call("thread/list", {});
    expect(data.map(({ id }: { id: string }) => id)).toEqual([threadId]);
    const { thread } = await reader.call("thread/resume", { threadId });
    expect(thread.turns).toHaveLength(1);
    await next.kill();
  });

  it("[DEPLOY-3] and its dashboard name the metrics that a host serves, with their labels", async () => {
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
    const client = await host.join();
    await client.turn(await client.startThread(), "hello");
    await client.refusal("thread/read", { threadId: "none" });
    const metrics = await (await fetch(`${await host.site()}/metrics`)).text();
    const served = new Set(Array.from(metrics.matchAll(/^# TYPE (\w+)/gm), ([, name]) => name!));
    const page = await readFile(join(ROOT, PAGE), "utf8");
    const dashboard = JSON.parse(await readFile(join(ROOT, "docs/grafana-dashboard.json"), "utf8")) as {
      panels: { targets: { expr: string; legendFormat: string }[] }[];
    };
    const queries = dashboard.panels.flatMap(({ targets }) => targets);
    const onDashboard = new Set(queries.flatMap(({ expr }) => expr.match(/bobbin_\w+/g) ?? []));
    expect([...onDashboard].filter((name) => !served.has(name))).toEqual([]);
    // Those of tool servers' notices and the like exist once there are tool servers.
    expect([...served].filter((name) => !onDashboard.has(name))).toEqual([]);
    expect([...served].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
    for (const { expr, legendFormat } of queries) {
      const [name] = expr.match(/bobbin_\w+/)!;
      const labels = [
        ...(expr.match(/by \((\w+)\)/)?.slice(1) ?? []),
        ...(expr.match(/(?<=, )\w+(?=!?=)/g) ?? []),
      ];
      for (const label of labels) expect(metrics, expr).toMatch(new RegExp(`^${name}{.*\\b${label}="`, "m"));
      if (labels[0] !== undefined) expect(legendFormat).toBe(`{{${labels[0]}}}`);
    }
    // What a query leaves out exists, and other values do, too.
    expect(metrics).toMatch(/bobbin_requests_total{[^}]*outcome="ok"/);
    expect(metrics).toMatch(/bobbin_requests_total{[^}]*outcome="(?!ok")/);
    await host.kill();
  });

  it("[DEPLOY-3] has a scrape configuration that leads to the metrics", async () => {
    const { path } = await token();
    const text = await blockWith(PAGE, "yaml", "scrape_configs");
    const host = await start((await unit()).command, path);
    const { port } = new URL(await host.url());
    const [, target] = /targets: \["(.*)"\]/.exec(text)!;
    // What Prometheus sends: the content of the file, as a bearer token.
    expect(/credentials_file: (\S+)/.exec(text)![1]).toBe("/etc/bobbin/token");
    const Authorization = `Bearer ${(await readFile(path, "utf8")).trim()}`;
    const metrics = await fetch(`http://${target!.replace("4545", port)}/metrics`, {
      headers: { Authorization },
    });
    expect([metrics.status, await metrics.text()]).toEqual([
      200,
      expect.stringContaining("bobbin_connections"),
    ]);
    await host.kill();
  });

  it("[DEPLOY-1] has a unit that systemd accepts", async (test) => {
    const { text, command } = await unit();
    const place = await freshFolder("unit");
    await mkdir(place, { recursive: true });
    const path = join(place, "bobbin.service");
    await writeFile(path, text.replace(command[0]!, process.execPath).replace("User=bobbin", "User=root"));
    // It also reads the machine's own units, which may have faults of their own.
    const verified = (await run("systemd-analyze", ["verify", path]).catch(
      (cause: unknown) => cause,
    )) as Verified;
    // A machine without systemd.
    if (verified.code === "ENOENT") return test.skip("systemd-analyze is not installed");
    const about = (verified.stderr ?? "").split("\n").filter((line) => line.includes("bobbin.service"));
    expect(about).toEqual([]);
  });

  it("[DEPLOY-1] has a configuration of nginx that passes clients on, with TLS", async (test) => {
    const text = await blockWith(PAGE, "nginx", "proxy_pass");
    const { path, headers } = await token();
    const host = await start((await unit()).command, path);
    const { port: inner } = new URL(await host.url());
    const folder = await freshFolder("nginx");
    const port = await freePort();
    await writeFile(join(folder, "agents.pem"), TEST_CERTIFICATE.cert);
    await writeFile(join(folder, "agents.key"), TEST_CERTIFICATE.key);
    const server = text
      .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
      .replaceAll("4545", inner)
      .replaceAll("/etc/ssl", folder);
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    await writeFile(
      join(folder, "nginx.conf"),
      `daemon off; pid ${folder}/pid; error_log stderr; events {}\nhttp { access_log off; ${temporary.join(" ")}\n${server}}\n`,
    );
    const args = ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"];
    const tried = (await run("nginx", ["-t", ...args]).catch((cause: unknown) => cause)) as Verified;
    // A machine without nginx.
    if (tried.code === "ENOENT") return test.skip("nginx is not installed");
    expect(tried.stderr).toContain("test is successful");
    const nginx = spawn("nginx", args, { stdio: "ignore" });
    const ended = new Promise((resolve) => nginx.once("close", resolve));
    try {
      const origin = { Origin: `https://${/server_name ([^;]+);/.exec(text)![1]}` };
      const open = (more: object) =>
        new Promise<string>((resolve) => {
          const socket = new WebSocket(`wss://127.0.0.1:${port}`, {
            rejectUnauthorized: false,
            headers: { ...origin, ...more },
          });
          socket.once("open", () => socket.send('{"id":1,"method":"model/list","params":{}}'));
          socket.once("message", (message) => {
            resolve(String(message));
            socket.terminate();
          });
          socket.once("error", (cause) => resolve(cause.message));
        });
      await eventually(async () => !(await open(headers)).includes("ECONNREFUSED"), "nginx listens");
      // The host itself answers: this is no client that has said who it is.
      expect(await open(headers)).toContain('"code":"notInitialized"');
      expect(await open({ Authorization: "Bearer wrong-wrong-wrong-wrong" })).toContain("401");
    } finally {
      nginx.kill();
      await ended;
      await host.kill();
    }
  });

  it("[DOCS-11] is run as the list says", async () => {
    expect(await notRunBy("test/docs/deploy.test.ts")).toEqual([]);
  });
});
