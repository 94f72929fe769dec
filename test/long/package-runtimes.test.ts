// The packages from their tarballs on every runtime that they promise to work on.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureClient, goWithout } from "../clients/install.ts";
import { hasBrowser, visit } from "../support/browser.ts";
import { freshFolder } from "../support/folder.ts";
import { environment, type HostProcess, spawnHost } from "../support/host-process.ts";
import { clientAt, clientOnStdio, PROTOCOL_TABLE, TOOL_SERVER } from "../support/package-programs.ts";
import { projectWith } from "../support/tarballs.ts";

const run = promisify(execFile);
const { platform, arch } = process;
const machine = `${platform}-${arch}`;
let project: string;
let host: HostProcess;

beforeAll(async () => {
  project = await projectWith(["bobbin", "@bobbin/client", "@bobbin/protocol", "@bobbin/rap"], ["ws"]);
  host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
});
afterAll(async () => {
  await host?.kill();
});

/** A program of a package of the registry; undefined where there is none for this machine. */
async function program(packageName: string, path: string): Promise<string | undefined> {
  const folder = await ensureClient(`runtime-${packageName.replaceAll(/[@/]/g, "-")}`, [packageName]);
  return folder && join(folder, "node_modules", packageName.replace(/@[^@]+$/, ""), path);
}

/** Runs a module in the project, and gives what it prints. */
async function runWith(bin: string, args: readonly string[], text: string): Promise<string> {
  const file = join(project, `main-${Math.random().toString(36).slice(2)}.mjs`);
  await writeFile(file, text);
  const env = { ...environment(await freshFolder()), LOG_LEVEL: "error", NO_COLOR: "1" };
  return (await run(bin, [...args, file], { cwd: project, env })).stdout.trim();
}

const WS = 'import WebSocket from "ws";';
const SAID = "completed true You said: Hello!";

describe.each([
  ["20", "20.20.2"],
  ["22", "22.23.3"],
  ["24", "24.21.0"],
])("on Node %s", (major, version) => {
  it("[PACK-3] all packages work", async (test) => {
    const bin = await program(`node-${machine}@${version}`, "bin/node");
    if (bin === undefined) {
      goWithout(`Node ${version}`, `it cannot be installed for ${machine}`);
      return test.skip("npm has no program of it for this machine");
    }
    expect((await run(bin, ["--version"])).stdout.trim()).toBe(`v${version}`);
    const url = JSON.stringify(await host.url());
    expect(await runWith(bin, [], clientOnStdio())).toBe("completed You said: Hello!");
    expect(await runWith(bin, [], clientAt(url, WS))).toBe(SAID);
    if (major !== "20") expect(await runWith(bin, [], clientAt(url))).toBe(SAID);
    expect(await runWith(bin, [], TOOL_SERVER)).toBe("roll function");
    expect(await runWith(bin, [], PROTOCOL_TABLE)).toBe("stable");
  });
});

const BUN = `@oven/bun-${platform}-${arch === "arm64" ? "aarch64" : "x64-baseline"}@1.4.4`;
const DENO = `@deno/${platform}-${arch}${platform === "linux" ? "-glibc" : ""}@2.9.6`;

describe.each([
  ["Bun", BUN, "bin/bun", ["run"]],
  ["Deno", DENO, "deno", ["run", "--allow-net", "--allow-env", "--allow-read", "--allow-run"]],
] as const)("in %s", (name, packageName, path, args) => {
  it("[PACK-3] the client works", async (test) => {
    const bin = await program(packageName, path);
    if (bin === undefined) {
      goWithout(name, `it cannot be installed for ${machine}`);
      return test.skip("npm has no program of it for this machine");
    }
    expect(await runWith(bin, args, clientAt(JSON.stringify(await host.url())))).toBe(SAID);
    expect(await runWith(bin, args, PROTOCOL_TABLE)).toBe("stable");
    // The host is a program of Node. The client that starts it runs here.
    const node = JSON.stringify(process.execPath);
    expect(await runWith(bin, args, clientOnStdio(node))).toBe("completed You said: Hello!");
  });
});

describe("in a browser", () => {
  it.runIf(hasBrowser)("[PACK-3] the client works without a bundler", async () => {
    const { origin, close } = await site();
    const here = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0", "--allow-origin", origin] });
    try {
      const { page, faults } = await visit(`${origin}/?${encodeURIComponent(await here.url())}`);
      await page.waitForFunction("document.title !== ''");
      expect(await page.title()).toBe(SAID);
      expect(faults).toEqual([]);
    } finally {
      await close();
      await here.kill();
    }
  });

  /** Serves the project's packages, and a page that uses the client by an import map. */
  async function site(): Promise<{ origin: string; close(): Promise<void> }> {
    const script = `${clientAt("decodeURIComponent(location.search.slice(1))")}\ndocument.title = result;`;
    const map = { imports: { "@bobbin/client": "/node_modules/@bobbin/client/dist/index.js" } };
    const html = [
      '<!doctype html><title></title><link rel="icon" href="data:,">',
      `<script type="importmap">${JSON.stringify(map)}</script><script type="module">${script}</script>`,
    ].join("");
    const server = createServer(async (request, response) => {
      const { pathname } = new URL(request.url!, "http://localhost");
      if (pathname === "/") return response.setHeader("content-type", "text/html").end(html);
      const content = await readFile(join(project, pathname)).catch(() => undefined);
      if (content === undefined) return response.writeHead(404).end();
      return response.setHeader("content-type", "text/javascript").end(content);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const close = () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    return { origin: `http://127.0.0.1:${port}`, close };
  }
});
