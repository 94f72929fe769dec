// The console with the keyboard alone.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { hasBrowser, visit } from "../support/browser.ts";
import { consoleStage, message } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";

/** Waits until the element that has the focus has this name. */
async function focused(page: Page, name: string): Promise<void> {
  const current =
    "(({ ariaLabel, id, textContent }) => ariaLabel ?? (id || textContent))(document.activeElement ?? document.body)";
  let seen: unknown;
  await eventually(async () => {
    seen = await page.evaluate(current);
    return String(seen).startsWith(name);
  }, `the focus is at ${name}`).catch((cause: Error) => {
    throw new Error(`${cause.message}; it is at ${String(seen)}`);
  });
}

describe.runIf(hasBrowser)("the keyboard in the console", () => {
  it("[CONSOLE-49] goes to the search, begins a thread, and moves through the list and the menu", async () => {
    const stage = await consoleStage();
    const client = await stage.host.join(undefined, { experimentalApi: true });
    const ids: string[] = [];
    for (const name of ["First", "Second", "Third"]) {
      const threadId = await client.startThread({ cwd: stage.cwd });
      ids.unshift(threadId);
      await client.turn(threadId, name);
    }
    const { page, faults } = await visit(`${stage.site}/#/thread/${ids[0]}`);
    await page.getByRole("main").getByText("Idle").waitFor();
    const row = (name: string) => page.getByRole("navigation").getByRole("link", { name });
    await row("Third").waitFor();
    // The search. In a field, and with Ctrl, the keys are not shortcuts.
    await page.keyboard.press("Control+/");
    await page.keyboard.press("/");
    await focused(page, "Search threads");
    await page.keyboard.type("/n");
    const search = page.getByRole("searchbox", { name: "Search threads" });
    expect(await search.inputValue()).toBe("/n");
    await search.fill("");
    await row("Third").waitFor();
    expect(page.url()).toContain(ids[0]);
    // The list, most recent first.
    await row("Third").focus();
    await page.keyboard.press("ArrowDown");
    await focused(page, "Second");
    await page.keyboard.press("ArrowDown");
    await focused(page, "First");
    await page.keyboard.press("ArrowDown");
    await focused(page, "First");
    await page.keyboard.press("ArrowUp");
    await focused(page, "Second");
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(ids[1]!));
    await page.getByRole("heading", { name: "Second", level: 1 }).waitFor();
    // The menu of the thread: its ends are neighbours, and Escape leads back to its button.
    const menu = page.getByRole("menu", { name: "Thread" });
    const entries = menu.getByRole("menuitem");
    await page.getByRole("button", { name: "More" }).focus();
    await page.keyboard.press("Enter");
    await focused(page, "Rename …");
    await page.keyboard.press("ArrowDown");
    await focused(page, "Goal …");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await focused(page, (await entries.last().textContent())!);
    await page.keyboard.press("ArrowDown");
    await focused(page, "Rename …");
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "detached" });
    await focused(page, "More");
    // A new thread.
    await page.keyboard.press("n");
    await page.waitForURL(/#\/new$/);
    await focused(page, "Message …");
    expect(await message(page).inputValue()).toBe("");
    expect(faults).toEqual([]);
  });
});
