// The console with long and foreign texts, tall questions, and messages about what went wrong.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { accessibilityFaults, hasBrowser, visit } from "../support/browser.ts";
import { begin, consoleStage, message, send, unfinished } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { callTool, escalated, say } from "../support/model-replies.ts";

const WORD = "a_word_that_never_ends_".repeat(20);
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

const QUESTIONS = {
  questions: ["Drink", "Size", "Place"].map((header) => ({
    id: header.toLowerCase(),
    header,
    question: `Which ${header}?`,
    options: [
      { label: "The first", description: WORD },
      { label: "The second", description: "Short" },
    ],
  })),
};

const PLAN = {
  plan: [
    { step: WORD, status: "in_progress" },
    { step: "Rest", status: "pending" },
  ],
};

/** Checks that the title and the button that ends the turn are in sight, and that nothing makes the page wider. */
async function expectInSight(page: Page): Promise<void> {
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
  for (const part of [page.getByRole("heading", { level: 1 }).last(), interrupt(page)])
    expect(await isInSight(page, part)).toBe(true);
}

function interrupt(page: Page): Locator {
  return page.getByRole("button", { name: "Interrupt" });
}

async function isInSight(page: Page, part: Locator): Promise<boolean> {
  const { width, height } = page.viewportSize()!;
  const box = (await part.boundingBox())!;
  return box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
}

describe.runIf(hasBrowser)("long texts in the console", () => {
  it.each([
    ["a desktop", {}],
    ["a phone", PHONE],
    ["a phone on its side", { ...PHONE, viewport: { width: 844, height: 390 } }],
  ])("[CONSOLE-12] leave the message field and the title in sight on %s", async (_name, options) => {
    const stage = await consoleStage();
    const { page, faults } = await visit(stage.site, options);
    stage.model.reply(escalated(`echo ${WORD}`, { justification: WORD }));
    await begin(stage, page, "Run it");
    await page.getByRole("region", { name: "Run this command?" }).waitFor();
    await expectInSight(page);
    expect(await accessibilityFaults(page)).toEqual([]);
    stage.model.reply(callTool("request_user_input", QUESTIONS));
    await begin(stage, page, "Ask me");
    await page.getByText("Which Place?").waitFor();
    await expectInSight(page);
    await page.getByRole("button", { name: "Answer" }).scrollIntoViewIfNeeded();
    expect(await isInSight(page, page.getByRole("button", { name: "Answer" }))).toBe(true);
    stage.model.reply(callTool("update_plan", PLAN), unfinished("Half"));
    await begin(stage, page, "Plan it");
    await page.getByText("Half").waitFor();
    const plan = (await page.getByRole("group", { name: "Plan" }).boundingBox())!;
    const step = (await page.getByRole("group", { name: "Plan" }).getByText(WORD).boundingBox())!;
    expect(step.width).toBeLessThan(plan.width);
    for (const nth of [1, 2, 3, 4, 5, 6]) {
      await message(page).fill(`${nth}: ${"words ".repeat(60)}`);
      await message(page).press("Alt+Enter");
      await page.getByText(`${nth}: words`).waitFor();
    }
    await expectInSight(page);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-12] are shown in the direction in which they are read", async () => {
    const stage = await consoleStage();
    stage.model.reply(say("مرحبا بالعالم!\n\n- البند الأول\n\nHello, world!"));
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "اكتب شيئا!");
    await page.getByText("Hello, world!").waitFor();
    const directionOf = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).direction`);
    expect(await directionOf(".user p")).toBe("rtl");
    expect(await directionOf(".agent p")).toBe("rtl");
    expect(await directionOf(".agent li")).toBe("rtl");
    expect(await directionOf(".agent p:last-of-type")).toBe("ltr");
    await message(page).fill("مرحبا");
    expect(await directionOf(".composer textarea")).toBe("rtl");
    expect(faults).toEqual([]);
  });
});

describe.runIf(hasBrowser)("a command's output in the console", () => {
  it("[CONSOLE-12] has its newest lines in sight while it grows", async () => {
    const stage = await consoleStage();
    const end = join(stage.cwd, "end");
    stage.model.reply(escalated(`seq 1 200; until test -e '${end}'; do sleep 0.1; done`), say("Over."));
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "Count");
    await page.getByRole("button", { name: "Yes", exact: true }).click();
    await page.getByText("200", { exact: false }).first().waitFor();
    const isAtEnd =
      "(({ scrollTop, scrollHeight, clientHeight }) => scrollTop > 0 && scrollHeight - scrollTop - clientHeight < 5)";
    await eventually(
      async () => (await page.evaluate(`${isAtEnd}(document.querySelector(".terminal"))`)) === true,
      "the last line is in sight",
    );
    await writeFile(end, "");
    await page.getByText("Over.").waitFor();
    expect(faults).toEqual([]);
  });
});

describe.runIf(hasBrowser)("an unsent message in the console", () => {
  it("[CONSOLE-2] stays in the field of its thread until it is sent", async () => {
    const stage = await consoleStage();
    const { page, faults } = await visit(`${stage.site}/#/new`);
    await message(page).fill("Not yet");
    await page.getByRole("link", { name: "Host" }).click();
    await page.getByRole("heading", { name: "Host", exact: true }).waitFor();
    await page.getByRole("link", { name: "New", exact: true }).click();
    await eventually(
      async () => (await message(page).inputValue()) === "Not yet",
      "the text is in the field again",
    );
    await message(page).press("Enter");
    await page.getByText("Ready.").waitFor();
    await message(page).fill("For later");
    const address = page.url();
    await page.getByRole("link", { name: "New", exact: true }).click();
    await eventually(async () => (await message(page).inputValue()) === "", "the field is empty");
    await page.goto(address);
    await page.reload();
    await page.getByText("Ready.").waitFor();
    expect(await message(page).inputValue()).toBe("For later");
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-13] still mentions the files that were chosen when the page is loaded again", async () => {
    const stage = await consoleStage();
    await writeFile(join(stage.cwd, "marmalade.ts"), "export {};");
    const { page, faults } = await visit(`${stage.site}/#/new`);
    await message(page).pressSequentially("Look at @marma");
    await page.getByRole("option", { name: "marmalade.ts" }).click();
    await eventually(
      async () => (await message(page).inputValue()) === "Look at @marmalade.ts ",
      "the file is mentioned",
    );
    await page.reload();
    await message(page).press("Enter");
    const sent = page.getByRole("article", { name: "Your message" });
    await sent.locator(".mention", { hasText: "@marmalade.ts" }).waitFor();
    await page.getByText("Ready.").waitFor();
    expect(JSON.stringify(stage.model.asked.at(-1)!.body.input)).toContain(
      `[marmalade.ts](${join(stage.cwd, "marmalade.ts")})`,
    );
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-2] is sent as usual if the browser blocks storage", async () => {
    const stage = await consoleStage();
    const { page, faults } = await visit(`${stage.site}/#/new`);
    await page.addInitScript(
      'Object.defineProperty(window, "sessionStorage", { get() { throw new Error("Blocked"); } })',
    );
    await page.reload();
    await send(page, "Hello");
    await page.getByText("Ready.").waitFor();
    expect(faults).toEqual([]);
  });
});

describe.runIf(hasBrowser)("a refusal in the console", () => {
  it("[CONSOLE-14] does not cover the message that it is about", async () => {
    const stage = await consoleStage();
    const { page } = await visit(stage.site, PHONE);
    await begin(stage, page, "Begin");
    await page.getByText("Ready.").waitFor();
    await send(page, "/nonsense");
    const refusal = (await page.getByRole("alert").boundingBox())!;
    const field = (await message(page).boundingBox())!;
    expect(refusal.y + refusal.height).toBeLessThan(field.y);
  });

  it("[CONSOLE-2] names a folder that is not there, and starts no thread in it", async () => {
    const stage = await consoleStage();
    const { page } = await visit(`${stage.site}/#/new`);
    const refused = async (folder: string, text: string) => {
      await page.getByPlaceholder("own folder").fill(folder);
      await send(page, "Hello");
      await page.getByRole("alert").getByText(text).waitFor();
      expect(await message(page).inputValue()).toBe("Hello");
    };
    const missing = join(stage.cwd, "nowhere");
    await refused(missing, `There is no folder ${missing}`);
    await refused("~/shop", "Write the whole path");
    await writeFile(join(stage.cwd, "file"), "");
    await refused(join(stage.cwd, "file"), "is not a folder");
    await page.getByPlaceholder("own folder").fill(stage.cwd);
    await message(page).press("Enter");
    await page.getByText("Ready.").waitFor();
    expect(await page.getByRole("navigation").locator("li").count()).toBe(1);
  });

  it("[CONSOLE-2] says that an address names no thread, and offers no message field there", async () => {
    const stage = await consoleStage();
    const { page } = await visit(`${stage.site}/#/thread/01a1e99c-0000-7000-8000-000000000000`);
    await page.getByText("This host has no thread with the ID in the address.").waitFor();
    expect(await message(page).count()).toBe(0);
  });
});

describe.runIf(hasBrowser)("threads in the console", () => {
  it("[CONSOLE-7] are listed by status with the most recent first", async () => {
    const stage = await consoleStage();
    const client = await stage.host.join(undefined, { experimentalApi: true });
    for (const text of ["One", "Two", "Three"]) {
      await client.turn(await client.startThread({ cwd: stage.cwd }), text);
    }
    const { page } = await visit(stage.site);
    const list = page.getByRole("navigation");
    await list.getByLabel("Status").selectOption("loaded");
    await list.getByText("1 client follows it").nth(2).waitFor();
    expect(await list.locator(".row-title").allTextContents()).toEqual(["Three", "Two", "One"]);
  });

  it("[CONSOLE-2] show their tokens again when the page is loaded anew", async () => {
    const stage = await consoleStage();
    const { page } = await visit(stage.site);
    await begin(stage, page, "Count the tokens");
    await page.getByText("120 tokens").waitFor();
    await page.reload();
    await page.getByText("120 tokens").waitFor();
  });
});
