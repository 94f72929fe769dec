// The console: what a turn spent its time with, and what is in a thread's journal.
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { accessibilityFaults, hasBrowser, visit } from "../support/browser.ts";
import { begin, type ConsoleStage, consoleStage, send, unfinished } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { callTool, escalated, say } from "../support/model-replies.ts";
import { rapStage } from "../support/rap-stage.ts";
import { FakeToolServer } from "../support/tool-server.ts";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const LOOKS: readonly (readonly [string, BrowserContextOptions])[] = [
  ["desktop", {}],
  ["desktop-dark", { colorScheme: "dark" }],
  ["phone", PHONE],
  ["phone-dark", { ...PHONE, colorScheme: "dark" }],
];
const HOSTILE = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;

/** A picture of the page, which has to fit its window and to please axe-core. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.BOBBIN_PICTURES ?? (await freshFolder());
  await page.screenshot({ path: join(folder, `${name}.png`) });
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
  expect(await accessibilityFaults(page)).toEqual([]);
}

async function choose(page: Page, item: string): Promise<void> {
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** A thread with a turn in which a command is approved and fails, and a second turn. */
async function workedThread(stage: ConsoleStage, page: Page): Promise<string> {
  stage.model.reply(escalated(`echo '${HOSTILE}'; exit 3`), say("It failed."), say("All good."));
  const threadId = await begin(stage, page, `Try it ${HOSTILE}`);
  await page.getByRole("button", { name: "Yes", exact: true }).click();
  await page.getByText("It failed.").waitFor();
  await page.getByRole("main").getByText("Idle").waitFor();
  await send(page, "Once more");
  await page.getByText("All good.").waitFor();
  await page.getByRole("main").getByText("Idle").waitFor();
  return threadId;
}

describe.runIf(hasBrowser)("the timeline in the console", () => {
  it("[CONSOLE-22] opens from each turn, has failures first, tokens, and says that no price is set", async () => {
    const stage = await consoleStage();
    const { page, faults } = await visit(stage.site);
    await workedThread(stage, page);
    const timeline = page.getByRole("region", { name: "Timeline" });
    await page.getByRole("link", { name: "Timeline of this turn" }).first().click();
    await timeline.getByText("no price is set for mock-model (usage.prices)").waitFor();
    const rows = timeline.getByRole("listitem");
    expect(await rows.first().textContent()).toMatch(/exit 3.*\(failed\).*Exit code 3\./);
    const labels = await rows.locator(".label").allTextContents();
    expect(labels.slice(1)).toEqual(["Model", "Approval of a command", "Model", "Answer"]);
    await rows.nth(1).getByText("mock-model · 100 tokens in (10 cached), 20 out").waitFor();
    await timeline.getByText("200 tokens in (20 cached), 40 out").waitFor();
    await timeline.getByRole("link", { name: "Turn after" }).click();
    await timeline.getByText("Exit code 3.").waitFor({ state: "detached" });
    await rows.nth(1).waitFor();
    await timeline.getByText("100 tokens in (10 cached), 20 out").first().waitFor();
    expect(await rows.locator(".label").allTextContents()).toEqual(["Model", "Answer"]);
    await page.goBack();
    await timeline.getByText("Exit code 3.").waitFor();
    await page.getByRole("button", { name: "Close the timeline" }).click();
    await timeline.waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-22] is live while a turn runs, and has costs where a price is set", async () => {
    const stage = await consoleStage();
    const client = await stage.host.join(undefined, { experimentalApi: true });
    const value = { input: 2, cached_input: 1, output: 10 };
    const keyPath = "usage.prices.mock-model";
    await client.call("config/value/write", { keyPath, value, mergeStrategy: "replace" });
    const { page, faults } = await visit(stage.site);
    const question = [
      {
        id: "q",
        header: "Which",
        question: "Which one?",
        options: [
          { label: "A", description: "a" },
          { label: "B", description: "b" },
        ],
      },
    ];
    stage.model.reply(callTool("request_user_input", { questions: question }), unfinished("Half"));
    await begin(stage, page, "Ask me");
    await choose(page, "Timeline");
    const timeline = page.getByRole("region", { name: "Timeline" });
    const rows = timeline.getByRole("listitem");
    await rows.filter({ hasText: "Question to the user (running)" }).waitFor();
    await timeline.getByText("running,").waitFor();
    await page.getByRole("radio", { name: "A" }).check();
    await page.getByRole("button", { name: "Answer" }).click();
    await rows.filter({ hasText: "Answer (running)" }).waitFor();
    await rows
      .filter({ hasText: "mock-model · 100 tokens in (10 cached), 20 out · $0.00039" })
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Interrupt" }).click();
    await timeline.getByText("interrupted,").waitFor();
    expect(await rows.filter({ hasText: "(running)" }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it.each(LOOKS)("[CONSOLE-24] fits %s", async (name, options) => {
    const stage = await consoleStage();
    const { page, faults } = await visit(stage.site, options);
    await workedThread(stage, page);
    await page.getByRole("link", { name: "Timeline of this turn" }).first().click();
    await page.getByText("Exit code 3.").waitFor();
    await look(page, `timeline-${name}`);
    expect(faults).toEqual([]);
  });
});

describe.runIf(hasBrowser)("the journal in the console", () => {
  it("[CONSOLE-23] shows records with their JSON and what was sent, filtered by type, text and turn, live", async () => {
    const stage = await consoleStage();
    const { page, faults } = await visit(stage.site);
    const threadId = await workedThread(stage, page);
    await choose(page, "Journal");
    await page.getByRole("heading", { name: "Journal" }).waitFor();
    const rows = page.getByRole("list", { name: "Records" }).getByRole("link");
    await rows.first().waitFor();
    const journal = await allRecords(stage, threadId);
    await page.getByText(`${journal.length} records`, { exact: true }).waitFor();
    expect(await rows.first().textContent()).toContain(`${journal[0]!.seq}.${journal[0]!.index + 1}`);
    // One type, then a group of them.
    await page.getByLabel("Type").selectOption("turnEnded");
    await page.getByText("2 records", { exact: true }).waitFor();
    await rows.first().click();
    const record = page.getByRole("region", { name: "Record", exact: true });
    const json = record.getByRole("region", { name: "Record as JSON" });
    await json.getByText('"type": "turnEnded"').waitFor();
    await record.getByText("turn/completed").click();
    const sent = record.getByRole("region", { name: "turn/completed" });
    expect(JSON.parse((await sent.textContent())!)).toMatchObject({
      threadId,
      turn: { status: "completed" },
    });
    await page.getByRole("button", { name: "Close the record" }).click();
    await record.waitFor({ state: "detached" });
    await page.getByLabel("Type").selectOption("group:Questions and permissions");
    const questions = journal.filter(({ type }) => /^(request|approvalGranted)/.test(type));
    await page.getByText(`${questions.length} records`, { exact: true }).waitFor();
    await page.getByLabel("Type").selectOption("");
    await page.getByRole("searchbox", { name: "Search records" }).fill("<SCRIPT>alert(2)");
    const hostile = journal.filter(({ json: text }) => text!.includes("<script>alert(2)"));
    await page.getByText(`${hostile.length} records`, { exact: true }).waitFor();
    // What is written meanwhile appears by itself.
    await page.getByRole("searchbox", { name: "Search records" }).fill("A new name");
    await page.getByText("0 records", { exact: true }).waitFor();
    const client = await stage.host.join(undefined, { experimentalApi: true });
    await client.call("thread/name/set", { threadId, name: "A new name" });
    await rows.filter({ hasText: "renamed" }).waitFor();
    // The records of one turn.
    await page.getByRole("link", { name: "Back to the conversation" }).click();
    await page.getByRole("link", { name: "Timeline of this turn" }).last().click();
    await page.getByRole("link", { name: "Records of this turn" }).click();
    const { turnId } = journal.find(({ type }) => type === "turnEnded")!;
    const ofTurn = journal.filter((one) => one.turnId === turnId);
    await page.getByText(`${ofTurn.length} records`, { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-23] shows what tool servers were sent when the thread was closed", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    const { client, threadId, host } = await rapStage([say("Seen.")], { servers: { desk } });
    await client.turn(threadId, "Look");
    await client.call("thread/unload", { threadId });
    await desk.next("/close_thread");
    const { page, faults } = await visit(`${await host.site()}/#/thread/${threadId}/journal`);
    await page.getByLabel("Type").selectOption("notified");
    await page.getByRole("list", { name: "Records" }).getByRole("link").first().click();
    const record = page.getByRole("region", { name: "Record", exact: true });
    await record.getByText("closeThread").click();
    await record.getByText("Notice to the tool servers desk").waitFor();
    const sent = await record.getByRole("region", { name: "closeThread" }).textContent();
    expect(JSON.parse(sent!)).toEqual({ thread_id: threadId });
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-23] reads a long journal only as far as somebody scrolls, and keeps only visible rows", async () => {
    const stage = await consoleStage();
    const client = await stage.host.join(undefined, { experimentalApi: true });
    const threadId = await client.startThread({ cwd: stage.cwd });
    const many = 400;
    for (let nth = 1; nth <= many; nth++)
      await client.call("thread/name/set", { threadId, name: `Name number ${nth}` });
    await client.call("thread/unload", { threadId });
    const { page, faults } = await visit(`${stage.site}/#/thread/${threadId}/journal`);
    const rows = page.getByRole("list", { name: "Records" }).getByRole("listitem");
    await page.getByText("100 records so far").waitFor();
    expect(await rows.count()).toBeLessThan(50);
    const records = page.getByRole("list", { name: "Records" });
    await eventually(async () => {
      await records.evaluate((list) => list.parentElement!.scrollTo(0, 1e9));
      return (await rows.filter({ hasText: "created" }).count()) > 0;
    }, "the first record is shown");
    expect(await rows.count()).toBeLessThan(50);
    expect((await client.call("thread/loaded/list")).data).toEqual([]);
    expect(faults).toEqual([]);
  });

  it.each(LOOKS)("[CONSOLE-24] fits %s", async (name, options) => {
    const stage = await consoleStage();
    const { page, faults } = await visit(stage.site, options);
    const threadId = await workedThread(stage, page);
    await page.goto(`${stage.site}/#/thread/${threadId}/journal`);
    const rows = page.getByRole("list", { name: "Records" }).getByRole("link");
    await rows.first().waitFor();
    await look(page, `journal-${name}`);
    await rows.filter({ hasText: "itemCompleted" }).last().click();
    await page.getByText("Sent because of it").waitFor();
    await page.getByRole("region", { name: "Record as JSON" }).waitFor();
    await look(page, `record-${name}`);
    expect(faults).toEqual([]);
  });
});

interface Shown {
  readonly seq: number;
  readonly index: number;
  readonly type: string;
  readonly turnId: string | null;
  readonly json: string | null;
}

async function allRecords({ host }: ConsoleStage, threadId: string): Promise<Shown[]> {
  const client = await host.join(undefined, { experimentalApi: true });
  return (await client.call("thread/journal/read", { threadId, limit: 500, includeJson: true })).data;
}
