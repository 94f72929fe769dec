// Sections of the console between several people, and the order of threads in them.
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { accessibilityFaults, hasBrowser, visit } from "../support/browser.ts";
import { type ConsoleStage, consoleStage, openWithoutStorage } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { reads } from "../support/thread-outline.ts";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** Takes a picture for people to look at, if BOBBIN_LOOK names a folder. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.BOBBIN_LOOK;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** Starts a host with these threads, the last one the most recent. */
async function stageWith(...titles: readonly string[]): Promise<ConsoleStage> {
  const stage = await consoleStage();
  const client = await stage.host.join(undefined, { experimentalApi: true });
  for (const title of titles) await client.turn(await client.startThread(), title);
  return stage;
}

/** Opens the dialog that moves a thread. */
async function openMove(page: Page, title: string): Promise<void> {
  await page.getByRole("button", { name: `Move ${title} to a section` }).click();
}

describe.runIf(hasBrowser)("sections between people", () => {
  it("[CONSOLE-41] show what others create, rename, fill and delete, without a reload", async () => {
    const { site } = await stageWith("First", "Second", "Third");
    const { page, faults } = await visit(site);
    const other = await visit(site);
    const bothRead = async (...expected: readonly string[]) => {
      for (const each of [page, other.page]) await reads(each, expected);
    };
    await bothRead("Third", "Second", "First");
    const dialog = page.getByRole("dialog");
    await openMove(page, "Second");
    await dialog.getByRole("textbox", { name: "To a new section" }).fill("<img src=x onerror=window.ran=1>");
    await dialog.getByRole("button", { name: "Create and move" }).click();
    const hostile = "[<img src=x onerror=window.ran=1>]";
    await bothRead(hostile, "Second", "[Other threads]", "Third", "First");
    // The other person goes on with it.
    const others = other.page.getByRole("dialog");
    await openMove(other.page, "First");
    await others.getByRole("button", { name: "<img" }).click();
    await bothRead(hostile, "Second", "First", "[Other threads]", "Third");
    await other.page.getByRole("button", { name: "Section <img" }).click();
    await others.getByRole("textbox", { name: "Name" }).fill("Work");
    await others.getByRole("button", { name: "Rename" }).click();
    await bothRead("[Work]", "Second", "First", "[Other threads]", "Third");
    await openMove(other.page, "Third");
    await others.getByRole("button", { name: "Pin", exact: true }).click();
    await bothRead("[Pinned]", "Third", "[Work]", "Second", "First", "[Other threads]");
    await openMove(page, "Second");
    await dialog.getByRole("button", { name: "No section" }).click();
    await bothRead("[Pinned]", "Third", "[Work]", "First", "[Other threads]", "Second");
    await page.getByRole("button", { name: "Section Work" }).click();
    await dialog.getByRole("button", { name: "Delete the section" }).click();
    await bothRead("[Pinned]", "Third", "[Other threads]", "Second", "First");
    expect(await other.page.evaluate("window.ran")).toBeUndefined();
    expect([...faults, ...other.faults]).toEqual([]);
  });

  it("[CONSOLE-42] order their threads by keys and by a dialog, for everyone", async () => {
    const { site, host } = await stageWith("One", "Two", "Three");
    const client = await host.join(undefined, { experimentalApi: true });
    const { section } = await client.call("threadSection/create", { name: "Work" });
    const { data } = await client.call("thread/list", { sortKey: "created_at", sortDirection: "asc" });
    for (const { id } of data)
      await client.call("thread/section/move", { threadId: id, sectionId: section.id });
    const { page, faults } = await visit(site);
    const other = await visit(site);
    const bothRead = async (...titles: readonly string[]) => {
      for (const each of [page, other.page]) await reads(each, ["[Work]", ...titles, "[Other threads]"]);
    };
    await bothRead("One", "Two", "Three");
    const row = (title: string) => page.getByRole("link", { name: title });
    const isFocused = (title: string) =>
      eventually(
        async () => String(await page.evaluate("document.activeElement.textContent")).includes(title),
        `${title} has the focus`,
      );
    await row("Three").focus();
    await page.keyboard.press("Alt+ArrowUp");
    await bothRead("One", "Three", "Two");
    await isFocused("Three");
    await page.keyboard.press("Alt+ArrowUp");
    await bothRead("Three", "One", "Two");
    await isFocused("Three");
    // It is the first one already.
    await page.keyboard.press("Alt+ArrowUp");
    await page.keyboard.press("Alt+ArrowDown");
    await bothRead("One", "Three", "Two");
    await openMove(other.page, "Three");
    const dialog = other.page.getByRole("dialog");
    await dialog.getByRole("group", { name: "Place in Work: 2 of 3" }).waitFor();
    expect(await accessibilityFaults(other.page)).toEqual([]);
    await look(other.page, "sections-place");
    await dialog.getByRole("button", { name: "Move down" }).click();
    await bothRead("One", "Two", "Three");
    await dialog.getByRole("group", { name: "Place in Work: 3 of 3" }).waitFor();
    expect(await dialog.getByRole("button", { name: "Move down" }).isDisabled()).toBe(true);
    await dialog.getByRole("button", { name: "Move up" }).click();
    await dialog.getByRole("group", { name: "Place in Work: 2 of 3" }).waitFor();
    await dialog.getByRole("button", { name: "Move up" }).click();
    await bothRead("Three", "One", "Two");
    expect([...faults, ...other.faults]).toEqual([]);
  });

  it("[CONSOLE-42] fit a phone in the dark", async () => {
    const title = "Write the release notes of 2.4, with every change since spring";
    const { site } = await stageWith(title);
    const { page, faults } = await visit(site, { ...PHONE, colorScheme: "dark" as const });
    await openMove(page, title);
    await page.getByRole("dialog").getByRole("button", { name: "Pin", exact: true }).click();
    await reads(page, ["[Pinned]", title, "[Other threads]"]);
    await openMove(page, title);
    await page.getByRole("dialog").getByRole("group", { name: "Place in Pinned: 1 of 1" }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await look(page, "sections-place-phone-dark");
    expect(faults).toEqual([]);
  });

  it("fold in a browser that blocks storage, too", async () => {
    const { site } = await stageWith("First", "Second");
    const { page, faults } = await visit(site);
    await openWithoutStorage(page, site);
    await openMove(page, "First");
    await page.getByRole("dialog").getByRole("button", { name: "Pin", exact: true }).click();
    await reads(page, ["[Pinned]", "First", "[Other threads]", "Second"]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Pinned", exact: true }).click();
    await reads(page, ["[Pinned]", "[Other threads]", "Second"]);
    expect(faults).toEqual([]);
  });
});
