// The console in a real browser: questions and items of MCP servers, tool servers and helpers, the ways in that are
// refused, and a home with 100,000 threads.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, describe, expect, it } from "vitest";
import { consoleFiles } from "../../packages/host/src/cli/console-files.ts";
import { loadLocks } from "../../packages/host/src/platform/node-liveness-locks.ts";
import { withSessions } from "../../packages/host/src/server/listen/authenticate.ts";
import type { Listener } from "../../packages/host/src/server/listen/listener.ts";
import { listenWebSocket } from "../../packages/host/src/server/listen/websocket.ts";
import { ConsoleLogin } from "../../packages/host/src/server/site/console-login.ts";
import { accessibilityFaults, hasBrowser, visit } from "../support/browser.ts";
import { commandStage, WRITES_THERE_ONLY } from "../support/command-stage.ts";
import { consoleStage } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { filesBelow, freshFolder } from "../support/folder.ts";
import { helperStage, spawned } from "../support/helper-stage.ts";
import { BOBBIN, spawnHost } from "../support/host-process.ts";
import { LinkRecording } from "../support/link-recording.ts";
import { APPROVED, calls, mcpItems, mcpStage, own, textsOf } from "../support/mcp-call-stage.ts";
import { EVERYTHING, mcpServer } from "../support/mcp-stage.ts";
import { responses, stream } from "../support/mock-model.ts";
import { callTool, run, say } from "../support/model-replies.ts";
import { answer, call, rapStage } from "../support/rap-stage.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import { FakeToolServer } from "../support/tool-server.ts";

const region = (page: Page, name: string | RegExp) => page.getByRole("region", { name });

const FORM = {
  message: "Order a shirt",
  properties: {
    name: { type: "string", title: "Your name" },
    count: { type: "integer", title: "How many" },
    size: { type: "string", title: "Size", enum: ["s", "l"], enumNames: ["Small", "Large"] },
    colors: { type: "array", title: "Colors", items: { type: "string", enum: ["red", "blue", "green"] } },
    gift: { type: "boolean", title: "It is a gift", description: "Wrapped in paper" },
    note: { type: "string", title: "Note" },
  },
  required: ["name", "count", "size"],
};

describe.runIf(hasBrowser)("a question in the console", () => {
  it("[CONSOLE-33] of an MCP server is a form, whose values reach the server", async () => {
    const stage = await mcpStage([calls(["ask", FORM]), say("Ordered."), calls(["ask"]), say("No color.")]);
    const { client, threadId } = stage;
    const address = `${await stage.host.site()}/#/thread/${threadId}`;
    const { page, faults } = await visit(address);
    const other = await visit(address);
    const first = await client.say(threadId, "Order");
    const form = region(page, "own asks");
    const seenByOther = region(other.page, "own asks");
    await seenByOther.getByText("Order a shirt").waitFor();
    await form.getByText("Order a shirt").waitFor();
    const submit = form.getByRole("button", { name: "Send" });
    expect(await submit.isDisabled()).toBe(true);
    await form.getByLabel("Your name").fill("Ada");
    await form.getByLabel("How many").fill("2");
    await form.getByLabel("Size").selectOption({ label: "Large" });
    await form.getByRole("checkbox", { name: "red" }).check();
    await form.getByRole("checkbox", { name: "green" }).check();
    await form.getByRole("checkbox", { name: /It is a gift/ }).check();
    expect(await accessibilityFaults(page)).toEqual([]);
    await submit.click();
    await client.turnCompleted(first);
    const content = { name: "Ada", count: 2, size: "l", colors: ["red", "green"], gift: true };
    expect(JSON.parse(textsOf(mcpItems(client).at(-1)))).toEqual({ action: "accept", content });
    await form.waitFor({ state: "detached" });
    await seenByOther.waitFor({ state: "detached" });
    const second = await client.say(threadId, "And the color?");
    await form.waitFor();
    await seenByOther.getByRole("button", { name: "Decline" }).click();
    await client.turnCompleted(second);
    await form.waitFor({ state: "detached" });
    expect(JSON.parse(textsOf(mcpItems(client).at(-1)))).toEqual({ action: "decline" });
    expect([...faults, ...other.faults]).toEqual([]);
  });

  it("[CONSOLE-33] of an MCP server that needs a web page has a link to it, and is confirmed or declined", async () => {
    const trigger = stream(
      responses.stream(
        responses.call("trigger_url_elicitation", '{"url":"https://example.org"}', "call_1", "mcp__every"),
      ),
    );
    const every = mcpServer("every", EVERYTHING, ["stdio"], [APPROVED]);
    const { client, threadId, host } = await mcpStage([trigger, say("One."), trigger, say("Two.")], {
      servers: [every],
    });
    const { page, faults } = await visit(`${await host.site()}/#/thread/${threadId}`);
    const card = region(page, "every asks");
    for (const [button, action] of [
      ["I have done it", "accept"],
      ["Decline", "decline"],
    ] as const) {
      const turnId = await client.say(threadId, "Go there");
      const link = card.getByRole("link");
      expect(await link.getAttribute("href")).toMatch(/^https:\/\/\S+$/);
      expect(await link.getAttribute("rel")).toBe("noreferrer noopener");
      expect(await accessibilityFaults(page)).toEqual([]);
      await card.getByRole("button", { name: button }).click();
      await client.turnCompleted(turnId);
      await card.waitFor({ state: "detached" });
      expect(textsOf(mcpItems(client).at(-1))).toContain(action);
    }
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-46] about a tool call names tool and arguments, and allows it once, for the session or for good", async () => {
    const echo = (message: string) => calls(["echo", { message }]);
    const { client, threadId, host, home } = await mcpStage(
      [
        ...[echo("one <b>"), say("One."), echo("two"), say("Two."), echo("three"), say("Three.")],
        ...[calls(["fail"]), say("Four."), calls(["fail"]), say("Five.")],
      ],
      { servers: [own()] },
    );
    const { page, faults } = await visit(`${await host.site()}/#/thread/${threadId}`);
    const card = (tool: string) => region(page, `Allow the MCP server own to run the tool "${tool}"?`);
    const answered = async (tool: string, button: string) => {
      const turnId = await client.say(threadId, "Call it");
      await card(tool).getByRole("button", { name: button, exact: true }).click();
      await client.turnCompleted(turnId);
      await card(tool).waitFor({ state: "detached" });
      return mcpItems(client).at(-1);
    };
    const first = await client.say(threadId, "Call it");
    await card("echo").getByText("The tool echo.").waitFor();
    const args = await card("echo").getByLabel("Arguments").textContent();
    expect(JSON.parse(args!)).toEqual({ message: "one <b>" });
    expect(await accessibilityFaults(page)).toEqual([]);
    await card("echo").getByRole("button", { name: "No", exact: true }).click();
    await client.turnCompleted(first);
    expect(mcpItems(client).at(-1)).toMatchObject({ status: "failed" });
    expect(textsOf(await answered("echo", "Yes, and do not ask again in this session"))).toBe("two");
    // The third call is not asked about.
    await client.turnCompleted(await client.say(threadId, "Call it"));
    expect(textsOf(mcpItems(client).at(-1))).toBe("three");
    await answered("fail", "Yes");
    await answered("fail", "Yes, and never ask again for this tool");
    const config = await readFile(join(home, "config.toml"), "utf8");
    expect(config).toContain('[mcp_servers.own.tools.fail]\napproval_mode = "approve"');
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-46] of a server without fields is never shown in the words of the host", async () => {
    const claim = 'Allow the MCP server own to run the tool "echo"?';
    const { client, threadId, host } = await mcpStage([
      calls(["ask", { message: claim, properties: {} }]),
      say("Asked."),
    ]);
    const { page, faults } = await visit(`${await host.site()}/#/thread/${threadId}`);
    const turnId = await client.say(threadId, "Ask");
    const card = region(page, "own asks");
    await card.getByText(claim).waitFor();
    expect(await region(page, claim).count()).toBe(0);
    expect(await card.getByRole("button").allTextContents()).toEqual(["Yes", "No"]);
    await card.getByRole("button", { name: "Yes" }).click();
    await client.turnCompleted(turnId);
    expect(JSON.parse(textsOf(mcpItems(client).at(-1)))).toEqual({ action: "accept", content: {} });
    expect(faults).toEqual([]);
  });

  it.runIf(hasSandbox)("[CONSOLE-34] about a command names the permissions that it asks for", async () => {
    const outside = await freshFolder("outside");
    const asks = run({
      cmd: "true",
      sandbox_permissions: "with_additional_permissions",
      justification: "May I write there?",
      additional_permissions: { file_system: { write: [outside] } },
    });
    const { client, threadId, host } = await commandStage([asks, say("Done.")], WRITES_THERE_ONLY);
    const { page, faults } = await visit(`${await host.site()}/#/thread/${threadId}`);
    const turnId = await client.say(threadId, "go");
    const card = region(page, "Run this command?");
    await card.getByText("It asks for these permissions:").waitFor();
    expect(await card.getByRole("listitem").allTextContents()).toEqual([`write ${outside}`]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await card.getByRole("button", { name: "Yes", exact: true }).click();
    await client.turnCompleted(turnId);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-34] for permissions says what they are, and gives them for a turn or not at all", async () => {
    const { host, model, cwd, site } = await consoleStage();
    const outside = await freshFolder("outside");
    const permissions = { network: { enabled: true }, file_system: { write: [outside] } };
    const wanted = { reason: "To publish it", permissions };
    const ask = (callId: string) => callTool("request_permissions", wanted, callId);
    model.reply(ask("call_1"), say("Given."), ask("call_2"), say("Refused."));
    const client = await host.join(undefined, { experimentalApi: true });
    const threadId = await client.startThread({ cwd, approvalPolicy: "on-request" });
    const { page, faults } = await visit(`${site}/#/thread/${threadId}`);
    const output = (): string => model.asked.at(-1)!.body.input.at(-1).output;
    for (const [button, end] of [
      ["For this turn", "Given."],
      ["No", "Refused."],
    ] as const) {
      const turnId = await client.say(threadId, "Publish");
      const card = region(page, "Give these permissions?");
      await card.getByText("To publish it").waitFor();
      await card.getByText("use the network").waitFor();
      await card.getByText(`write ${outside}`).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await card.getByRole("button", { name: button, exact: true }).click();
      await client.turnCompleted(turnId);
      await page.getByText(end).waitFor();
      expect(output().includes("Granted"), output()).toBe(button !== "No");
    }
    expect(faults).toEqual([]);
  });
});

describe.runIf(hasBrowser)("a call in the console", () => {
  it("[CONSOLE-35] of an MCP server shows arguments, result, picture and failure", async () => {
    const stage = await mcpStage([
      calls(["echo", { message: "An echo" }], ["picture", { bytes: 0 }], ["fail"]),
      say("Called."),
    ]);
    const { page, faults } = await visit(`${await stage.host.site()}/#/thread/${stage.threadId}`);
    await stage.client.turnCompleted(await stage.client.say(stage.threadId, "Call"));
    await page.getByText("Called.").waitFor();
    const item = (tool: string) => page.locator("details.item", { hasText: `own · ${tool}` });
    await item("echo").locator("summary").click();
    await item("echo").getByText('"message": "An echo"').waitFor();
    await item("picture").locator("summary").click();
    await item("picture").getByAltText("Result of the tool").waitFor();
    await item("fail").getByText("it does not want to").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-35] of a tool server shows that it runs, and its result", async () => {
    const server = await FakeToolServer.start({ weather: {} });
    const asks = call(responses.call("weather", '{"city":"Bern"}', "call_1"));
    const { client, threadId, host } = await rapStage([asks, say("Umbrella.")], {
      servers: { desk: server },
    });
    const { page, faults } = await visit(`${await host.site()}/#/thread/${threadId}`);
    const turnId = await client.say(threadId, "Will it rain?");
    const item = page.locator("details.item", { hasText: "desk · weather" });
    await item.waitFor();
    await answer(await server.next("/invoke"), "It rains in Bern.");
    await client.turnCompleted(turnId);
    await page.getByText("Umbrella.").waitFor();
    await item.locator("summary").click();
    await item.getByText("It rains in Bern.").waitFor();
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-35] of a helper leads to the helper's own thread", async () => {
    const { host, client, threadId } = await helperStage({
      parent: [
        { calls: [["spawn_agent", { message: "play child" }]] },
        (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)], timeout_ms: 3_600_000 }]] }),
        { say: "Both are done." },
      ],
      child: [{ say: "The helper's answer." }],
    });
    const { page, faults } = await visit(`${await host.site()}/#/thread/${threadId}`);
    await client.turnCompleted(await client.say(threadId, "play parent"));
    await page.getByText("Both are done.").waitFor();
    const started = page.locator("details.item", { hasText: "Start a helper" });
    await started.locator("summary").click();
    await started.getByText("play child").waitFor();
    await started.getByText(/^Helper \w+ (starts|works|is done)/).waitFor();
    await started.getByRole("link", { name: /^Helper / }).click();
    await page.locator(".agent", { hasText: "The helper's answer." }).waitFor();
    expect(page.url()).not.toContain(threadId);
    expect(faults).toEqual([]);
  });
});

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const listeners: Listener[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close(0);
});

/** A listener with the built console, authentication, and a clock that the test moves. */
async function lockedSite() {
  const clock = { now: 1_700_000_000_000 };
  let last = 0;
  const random = (bytes: number) => Buffer.from(String(++last).padStart(bytes, "0"));
  const consoleLogin = new ConsoleLogin({ now: () => clock.now, random, secret: Buffer.alloc(32) });
  const nobody = { status: 401, code: "unauthorized", message: "no" } as const;
  const folder = join(BOBBIN, "../../dist/console");
  const listener = await listenWebSocket({
    accept: new LinkRecording().accept,
    host: "127.0.0.1",
    port: 0,
    authenticate: withSessions(() => nobody, consoleLogin),
    consoleLogin,
    site: { console: () => consoleFiles(folder) },
  });
  listeners.push(listener);
  const site = listener.url.replace(/^ws:/, "http:");
  return { clock, consoleLogin, site, link: () => `${site}/#token=${consoleLogin.issueToken()}` };
}

describe.runIf(hasBrowser)("the way into the console", () => {
  it("[CONSOLE-36] is closed for a link that is too old, wrong or used, and the page names what helps", async () => {
    const { clock, site, link } = await lockedSite();
    const old = link();
    clock.now += 10 * MINUTE_MS;
    const used = link();
    const refusals = async (address: string) => {
      const { page } = await visit(address);
      await page.getByRole("heading", { name: "A link is needed" }).waitFor();
      await page.getByText("bobbin open", { exact: true }).waitFor();
      expect(page.url()).not.toContain("token");
      expect(await page.evaluate("localStorage.length")).toBe(0);
      return page.getByRole("alert").textContent();
    };
    expect(await refusals(old)).toContain("this link has expired");
    expect(await refusals(`${site}/#token=wrong`)).toContain("this link is not valid");
    expect(await refusals(site)).toContain("has no session");
    const { page } = await visit(used);
    await eventually(async () => (await page.evaluate("localStorage.length")) === 1, "the session is stored");
    expect(await refusals(used)).toContain("this link was used before");
  });

  it("[CONSOLE-36] closes when the session has ended", async () => {
    const { clock, site, link } = await lockedSite();
    const { page } = await visit(link());
    await eventually(async () => (await page.evaluate("localStorage.length")) === 1, "the session is stored");
    clock.now += 30 * DAY_MS;
    await page.goto("about:blank");
    await page.goto(site);
    await page.getByText("the session has expired").waitFor();
    await page.getByText("bobbin open", { exact: true }).waitFor();
    expect(await page.evaluate("localStorage.length")).toBe(0);
  });
});

const MANY = 100_000;
/** How far the test scrolls. The page reads threads as they come into sight. */
const SCROLLED = 1_000;

/** Copies the only thread of a home's index, so that there are many. Each is a second older than the one before it. */
async function fillIndex(home: string, threadId: string): Promise<void> {
  const path = (await filesBelow(home)).find((name) => /\.v\d+\.sqlite$/.test(name))!;
  const { DatabaseSync } = await loadLocks();
  const database = new DatabaseSync(join(home, path));
  const idOf = `printf('%s%012d', substr('${threadId}', 1, 24), n)`;
  database.exec(`
    BEGIN;
    CREATE TEMP TABLE numbers AS
      WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < ${MANY - 1}) SELECT n FROM count;
    INSERT INTO threads SELECT key + n, ${idOf}, seq, owner, archived, shown, interactive, kind, created - n * 1000,
      updated - n * 1000, recency - n * 1000, position, section, parent, provider, originator, cwd, 'Number ' || n, preview
      FROM threads, numbers;
    INSERT INTO bodies SELECT key + n, json_set(replace(row, '${threadId}', ${idOf}), '$.thread.name', 'Number ' || n)
      FROM bodies, numbers;
    COMMIT;`);
  database.close();
}

describe.runIf(hasBrowser)("a home with 100,000 threads", () => {
  it("[CONSOLE-37] is listed, scrolled through and searched in the console", async () => {
    const { host, home, cwd, model } = await consoleStage();
    model.reply(say("The first of many."));
    const client = await host.join(undefined, { experimentalApi: true });
    const threadId = await client.startThread({ cwd });
    await client.turn(threadId, "Number 0");
    await client.call("thread/list", {});
    await client.close();
    host.signal("SIGTERM");
    await host.exited;
    await fillIndex(home, threadId);
    const next = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"], cwd });
    const { page, faults } = await visit(await next.site());
    const list = page.getByRole("navigation");
    const row = (title: RegExp) => list.locator(".row-title").filter({ hasText: title }).first();
    await row(/Number 0$/).waitFor();
    await eventually(async () => {
      await page.evaluate('document.querySelector(".rows").scrollTo(0, 1e9)');
      return Number(await list.locator("li").last().getAttribute("aria-setsize")) >= SCROLLED;
    }, "more and more threads are listed");
    await row(/Number (9|1\d)\d\d$/).waitFor();
    expect(await list.locator("li").count()).toBeLessThan(60);
    await list.getByLabel("Search threads").fill("first of many");
    await row(/Number 0$/).click();
    await page.getByRole("article", { name: "Answer" }).getByText("The first of many.").waitFor();
    expect(faults).toEqual([]);
  });
});
