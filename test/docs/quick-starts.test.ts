// The quick starts, as pasted into an empty project with the packages that would be published. Only ports are replaced.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, visit } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { environment } from "../support/host-process.ts";
import { blockWith } from "../support/markdown.ts";
import { type PackageName, projectWith } from "../support/tarballs.ts";
import { notRunBy } from "./snippet-list.ts";

const run = promisify(execFile);
const PAGES = ["chat-page", "bot", "tool-server", "mcp"].map((name) => `docs/quick-start-${name}.md`);
const OURS: readonly PackageName[] = ["bobbin", "@bobbin/client", "@bobbin/protocol", "@bobbin/rap"];
let project: string;
const running: ChildProcess[] = [];

/** The packages that the pages install. */
async function packages(): Promise<string[]> {
  const lines = await Promise.all(PAGES.map((page) => blockWith(page, "sh", "npm install")));
  return [...new Set(lines.flatMap((line) => line.trim().split(" ").slice(2)))];
}

beforeAll(async () => {
  const others = (await packages()).filter((name) => !OURS.includes(name as PackageName));
  project = await projectWith(OURS, others);
});
afterAll(async () => {
  await Promise.all(
    running.map(async (child) => {
      const ended = new Promise((resolve) => child.once("close", resolve));
      if (child.exitCode !== null || child.signalCode !== null) return;
      // The shell and all that it started.
      process.kill(-child.pid!, "SIGKILL");
      await ended;
    }),
  );
});

interface Running {
  readonly child: ChildProcess;
  said: string;
}

/** A reader's shell: runs lines in the project, with a home of its own. */
class Shell {
  readonly home: string;
  readonly #ports: ReadonlyMap<string, number>;

  private constructor(home: string, ports: ReadonlyMap<string, number>) {
    this.home = home;
    this.#ports = ports;
  }

  /** `ports`: those of the page, for each of which a free one is taken. */
  static async open(...ports: readonly number[]): Promise<Shell> {
    const taken = await Promise.all(ports.map(async (port) => [String(port), await freePort()] as const));
    return new Shell(await freshFolder("home"), new Map(taken));
  }

  here(text: string): string {
    if (this.#ports.size === 0) return text;
    const ports = new RegExp(`\\b(${[...this.#ports.keys()].join("|")})\\b`, "g");
    return text.replace(ports, (port) => String(this.#ports.get(port)));
  }

  get #options() {
    return { cwd: project, env: { ...environment(this.home), LOG_LEVEL: "info", NO_COLOR: "1" } };
  }

  async save(name: string, text: string): Promise<void> {
    await writeFile(join(project, name), this.here(text));
  }

  /** Starts a line that goes on until the end of the tests. */
  start(line: string): Running {
    // An open stdin, as a terminal has: some programs end when it ends.
    const child = spawn("sh", ["-c", this.here(line)], { ...this.#options, detached: true, stdio: "pipe" });
    running.push(child);
    const started: Running = { child, said: "" };
    for (const stream of [child.stdout!, child.stderr!])
      stream.on("data", (bytes) => {
        started.said += String(bytes);
      });
    return started;
  }

  /** Runs a line to its end. */
  async run(line: string): Promise<string> {
    return (await run("sh", ["-c", this.here(line)], this.#options)).stdout;
  }
}

describe("the quick start of", () => {
  it.runIf(hasBrowser)("[DOCS-10] a chat page has a conversation that a reload keeps", async () => {
    const page = PAGES[0]!;
    const html = await blockWith(page, "html", "<!doctype html>");
    expect(html.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
    const shell = await Shell.open(4545, 8000);
    await shell.save("index.html", html);
    const [host, site] = (await blockWith(page, "sh", "--allow-origin")).trim().split("\n");
    const serving = shell.start(host!);
    await eventually(() => serving.said.includes("listening"), "the host listens");
    shell.start(site!);
    const address = shell.here("http://127.0.0.1:8000/");
    await eventually(
      () =>
        fetch(address).then(
          ({ ok }) => ok,
          () => false,
        ),
      "the page is served",
    );
    const { page: tab } = await visit(address);
    await tab.waitForFunction("sessionStorage.getItem('thread') !== null");
    await tab.fill("input", "Hello, page!");
    await tab.click("button");
    await tab.waitForSelector("text=You said: Hello, page!");
    await tab.reload();
    await tab.waitForSelector("text=You said: Hello, page!");
  });

  it("[DOCS-10] a bot answers", async () => {
    const page = PAGES[1]!;
    const shell = await Shell.open(8080);
    await shell.save("bot.mjs", await blockWith(page, "js", "createServer"));
    const bot = shell.start(await blockWith(page, "sh", "node bot.mjs"));
    await eventually(() => bot.said.includes("listening"), "the bot listens");
    const line = await blockWith(page, "sh", "curl");
    const [, text, url] = /^curl --data "(.*)" (\S+)\n$/.exec(shell.here(line))!;
    const ask = async (body: string) => await (await fetch(url!, { method: "POST", body })).text();
    expect(await ask(text!)).toContain(`You said: ${text}`);
    expect(await ask("run: touch file")).not.toContain("exited with code 0");
  });

  it("[DOCS-10] a tool server has its tool called", async () => {
    const page = PAGES[2]!;
    const shell = await Shell.open(8793);
    await shell.save("dice.mjs", await blockWith(page, "js", "createToolServer"));
    await writeFile(
      join(shell.home, "config.toml"),
      shell.here(await blockWith(page, "toml", "rap_servers")),
    );
    const server = shell.start(await blockWith(page, "sh", "node dice.mjs"));
    await eventually(() => server.said.includes("dice is listening"), "the server listens");
    expect(await shell.run(await blockWith(page, "sh", "bobbin exec"))).toMatch(/It is a [1-6]\./);
  });

  it("[DOCS-10] an MCP server has its tool called", async () => {
    const page = PAGES[3]!;
    const shell = await Shell.open();
    expect(await shell.run(await blockWith(page, "sh", "mcp add"))).toContain("echo");
    expect(await shell.run(await blockWith(page, "sh", "bobbin exec"))).toContain("Hello!");
  });

  it("[DOCS-10] [DOCS-11] each has no block that is not run", async () => {
    // The page is not visited on a machine without a browser.
    const left = await notRunBy("test/docs/quick-starts.test.ts");
    expect(left.filter((at) => hasBrowser || !at.startsWith(PAGES[0]!))).toEqual([]);
  });
});
