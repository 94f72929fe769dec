// What a person does in the field for the first message of a thread, on the page that starts one.
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { accessibilityFaults, hasBrowser, visit } from "../support/browser.ts";
import { consoleStage, message, send } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

/** Takes a picture for people to look at, if BOBBIN_LOOK names a folder. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.BOBBIN_LOOK;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

async function writeSkill(root: string, name: string): Promise<void> {
  const folder = join(root, ".agents", "skills", name);
  await mkdir(folder, { recursive: true });
  const head = `---\nname: ${name}\ndescription: About ${name}\n---`;
  await writeFile(join(folder, "SKILL.md"), `${head}\nDo ${name}.`);
}

describe.runIf(hasBrowser)("the field for the first message of a thread", () => {
  it("[CONSOLE-40] finds files of the folder that is chosen, and of the host's own folder without one", async () => {
    const stage = await consoleStage();
    const other = await realpath(await freshFolder());
    await writeFile(join(stage.cwd, "own-quince.txt"), "");
    await mkdir(join(stage.cwd, "below"));
    await writeFile(join(stage.cwd, "below", "deep-quince.txt"), "");
    await writeFile(join(other, "other-quince.txt"), "");
    const { page, faults } = await visit(`${stage.site}/#/new`);
    const field = message(page);
    const options = page.getByRole("listbox", { name: "Files" }).getByRole("option");
    const found = async (names: readonly string[]) => {
      await field.pressSequentially("@quince");
      const shown = async () => (await options.allTextContents()).sort().join();
      await eventually(async () => (await shown()) === names.join(), `${names.join()} are found`);
    };
    await found(["below/deep-quince.txt", "own-quince.txt"]);
    await look(page, "new-files");
    await options.filter({ hasText: "own-quince" }).click();
    await field.pressSequentially("and ");
    // A folder that is typed counts from the host's own.
    await page.getByPlaceholder("The host’s own folder").fill("below");
    await found(["deep-quince.txt"]);
    await field.press("Enter");
    await field.pressSequentially("and ");
    await page.getByPlaceholder("The host’s own folder").fill(other);
    await found(["other-quince.txt"]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await field.press("Enter");
    await field.press("Enter");
    await page.waitForURL(/#\/thread\//);
    await page.getByText("Ready.").waitFor();
    const { input } = stage.model.asked.at(-1)!.body;
    const { content } = input.findLast(({ role }: { role?: string }) => role === "user");
    expect(content.map(({ text }: { text?: string }) => text)).toEqual([
      "@own-quince.txt and @deep-quince.txt and @other-quince.txt ",
      `[own-quince.txt](${join(stage.cwd, "own-quince.txt")})`,
      `[deep-quince.txt](${join(stage.cwd, "below", "deep-quince.txt")})`,
      `[other-quince.txt](${join(other, "other-quince.txt")})`,
    ]);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-40] lists the skills of that folder behind /, and no command that is about a thread", async () => {
    const stage = await consoleStage();
    const other = await realpath(await freshFolder());
    await writeSkill(stage.cwd, "deploy");
    await writeSkill(other, "paint");
    const { page, faults } = await visit(`${stage.site}/#/new`);
    const field = message(page);
    const options = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
    const names = async () => (await options.locator(".path").allTextContents()).join();
    await field.press("/");
    await eventually(async () => (await names()).includes("/deploy"), "the skill is listed");
    expect(await names()).not.toMatch(/compact|rename|unload|paint/);
    await look(page, "new-skills");
    await field.fill("");
    await page.getByPlaceholder("The host’s own folder").fill(other);
    await field.press("/");
    await eventually(
      async () => (await names()).includes("/paint"),
      "the skill of the other folder is listed",
    );
    expect(await names()).not.toContain("/deploy");
    expect(await accessibilityFaults(page)).toEqual([]);
    for (const [text, refusal] of [
      ["/compact", "/compact is for a thread that has begun."],
      ["/frobnicate it", "There is no command /frobnicate."],
    ] as const) {
      await send(page, text);
      await page.getByRole("alert").getByText(refusal).waitFor();
      await eventually(async () => (await field.inputValue()) === text, "the text stays");
    }
    expect(stage.model.asked.length).toBe(0);
    await field.fill("/pai");
    await options.filter({ hasText: "/paint" }).waitFor();
    await field.press("Enter");
    await eventually(async () => (await field.inputValue()) === "/paint ", "the skill is completed");
    await field.pressSequentially("the fence");
    await field.press("Enter");
    await page.waitForURL(/#\/thread\//);
    await page.getByRole("article", { name: "Your message" }).getByText("/paint", { exact: true }).waitFor();
    await eventually(() => stage.model.asked.length > 0, "the model is asked");
    expect(JSON.stringify(stage.model.asked[0]!.body.input)).toContain("Do paint.");
    expect(faults).toEqual([]);
  });

  it.each([
    ["desktop", {}],
    ["phone-dark", { ...PHONE, colorScheme: "dark" as const }],
  ])("[CONSOLE-40] shows its lists where they can be seen, on %s", async (name, options) => {
    const stage = await consoleStage();
    await writeFile(join(stage.cwd, "in-sight.txt"), "");
    await writeSkill(stage.cwd, "sightseeing");
    const { page, faults } = await visit(`${stage.site}/#/new`, options);
    for (const [text, list] of [
      ["@in-sight", "Files"],
      ["/sight", "Commands"],
    ] as const) {
      await message(page).fill(text);
      const option = page.getByRole("listbox", { name: list }).getByRole("option").first();
      await option.waitFor();
      const isInSight = `document.querySelector(".suggestions").getBoundingClientRect().top >= 0 &&
        document.querySelector(".suggestions").getBoundingClientRect().bottom <= innerHeight`;
      expect(await page.evaluate(isInSight), list).toBe(true);
      expect(await accessibilityFaults(page), list).toEqual([]);
      await look(page, `new-${name}-${list}`);
    }
    expect(faults).toEqual([]);
  });
});
