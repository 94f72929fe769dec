// The link to the console that a host prints when it starts.
import { writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { hasBrowser, visit } from "../support/browser.ts";
import { message, openWithoutStorage } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { BOBBIN, environment, spawnHost } from "../support/host-process.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { TerminalRun } from "../support/terminal-run.ts";

const TEXT_LOG = { LOG_FORMAT: "text" };
const LINK = /Open (http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}) in a browser\./;

let home: string;
let args: readonly string[];
beforeEach(async () => {
  home = await freshFolder("home");
  const token = join(await freshFolder(), "token");
  await writeFile(token, "0f2e4d6c8b0a1928374655647382910f");
  args = ["--listen", "ws://127.0.0.1:0", "--ws-auth", "capability-token", "--ws-token-file", token];
});

/** Passes requests and WebSockets on as docs/deploy.md says: with the `Host` of the listener. */
async function reverseProxy(port: number, to: URL): Promise<void> {
  const server = createServer((incoming, response) => {
    const { method, url, headers } = incoming;
    const onward = request(new URL(url!, to), { method: method!, headers: { ...headers, host: to.host } });
    onward.on("response", (reply) => {
      response.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(response);
    });
    onward.on("error", () => response.destroy());
    incoming.pipe(onward);
  });
  server.on("upgrade", ({ url, headers }, client) => {
    const onward = request(new URL(url!, to), { headers: { ...headers, host: to.host } });
    onward.on("upgrade", (reply, socket) => {
      const lines = Object.entries(reply.headers).map(([name, value]) => `${name}: ${String(value)}`);
      client.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
      client.pipe(socket).pipe(client);
      client.on("error", () => socket.destroy());
      socket.on("error", () => client.destroy());
    });
    onward.on("error", () => client.destroy());
    onward.on("response", () => client.destroy());
    onward.end();
  });
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
}

describe.runIf(hasBrowser)("the link that a host prints", () => {
  it("[CONSOLE-8] on a terminal lets one browser in, on a listener with authentication", async () => {
    const run = await TerminalRun.start([process.execPath, BOBBIN, "app-server", ...args], {
      cwd: await freshFolder("work"),
      env: environment(home, TEXT_LOG),
    });
    await run.shows("Ctrl-C stops it.");
    const [, link] = LINK.exec(run.shown)!;
    const { page, faults } = await visit(link!);
    await message(page).fill("Hello, who are you?");
    await message(page).press("Enter");
    await page.waitForURL(/#\/thread\//);
    await page.getByRole("article", { name: "Answer" }).waitFor();
    expect(page.url()).not.toContain("token");
    const late = await visit(link!);
    await late.page.getByText("this link was used before").waitFor();
    expect(faults).toEqual([]);
    await run.type("\u0003");
    expect((await run.ended).code).toBe(0);
  });

  it("[CONSOLE-8] is not printed where no terminal is, and the message names `bobbin open`", async () => {
    const host = await spawnHost({ home, args, env: TEXT_LOG });
    await eventually(() => host.stderr.includes("Ctrl-C stops it."), "the host has started");
    expect(host.stderr).toContain("For the console in a browser:  bin/bobbin open");
    expect(host.stderr).not.toContain("#token");
  });

  it("[CONSOLE-8] by `bobbin open --print` lets a browser in through a reverse proxy, with its address", async () => {
    const port = await freePort();
    const proxy = `http://127.0.0.1:${port}`;
    const host = await spawnHost({ home, args: [...args, "--allow-origin", proxy] });
    const listener = new URL((await host.url()).replace("ws:", "http:"));
    await reverseProxy(port, listener);
    const { stdout } = await runBobbin(["open", "--print"], { env: { BOBBIN_HOME: home } });
    expect(stdout).toContain(`${listener.origin}/#token=`);
    const { page, faults } = await visit(stdout.trim().replace(/^.*#/, `${proxy}/#`));
    await message(page).fill("Hello, who are you?");
    await message(page).press("Enter");
    await page.getByRole("article", { name: "Answer" }).waitFor();
    expect(new URL(page.url()).origin).toBe(proxy);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-8] lets a browser in that blocks storage, until the page is left", async () => {
    const host = await spawnHost({ home, args });
    const site = await host.site();
    const { stdout } = await runBobbin(["open", "--print"], { env: { BOBBIN_HOME: home } });
    const { page, faults } = await visit(site);
    await openWithoutStorage(page, stdout.trim());
    await message(page).fill("Hello, who are you?");
    await message(page).press("Enter");
    await page.getByRole("article", { name: "Answer" }).waitFor();
    await page.reload();
    await page.getByText("bobbin open", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });
});
