// The console's overviews: threads by section and owner, why each is loaded, and the host itself.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { requestConsoleLink } from "../../packages/host/src/cli/console-link.ts";
import { accessibilityFaults, hasBrowser, visit } from "../support/browser.ts";
import { begin, consoleStage, send } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { calls, elicitation, mcpStage, own } from "../support/mcp-call-stage.ts";
import { mcpServer } from "../support/mcp-stage.ts";
import { escalated, say } from "../support/model-replies.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import { reads } from "../support/thread-outline.ts";
import { FakeToolServer } from "../support/tool-server.ts";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** Saves a picture for people to look at, if a folder for pictures is named. */
async function picture(page: Page, name: string): Promise<void> {
  const { BOBBIN_PICTURES: folder } = process.env;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

describe.runIf(hasBrowser)("sections in the console", () => {
  it("[CONSOLE-25] are created, renamed and deleted, and threads are moved between them", async () => {
    const { host, site } = await consoleStage();
    const client = await host.join(undefined, { experimentalApi: true });
    for (const title of ["First", "Second", "Third"]) await client.turn(await client.startThread(), title);
    const { page, faults } = await visit(site);
    const list = page.getByRole("navigation");
    await reads(page, ["Third", "Second", "First"]);
    const move = async (title: string) => {
      await list.getByRole("link", { name: title }).hover();
      await list.getByRole("button", { name: `Move ${title} to a section` }).click();
    };
    const dialog = page.getByRole("dialog");

    await move("Second");
    await dialog.getByRole("textbox", { name: "To a new section" }).fill("<b>Work</b>");
    await dialog.getByRole("button", { name: "Create and move" }).click();
    await reads(page, ["[<b>Work</b>]", "Second", "[Other threads]", "Third", "First"]);
    await move("First");
    await picture(page, "sections-move");
    await dialog.getByRole("button", { name: "<b>Work</b>" }).click();
    await reads(page, ["[<b>Work</b>]", "Second", "First", "[Other threads]", "Third"]);
    await move("Third");
    await dialog.getByRole("button", { name: "Pin" }).click();
    const all = ["[Pinned]", "Third", "[<b>Work</b>]", "Second", "First", "[Other threads]"];
    await reads(page, all);

    await list.getByRole("button", { name: "Section <b>Work</b>" }).click();
    await dialog.getByRole("textbox", { name: "Name" }).fill("Work");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await reads(page, ["[Pinned]", "Third", "[Work]", "Second", "First", "[Other threads]"]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await list.getByRole("button", { name: "Work", exact: true }).click();
    await reads(page, ["[Pinned]", "Third", "[Work]", "[Other threads]"]);
    await page.reload();
    await reads(page, ["[Pinned]", "Third", "[Work]", "[Other threads]"]);
    await list.getByRole("button", { name: "Work", exact: true }).press("Enter");
    await reads(page, ["[Pinned]", "Third", "[Work]", "Second", "First", "[Other threads]"]);

    await list.getByRole("button", { name: "New section" }).click();
    await dialog.getByRole("textbox", { name: "Name" }).fill("Later");
    await dialog.getByRole("button", { name: "Create" }).click();
    await reads(page, ["[Pinned]", "Third", "[Work]", "Second", "First", "[Later]", "[Other threads]"]);
    await move("Third");
    await dialog.getByRole("button", { name: "Unpin" }).click();
    await reads(page, ["[Work]", "Second", "First", "[Later]", "[Other threads]", "Third"]);
    await list.getByRole("button", { name: "Section Work" }).click();
    await picture(page, "sections-edit");
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Delete the section" }).click();
    await reads(page, ["[Later]", "[Other threads]", "Third", "Second", "First"]);
    const { data } = (await client.call("threadSection/list", {})) as { data: { name: string }[] };
    expect(data.map(({ name }) => name)).toEqual(["Pinned", "Later"]);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-25] are read when they come into sight, among 100,000 threads", async () => {
    const { site } = await consoleStage();
    const { page, faults } = await visit("about:blank");
    const sections = Array.from({ length: MANY_SECTIONS }, (_, nth) => ({
      id: `section-${nth}`,
      name: `Section ${nth}`,
      appearance: null,
    }));
    const read: string[] = [];
    let otherPages = 0;
    let disconnect = async () => {};
    // The host's lists are replaced; everything else is the host's own.
    await page.routeWebSocket(/^ws:/, (socket) => {
      const server = socket.connectToServer();
      disconnect = async () => void (await Promise.all([socket.close(), server.close()]));
      socket.onMessage((text) => {
        const { id, method, params } = JSON.parse(String(text));
        const answer = (result: object) => socket.send(JSON.stringify({ id, result }));
        if (method === "threadSection/list") return answer({ data: sections, nextCursor: null });
        if (method !== "thread/list") return server.send(text);
        const { sectionId = null, cursor } = params;
        const [total, size] = sectionId === null ? [MANY_THREADS, 5_000] : [IN_A_SECTION, A_PAGE];
        if (sectionId === null) otherPages++;
        else read.push(sectionId);
        const from = Number(cursor ?? 0);
        const section = sections.find((one) => one.id === sectionId) ?? null;
        const data = Array.from({ length: size }, (_, nth) => listedThread(section, from + nth));
        const nextCursor = from + size < total ? String(from + size) : null;
        answer({ data, nextCursor, backwardsCursor: null });
      });
    });
    await page.goto(site);
    const list = page.getByRole("navigation");
    await list.getByRole("link", { name: "Section 0, number 0 " }).waitFor();
    const total = MANY_SECTIONS * (IN_A_SECTION + 1) + 1 + MANY_THREADS;
    const sizeOf = async () => Number(await list.locator("li").first().getAttribute("aria-setsize"));
    await eventually(async () => (await sizeOf()) > 5_000, "the other threads are there");
    // So many headings do not fit into sight.
    expect(new Set(read).size).toBeLessThan(MANY_SECTIONS);
    await eventually(async () => {
      await page.evaluate(`(async () => {
        const rows = document.querySelector(".rows");
        for (let step = 0; step < 60; step++) {
          rows.scrollTo(0, step * 800);
          await new Promise((done) => requestAnimationFrame(done));
        }
      })()`);
      return read.length === MANY_SECTIONS * (IN_A_SECTION / A_PAGE);
    }, "every section was read to its end");
    await eventually(async () => {
      await page.evaluate('document.querySelector(".rows").scrollTo(0, 1e9)');
      return (await sizeOf()) === total;
    }, "all threads are listed");
    await page.evaluate('document.querySelector(".rows").scrollTo(0, 1e9)');
    await list.getByRole("link", { name: `Number ${MANY_THREADS - 1} ` }).waitFor();
    expect(await list.locator("li").count()).toBeLessThan(60);
    expect(new Set(read).size).toBe(MANY_SECTIONS);
    // After a reconnect, the list is read again, and stays where it was.
    const place = () => page.evaluate('document.querySelector(".rows").scrollTop');
    const before = await place();
    const pages = otherPages;
    await disconnect();
    await eventually(() => otherPages === 2 * pages, "the list was read again to its end");
    await list.getByRole("link", { name: `Number ${MANY_THREADS - 1} ` }).waitFor();
    expect([await place(), await sizeOf()]).toEqual([before, total]);
    expect(faults.filter((fault) => !fault.startsWith("http"))).toEqual([]);
  });

  it.each([
    ["sections-dark", { colorScheme: "dark" as const }],
    ["sections-phone", PHONE],
    ["sections-phone-dark", { ...PHONE, colorScheme: "dark" as const }],
  ])("[CONSOLE-25] fit %s", async (name, options) => {
    const { host, site } = await consoleStage();
    const client = await host.join(undefined, { experimentalApi: true });
    const work = ["Write the release notes of 2.4, with every change since spring", "Why is login slow?"];
    for (const title of [...work, "Translate the invoices"])
      await client.turn(await client.startThread(), title);
    const { page, faults } = await visit(site, options);
    const list = page.getByRole("navigation");
    const dialog = page.getByRole("dialog");
    await list.getByRole("button", { name: "Move Why is login slow? to a section" }).click();
    await dialog.getByRole("textbox", { name: "To a new section" }).fill("This week");
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture(page, `${name}-dialog`);
    await dialog.getByRole("button", { name: "Create and move" }).click();
    await reads(page, ["[This week]", work[1]!, "[Other threads]", "Translate the invoices", work[0]!]);
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture(page, name);
    expect(faults).toEqual([]);
  });
});

describe.runIf(hasBrowser)("owners and memory in the console", () => {
  it("[CONSOLE-26] lists the threads of one owner, to the host's own user", async () => {
    const folder = await freshFolder();
    await writeFile(join(folder, "key"), KEY);
    const { host, home } = await consoleStage([
      "--ws-auth",
      "signed-bearer-token",
      "--ws-shared-secret-file",
      join(folder, "key"),
    ]);
    const { page, faults } = await visit((await requestConsoleLink(home))!);
    const list = page.getByRole("navigation");
    await send(page, "My own thread");
    await list.getByRole("link", { name: "My own thread" }).waitFor();
    expect(await list.getByLabel("Owner").count()).toBe(0);
    const subject = "<i>ann</i>";
    const ann = await host.connect(undefined, signedBearer(subject));
    await ann.initialize({ experimentalApi: true });
    await ann.turn(await ann.startThread(), "A thread of ann");
    await page.reload();
    await list.getByLabel("Owner").selectOption({ label: subject });
    await reads(page, ["A thread of ann"]);
    await list.getByText(`· ${subject}`).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture(page, "owners");
    await ann.turn(await ann.startThread(), "Another one");
    await reads(page, ["Another one", "A thread of ann"]);
    await list.getByLabel("Owner").selectOption({ label: "The host’s own user" });
    await reads(page, ["My own thread"]);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-27] shows about how much memory a loaded thread takes", async () => {
    const stage = await consoleStage();
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "Hello");
    await page.getByText("Ready.").waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Why is it loaded?" }).click();
    const note = page.getByRole("status").filter({ hasText: "Loaded: 1 client follows it." });
    await note.getByText(/It takes about [\d.]+ (B|KiB) of memory\./).waitFor();
    await page.getByRole("link", { name: "Host" }).click();
    const loaded = page.getByRole("region", { name: "Loaded threads" });
    await loaded.getByText(/^about [\d.]+ (B|KiB)$/).waitFor();
    expect(faults).toEqual([]);
  });
});

describe.runIf(hasBrowser)("why threads are loaded", () => {
  it("[CONSOLE-44] is in the row of each loaded thread, and stays current", async () => {
    const { host, site, model } = await consoleStage();
    const client = await host.join(undefined, { experimentalApi: true });
    const unloaded = await client.startThread();
    await client.turn(unloaded, "Out of use");
    await client.call("thread/unload", { threadId: unloaded });
    await client.turn(await client.startThread(), "Followed by one");
    const left = await client.startThread();
    await client.turn(left, "Left alone");
    await client.call("thread/unsubscribe", { threadId: left });
    model.reply(escalated("echo asks"), say("Done."));
    const asking = await client.startThread();
    await client.say(asking, "Asks something");
    const { page, faults } = await visit(site);
    const list = page.getByRole("navigation");
    const row = (title: string) => list.getByRole("link", { name: title });
    const following = / · 1 client follows it · about [\d.]+ KiB$/;
    await row("Followed by one").getByText(following).waitFor();
    expect(await row("Out of use").textContent()).not.toContain(" · ");
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture(page, "reasons");
    await list.getByLabel("Status").selectOption("loaded");
    await row("Out of use").waitFor({ state: "detached" });
    await row("Followed by one").getByText(following).waitFor();
    await row("Left alone")
      .getByText(/ · it is unloaded in \d+ min/)
      .waitFor();
    await row("Asks something")
      .getByText(
        /^Needs approval · a turn runs, 1 question waits, 1 tool call runs, 1 client follows it · about /,
      )
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture(page, "loaded-reasons");
    await client.call("thread/resume", { threadId: left });
    await row("Left alone").getByText("1 client follows it").waitFor();
    await client.call("thread/unload", { threadId: left });
    await row("Left alone").waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });
});

describe.runIf(hasBrowser)("the host in the console", () => {
  it("[CONSOLE-11] shows the health of MCP servers and tool servers, and charts", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    const gone = await FakeToolServer.start({ send: {} });
    await gone.close();
    const servers = [
      own(),
      mcpServer("broken", "no-such-script.mjs"),
      `[rap_servers.desk]\nurl = "${desk.url}"`,
      `[rap_servers.gone]\nurl = "${gone.url}"`,
    ];
    const { host } = await mcpStage([], { servers });
    const { page, faults } = await visit(`${await host.site()}/#/host`);
    const line = (title: string, name: string) =>
      page.getByRole("region", { name: title }).getByRole("listitem").filter({ hasText: name });
    await line("MCP servers", "own")
      .getByText(/^connected · \d+ tools$/)
      .waitFor();
    await line("MCP servers", "own").getByRole("img", { name: "Well", exact: true }).waitFor();
    await line("MCP servers", "broken").getByRole("img", { name: "Not well" }).waitFor();
    await line("Tool servers", "desk").getByText("ready · 1 tool · 0 calls run").waitFor();
    await line("Tool servers", "gone").getByRole("img", { name: "Not well" }).waitFor();
    expect(await line("Tool servers", "gone").textContent()).toContain("unreachable");
    await page
      .getByRole("region", { name: "Now" })
      .locator("polyline")
      .first()
      .waitFor({ state: "attached" });
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture(page, "host-servers");
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-11] is read again when the window gets the focus", async () => {
    const { site, home } = await consoleStage();
    const { page, faults } = await visit(`${site}/#/host`);
    const rules = page.getByRole("region", { name: "Rules" });
    await rules.getByText("No rule says").waitFor();
    await mkdir(join(home, "rules"), { recursive: true });
    const rule = 'prefix_rule(pattern=["make"], decision="allow")\n';
    await writeFile(join(home, "rules", "default.rules"), rule);
    await page.evaluate('window.dispatchEvent(new Event("focus"))');
    await rules.getByText("make").first().waitFor();
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-28] says which keys are set, whether commands are confined, and what is wrong in config.toml", async () => {
    const name = '<img src=x onerror="alert(1)">';
    const provider = `{name='${name}',base_url="http://127.0.0.1:9/v1",env_key="NO_SUCH_KEY"}`;
    const { site } = await consoleStage(["-c", `model_providers.x=${provider}`, "-c", "modle=1"]);
    const { page, faults } = await visit(`${site}/#/host`);
    const region = (title: string) => page.getByRole("region", { name: title, exact: true });
    const keys = region("Keys of model providers").getByRole("listitem");
    await keys.filter({ hasText: name }).getByText("NO_SUCH_KEY is not set, and none is stored").waitFor();
    await keys.filter({ hasText: "used by default" }).waitFor();
    await region("Sandbox")
      .getByText(/^Commands (run confined\.|cannot run confined: )/)
      .waitFor();
    await region("Configuration warnings").getByText("modle").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await region("Sandbox").scrollIntoViewIfNeeded();
    await picture(page, "host-setup");
    expect(faults).toEqual([]);
  });

  it.each([
    ["host-dark", { colorScheme: "dark" as const }],
    ["host-phone", PHONE],
  ])("[CONSOLE-28] fits %s", async (name, options) => {
    const stage = await consoleStage(["-c", "modle=1"]);
    const client = await stage.host.join(undefined, { experimentalApi: true });
    await client.turn(await client.startThread({ cwd: stage.cwd }), "Explain the retry policy to me");
    const { page, faults } = await visit(`${stage.site}/#/host`, options);
    const region = (title: string) => page.getByRole("region", { name: title, exact: true });
    await region("Keys of model providers").getByText("used by default").waitFor();
    await region("Loaded threads")
      .getByText(/^about /)
      .waitFor();
    await region("Hosts of this home").getByText("this host").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture(page, name);
    await region("Sandbox").scrollIntoViewIfNeeded();
    await picture(page, `${name}-setup`);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-30] names the hosts of this home", async () => {
    const { host, home, site } = await consoleStage();
    const other = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
    await other.urls();
    const { page, faults } = await visit(`${site}/#/host`);
    const hosts = page.getByRole("region", { name: "Hosts of this home" }).getByRole("listitem");
    await hosts
      .filter({ hasText: `Process ${host.pid}` })
      .getByText(/^this host · version 0\.1\.0 · since /)
      .waitFor();
    // A host opens its socket for commands a moment after it listens.
    await eventually(async () => {
      await page.reload();
      await hosts.first().waitFor();
      return (await hosts.filter({ hasText: `Process ${other.pid}` }).count()) === 1;
    }, "the other host is listed");
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture(page, "host-hosts");
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-30] shows problems from before the page was opened, of the host's log", async () => {
    const { host, site } = await consoleStage(["-c", "<img src=x onerror=alert(1)>=1"]);
    await host.logged(
      ({ level, msg }) => level === "warn" && String(msg).includes("unknown configuration key"),
    );
    const { page, faults } = await visit(`${site}/#/host`);
    const problems = page.getByRole("region", { name: "Recent problems" }).getByRole("listitem");
    await problems.filter({ hasText: /Warning: .*onerror=alert/ }).waitFor();
    expect(await problems.filter({ hasText: "onerror" }).count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await picture(page, "host-problems");
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-29] revokes a rule, which is gone from the rules file", async () => {
    const { site, home } = await consoleStage();
    await mkdir(join(home, "rules"), { recursive: true });
    const file = join(home, "rules", "default.rules");
    const rule = (word: string) => `prefix_rule(pattern=["${word}", "--all"], decision="allow")\n`;
    await writeFile(file, rule("first") + rule("second"));
    const { page, faults } = await visit(`${site}/#/host`);
    const rules = page.getByRole("region", { name: "Rules" }).getByRole("listitem");
    await rules.filter({ hasText: "second --all" }).waitFor();
    await rules.filter({ hasText: "first --all" }).getByRole("button", { name: "Revoke" }).click();
    await rules.filter({ hasText: "first --all" }).waitFor({ state: "detached" });
    expect(await rules.count()).toBe(1);
    expect(await readFile(file, "utf8")).toBe(rule("second"));
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-29] revokes a rule about a network host, and has no button for one of another file", async () => {
    const { site, home } = await consoleStage();
    await mkdir(join(home, "rules"), { recursive: true });
    const file = join(home, "rules", "default.rules");
    const rule = (host: string) => `network_rule(host="${host}", protocol="https", decision="allow")\n`;
    await writeFile(file, rule("first.example") + rule("second.example"));
    await writeFile(join(home, "rules", "team.rules"), rule("third.example"));
    const { page, faults } = await visit(`${site}/#/host`);
    const rules = page.getByRole("region", { name: "Rules" }).getByRole("listitem");
    const revoke = (host: string) => rules.filter({ hasText: host }).getByRole("button", { name: "Revoke" });
    await revoke("first.example").click();
    await rules.filter({ hasText: "first.example" }).waitFor({ state: "detached" });
    expect(await revoke("second.example").count()).toBe(1);
    expect(await revoke("third.example").count()).toBe(0);
    expect(await readFile(file, "utf8")).toBe(rule("second.example"));
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-29] revokes that a tool of an MCP server needs no approval, and its next call asks", async () => {
    const { host, home, client, threadId } = await mcpStage(
      [calls(["fail"]), say("Called."), calls(["fail"]), say("Called.")],
      { servers: [own('tools.fail.approval_mode = "approve"')] },
    );
    await client.turn(threadId, "Call it");
    expect(client.told("mcpServer/elicitation/request")).toEqual([]);
    const { page, faults } = await visit(`${await host.site()}/#/host`);
    const tools = page.getByRole("region", { name: "MCP tools without approval" });
    const row = tools.getByRole("listitem").filter({ hasText: "fail" });
    await row.getByText("own", { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByRole("button", { name: "Revoke" }).click();
    await tools.getByText("None.").waitFor();
    expect(await readFile(join(home, "config.toml"), "utf8")).not.toContain("approval_mode");
    await client.say(threadId, "Call it again");
    await elicitation(client);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-29] finds the grant of a thread that more than 50 others were used after", async () => {
    const { host, site, model } = await consoleStage();
    const client = await host.join(undefined, { experimentalApi: true });
    model.reply(escalated("echo granted"), say("Done."));
    const threadId = await client.startThread();
    const turnId = await client.say(threadId, "Asks something");
    const { id } = await client.about(threadId, "item/commandExecution/requestApproval");
    client.send({ id, result: { decision: "acceptForSession" } });
    await client.turnCompleted(turnId);
    for (let nth = 0; nth < 55; nth++) await client.startThread();
    const { page, faults } = await visit(`${site}/#/host`);
    const grants = page.getByRole("region", { name: "Grants of loaded threads" });
    await grants.getByText("None in the 50 threads that were used last.").waitFor();
    await grants.getByRole("button", { name: "Read the grants of 6 more threads" }).click();
    const row = grants.getByRole("listitem").filter({ hasText: "echo granted" });
    await row.getByRole("button", { name: "Revoke" }).click();
    await grants.getByText("None.").waitFor();
    const { data } = await client.call("thread/grants/list", { threadId });
    expect(data).toEqual([]);
    expect(faults).toEqual([]);
  });
});

const MANY_THREADS = 100_000;
const MANY_SECTIONS = 32;
const IN_A_SECTION = 20;
const A_PAGE = 10;

/** The fields of a thread that a list shows. */
function listedThread(section: { readonly id: string; readonly name: string } | null, nth: number): object {
  return {
    id: `${section?.id ?? "thread"}-${nth}`,
    name: section === null ? `Number ${nth}` : `${section.name}, number ${nth}`,
    preview: "",
    cwd: "/work",
    status: { type: "notLoaded" },
    section,
    updatedAt: 1_700_000_000 - nth,
    createdAt: 0,
    recencyAt: null,
    ephemeral: false,
    parentThreadId: null,
  };
}
