// What a person does in the field for the next message, and with the turns of a thread.
import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { accessibilityFaults, hasBrowser, visit } from "../support/browser.ts";
import {
  begin,
  type ConsoleStage,
  consoleStage,
  message,
  send,
  unfinished,
} from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { filesBelow, freshFolder } from "../support/folder.ts";
import { responses, stream } from "../support/mock-model.ts";
import { patchFiles, say } from "../support/model-replies.ts";
import { DOT_PNG } from "../support/picture.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (hasBrowser) stage = await consoleStage();
});

/** The parts of the last message that the model was given. */
function lastInput(): { readonly type: string; readonly text?: string; readonly image_url?: string }[] {
  const { input } = stage.model.asked.at(-1)!.body;
  return input.findLast(({ role }: { role?: string }) => role === "user").content;
}

/** Waits until so many turns were answered with this text, and none runs. */
async function answered(page: Page, text: string, times = 1): Promise<void> {
  const main = page.getByRole("main");
  await eventually(async () => (await main.getByText(text).count()) === times, `it is answered: ${text}`);
  await main.getByText("Idle").waitFor();
}

/** Takes a picture for people to look at, if BOBBIN_LOOK names a folder. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.BOBBIN_LOOK;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

describe.runIf(hasBrowser)("the field for a message", () => {
  it("[CONSOLE-13] finds files of the thread's folder behind @, and sends those that were chosen", async () => {
    const hostile = "<img src=x onerror=window.ran=1> marmalade.md";
    await mkdir(join(stage.cwd, "src"));
    await writeFile(join(stage.cwd, "src", "marmalade.ts"), "export {};");
    await writeFile(join(stage.cwd, "src", "toast.ts"), "export {};");
    await writeFile(join(stage.cwd, hostile), "");
    stage.model.reply(say("Looked."));
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "Hello");
    await answered(page, "Looked.");
    const field = message(page);
    const options = page.getByRole("listbox", { name: "Files" }).getByRole("option");
    const active = async () => {
      const id = await field.getAttribute("aria-activedescendant");
      return id === null ? null : page.locator(`[id="${id}"]`).textContent();
    };
    const asked = stage.model.asked.length;
    await field.pressSequentially("Look at @");
    await page.getByText("Type a part of a file’s name.").waitFor();
    await field.pressSequentially("marma");
    await eventually(
      async () => (await options.count()) === 2 && (await active()) === "src/marmalade.ts",
      "both files are found, the better match first",
    );
    expect(await field.getAttribute("aria-controls")).toBe("file-suggestions");
    expect(await accessibilityFaults(page)).toEqual([]);
    await look(page, "mentions");
    await field.press("ArrowDown");
    await eventually(async () => (await active()) === hostile, "the second one is active");
    await field.press("ArrowUp");
    await eventually(async () => (await active()) === "src/marmalade.ts", "the first one is active");
    await field.press("Enter");
    await eventually(async () => (await options.count()) === 0, "the list is closed");
    expect(await field.inputValue()).toBe("Look at @src/marmalade.ts ");
    await eventually(async () => (await active()) === null, "no option is active");
    await field.pressSequentially("and @toast");
    await options.filter({ hasText: "toast.ts" }).first().click();
    await field.pressSequentially("and @marma");
    await options.filter({ hasText: "onerror" }).click();
    // An escaped one is text.
    await field.pressSequentially("not @src");
    await options.first().waitFor();
    await field.press("Escape");
    await eventually(async () => (await options.count()) === 0, "Escape closes the list");
    await field.press("Enter");
    const sent = page.getByRole("article", { name: "Your message" }).last();
    await sent.getByText("@src/marmalade.ts", { exact: true }).waitFor();
    expect(await sent.locator(".mention").allTextContents()).toEqual([
      "@src/marmalade.ts",
      "@src/toast.ts",
      `@"${hostile}"`,
    ]);
    await eventually(() => stage.model.asked.length === asked + 1, "the model is asked");
    expect(lastInput().map(({ text }) => text)).toEqual([
      `Look at @src/marmalade.ts and @src/toast.ts and @"${hostile}" not @src`,
      `[src/marmalade.ts](${join(stage.cwd, "src/marmalade.ts")})`,
      `[src/toast.ts](${join(stage.cwd, "src/toast.ts")})`,
      `[${hostile}](${join(stage.cwd, hostile)})`,
    ]);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-14] lists commands and skills behind /, runs them, and refuses unknown ones", async () => {
    const folder = join(stage.cwd, ".agents", "skills", "deploy");
    await mkdir(folder, { recursive: true });
    const about = "Ships it <img src=x onerror=window.ran=1>";
    await writeFile(
      join(folder, "SKILL.md"),
      `---\nname: deploy\ndescription: "${about}"\n---\nUse the big ship.`,
    );
    stage.model.reply(say("Done."));
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "Hello again");
    await answered(page, "Done.");
    const field = message(page);
    const options = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
    await field.press("/");
    await options.filter({ hasText: "Ships it" }).waitFor();
    expect(await options.allTextContents()).toEqual(
      expect.arrayContaining([
        "/compactSummarizes the conversation, so that the model reads less",
        "/rename [name]Gives the thread a name",
        `/deploy${about}`,
      ]),
    );
    expect(await accessibilityFaults(page)).toEqual([]);
    await look(page, "commands");
    // A command with arguments is completed, and waits for them.
    await field.pressSequentially("ren");
    await options.filter({ hasText: "/rename" }).and(page.locator("[aria-selected=true]")).waitFor();
    await field.press("Enter");
    await eventually(async () => (await field.inputValue()) === "/rename ", "it is completed");
    await field.pressSequentially("A better name");
    await field.press("Enter");
    await page.getByRole("heading", { name: "A better name", level: 1 }).waitFor();
    expect(await field.inputValue()).toBe("");
    // Without them, a dialog asks.
    await field.fill("/rename ");
    await field.press("Enter");
    await page.getByRole("dialog", { name: "Rename the thread" }).getByLabel("Name").fill("The best name");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { name: "The best name", level: 1 }).waitFor();
    // A command without arguments runs at once.
    await field.fill("/wh");
    await options.filter({ hasText: "/why" }).click();
    await page.getByText("Loaded: 1 client follows it.").waitFor();
    await eventually(async () => (await field.inputValue()) === "", "the field is empty");
    const asked = stage.model.asked.length;
    await field.fill("/frobnicate the thing");
    await field.press("Enter");
    await page.getByRole("alert").getByText("There is no command /frobnicate.").waitFor();
    await eventually(async () => (await field.inputValue()) === "/frobnicate the thing", "the text stays");
    await field.fill("/unload now");
    await field.press("Enter");
    await page.getByRole("alert").getByText("/unload takes nothing behind its name.").waitFor();
    expect(stage.model.asked.length).toBe(asked);
    await field.fill("/deploy to the island");
    await field.press("Enter");
    await page.getByRole("article", { name: "Your message" }).getByText("/deploy", { exact: true }).waitFor();
    await eventually(() => stage.model.asked.length === asked + 1, "the model is asked");
    const [text, skill] = lastInput();
    expect(text!.text).toBe("/deploy to the island");
    expect(skill!.text).toContain("Use the big ship.");
    await answered(page, "Done.", 2);
    // A path is no command.
    await field.fill("/etc/hosts is a file");
    await field.press("Enter");
    await eventually(() => lastInput()[0]!.text === "/etc/hosts is a file", "the path is sent");
    await answered(page, "Done.", 3);
    await field.fill("/compact");
    await field.press("Enter");
    await page.getByText("The conversation was summarized").waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(faults).toEqual([]);
  });
});

/** Chooses an entry of the thread's menu. */
async function choose(page: Page, item: string): Promise<void> {
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

describe.runIf(hasBrowser)("the goal of a thread", () => {
  it("[CONSOLE-15] is shown with its state and budget, set, paused, resumed and cleared", async () => {
    const { page, faults } = await visit(stage.site);
    stage.model.reply(say("Ready."));
    await begin(stage, page, "Let us begin");
    await answered(page, "Ready.");
    stage.model.reply(say("Step one."), unfinished("Step two"));
    const objective = "All tests pass <img src=x onerror=window.ran=1>";
    await choose(page, "Goal …");
    const dialog = page.getByRole("dialog", { name: "Goal of the thread" });
    await dialog.getByLabel("Goal", { exact: true }).fill(objective);
    await dialog.getByLabel("Budget in tokens").fill("200000");
    expect(await accessibilityFaults(page)).toEqual([]);
    await look(page, "goal-dialog");
    await dialog.getByRole("button", { name: "Set the goal" }).click();
    const goal = page.getByRole("region", { name: "Goal" });
    await goal.getByText(objective).waitFor();
    // The first turn for the goal has ended, and the second one runs.
    await page.getByText("Step two").waitFor();
    await goal.getByText(/^110 of 200k tokens/).waitFor();
    await goal.getByText("Active").waitFor();
    expect(await goal.getByRole("progressbar").getAttribute("value")).toBe("110");
    expect(await accessibilityFaults(page)).toEqual([]);
    await look(page, "goal");
    await goal.getByRole("button", { name: "Pause" }).click();
    await goal.getByText("Paused").waitFor();
    await page.getByRole("button", { name: "Interrupt" }).click();
    await page.getByText("Interrupted").waitFor();
    await choose(page, "Unload");
    await page.getByText("Unloaded: its tools").waitFor();
    // A thread that is not loaded has it too, and looking at it does not load the thread.
    await page.reload();
    await goal.getByText(objective).waitFor();
    await page.getByRole("main").getByText("Not loaded").waitFor();
    await goal.getByRole("button", { name: "Resume" }).click();
    await goal.getByText("Active").waitFor();
    await page.getByRole("button", { name: "Interrupt" }).click();
    await page.getByRole("main").getByText("Idle").waitFor();
    await message(page).fill("/goal pause");
    await message(page).press("Enter");
    await goal.getByText("Paused").waitFor();
    await message(page).fill("/goal All is documented");
    await message(page).press("Enter");
    await goal.getByText("All is documented").waitFor();
    await goal.getByRole("button", { name: "Clear" }).click();
    await eventually(async () => (await goal.count()) === 0, "the goal is gone");
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(faults).toEqual([]);
  });
});

describe.runIf(hasBrowser)("the turns of a thread", () => {
  it("[CONSOLE-16] are undone with their files, after a dialog that names them", async () => {
    const cwd = await realpath(await freshFolder());
    const text = (path: string) => readFile(join(cwd, path), "utf8");
    await writeFile(join(cwd, "a.txt"), "one\ntwo\n");
    await writeFile(join(cwd, "b.txt"), "b\n");
    const client = await stage.host.join(undefined, { experimentalApi: true });
    const threadId = await client.startThread({
      cwd,
      sandbox: "danger-full-access",
      approvalPolicy: "never",
    });
    stage.model.reply(
      patchFiles("call_1", "*** Update File: a.txt", "@@", "-one", "+1", "*** Add File: new.txt", "+x"),
      say("Changed."),
      patchFiles("call_2", "*** Update File: a.txt", "@@", "-two", "+2", "*** Delete File: b.txt"),
      say("Changed again."),
      say("Hello."),
    );
    await client.turn(threadId, "Change it");
    await client.turn(threadId, "Change it again");
    await client.turn(threadId, "Say hello");
    await writeFile(join(cwd, "b.txt"), "by me\n");
    const { page, faults } = await visit(`${stage.site}/#/thread/${threadId}`);
    const undo = page.getByRole("button", { name: "Undo this turn and all later ones" });
    await eventually(async () => (await undo.count()) === 3, "each turn can be undone");
    const dialog = page.getByRole("dialog", { name: "Undo turns" });
    const listed = (name: string) =>
      page.getByRole("region", { name }).getByRole("listitem").allTextContents();
    await undo.nth(1).click();
    const confirm = dialog.getByRole("button", { name: "Remove 2 turns, and change 1 file back" });
    await confirm.waitFor();
    await dialog.getByRole("heading", { name: "Undo 2 turns" }).waitFor();
    await dialog.getByText("Change it again").waitFor();
    expect(await listed("Get their earlier content back")).toEqual(["a.txt"]);
    expect(await listed("Stay as they are")).toEqual(["b.txtit was changed since"]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await look(page, "revert");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await eventually(async () => (await dialog.count()) === 0, "the dialog is closed");
    expect(await text("a.txt")).toBe("1\n2\n");
    await undo.nth(1).click();
    await confirm.click();
    const outcome = page.getByRole("dialog", { name: "What was undone" });
    await outcome.waitFor();
    expect(await listed("Have their earlier content again")).toEqual(["a.txt"]);
    expect(await listed("Could not be restored")).toEqual(["b.txtit was changed since"]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await look(page, "reverted");
    expect(await text("a.txt")).toBe("1\ntwo\n");
    expect(await text("b.txt")).toBe("by me\n");
    await outcome.getByRole("button", { name: "Overwrite these files as well" }).click();
    await eventually(async () => (await listed("Could not be restored")).length === 0, "all is restored");
    expect(await listed("Have their earlier content again")).toEqual(["b.txt"]);
    expect(await outcome.getByRole("button", { name: "Overwrite these files as well" }).count()).toBe(0);
    expect(await text("b.txt")).toBe("b\n");
    await outcome.getByRole("button", { name: "Close" }).click();
    await eventually(async () => (await undo.count()) === 1, "one turn is left");
    // The message of the turn can be sent again.
    await eventually(
      async () => (await message(page).inputValue()) === "Change it again",
      "the field has the message",
    );
    await message(page).fill("/undo");
    await message(page).press("Enter");
    await dialog.getByRole("heading", { name: "Undo the last turn" }).waitFor();
    await dialog.getByLabel("The files only").check();
    await dialog.getByRole("button", { name: "Change 1 file back" }).click();
    await outcome.waitFor();
    expect(await listed("Were deleted")).toEqual(["new.txt"]);
    // The first restore counts as a later change.
    expect(await listed("Could not be restored")).toEqual(["a.txtit was changed since"]);
    await outcome.getByRole("button", { name: "Overwrite these files as well" }).click();
    await eventually(async () => (await listed("Could not be restored")).length === 0, "all is restored");
    await outcome.getByRole("button", { name: "Close" }).click();
    expect(await text("a.txt")).toBe("one\ntwo\n");
    expect(await filesBelow(cwd)).toEqual(["a.txt", "b.txt"]);
    await page.getByText("Changed.", { exact: true }).waitFor();
    // Nothing is left to restore: only the conversation can be undone.
    await choose(page, "Undo the last turn …");
    await dialog.getByText("These turns changed no file that can be restored.").waitFor();
    await dialog.getByRole("button", { name: "Remove the turn" }).click();
    await page.getByText("Nothing was said yet.").waitFor();
    expect(faults).toEqual([]);
  });
});

/** Pastes a file into the field, as a browser does when a picture is in the clipboard. */
async function paste(page: Page, type: string, base64: string, repeat = 1): Promise<void> {
  const pasted = JSON.stringify({ type, base64, repeat });
  await page.evaluate(`(({ type, base64, repeat }) => {
    const bytes = Uint8Array.from(atob(base64).repeat(repeat), (letter) => letter.charCodeAt(0));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([bytes], "pasted", { type }));
    const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    document.querySelector(".composer textarea").dispatchEvent(paste);
  })(${pasted})`);
}

describe.runIf(hasBrowser)("pictures in a message", () => {
  it("[CONSOLE-17] are pasted, shown, removed and sent to the model", async () => {
    stage.model.reply(say("A dot."));
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "I have a picture");
    await answered(page, "A dot.");
    const png = DOT_PNG.toString("base64");
    const attached = page.getByRole("list", { name: "Pictures to send" }).getByRole("img");
    await paste(page, "image/png", png);
    await page.getByRole("img", { name: "Attachment 1" }).waitFor();
    await paste(page, "image/png", png);
    await page.getByRole("img", { name: "Attachment 2" }).waitFor();
    await paste(page, "image/svg+xml", Buffer.from("<svg onload=window.ran=1>").toString("base64"));
    await page.getByRole("alert").getByText("Pictures of the type image/svg+xml are not attached.").waitFor();
    await paste(page, "image/png", Buffer.alloc(1024 * 1024 * 3).toString("base64"), 3);
    await page.getByRole("alert").getByText("A picture of more than 8 MiB is not attached.").waitFor();
    expect(await attached.count()).toBe(2);
    await page.getByRole("button", { name: "Remove picture 2" }).click();
    await eventually(async () => (await attached.count()) === 1, "one picture is left");
    expect(await accessibilityFaults(page)).toEqual([]);
    const asked = stage.model.asked.length;
    await send(page, "What is this?");
    await eventually(() => stage.model.asked.length === asked + 1, "the model is asked");
    const [text, picture] = lastInput();
    expect(text!.text).toBe("What is this?");
    expect(picture!.image_url).toBe(`data:image/png;base64,${png}`);
    await eventually(async () => (await attached.count()) === 0, "the field has no picture");
    const shown = page.getByRole("img", { name: "Attached by you" });
    const isDecoded = () => page.evaluate('document.querySelector(".user img").naturalWidth === 1');
    await eventually(async () => (await shown.count()) === 1 && (await isDecoded()) === true, "it is shown");
    await page.reload();
    await eventually(async () => (await shown.count()) === 1 && (await isDecoded()) === true, "and later");
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(faults).toEqual([]);
  });
});

describe.runIf(hasBrowser)("messages to a running turn", () => {
  it("[CONSOLE-18] are queued, moved, taken back, removed, sent, or steer the turn, in all windows", async () => {
    stage.model.reply(unfinished("First half"), unfinished("Steered half"), say("Queued answer."));
    const { page, faults } = await visit(stage.site);
    const threadId = await begin(stage, page, "One");
    await page.getByText("First half").waitFor();
    const other = await visit(`${stage.site}/#/thread/${threadId}`);
    const queue = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
    const queued = async (where: Page) => (await where.locator(".queue .text").allTextContents()).join(", ");
    const bothShow = (messages: string) =>
      eventually(
        async () => (await queued(page)) === messages && (await queued(other.page)) === messages,
        `both windows show ${messages}`,
      );
    for (const text of ["A <b onclick=window.ran=1>", "B", "C"]) {
      await message(page).fill(text);
      await message(page).press("Alt+Enter");
      await queue.getByText(text, { exact: true }).waitFor();
    }
    await bothShow("A <b onclick=window.ran=1>, B, C");
    await queue.nth(2).getByRole("button", { name: "Move up" }).click();
    await bothShow("A <b onclick=window.ran=1>, C, B");
    expect(await accessibilityFaults(page)).toEqual([]);
    await look(page, "queue");
    await other.page.getByRole("button", { name: "Remove from the queue" }).nth(2).click();
    await bothShow("A <b onclick=window.ran=1>, C");
    await queue.first().getByRole("button", { name: "Take back into the field" }).click();
    await bothShow("C");
    await eventually(
      async () => (await message(page).inputValue()) === "A <b onclick=window.ran=1>",
      "the message is in the field again",
    );
    // Sent with Enter, it steers the turn.
    await send(page, "Rather this");
    await other.page.getByText("Steered half").waitFor();
    const turns = page.locator(".turn");
    await turns.getByRole("article", { name: "Your message" }).getByText("Rather this").waitFor();
    expect(await turns.count()).toBe(1);
    expect(JSON.stringify(stage.model.asked.at(-1)!.body.input)).toContain("Rather this");
    await other.page.getByRole("button", { name: "Interrupt" }).click();
    await page.getByText("Interrupted").waitFor();
    // After an interrupt the queue waits.
    await queue.getByRole("button", { name: "Send now" }).click();
    await other.page.getByText("Queued answer.").waitFor();
    await bothShow("");
    expect(lastInput()[0]!.text).toBe("C");
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect([...faults, ...other.faults]).toEqual([]);
  });
});

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

describe.runIf(hasBrowser)("what a thread's page shows", () => {
  it.each([
    ["desktop-dark", { colorScheme: "dark" as const }],
    ["phone", PHONE],
    ["phone-dark", { ...PHONE, colorScheme: "dark" as const }],
  ])("[CONSOLE-19] fits %s, with plans, reasoning, lists, goals and dialogs", async (name, options) => {
    const plan = {
      explanation: "In two steps",
      plan: [
        { step: "Find it", status: "completed" },
        { step: "Mend it", status: "in_progress" },
      ],
    };
    stage.model.reply(
      stream(
        responses.stream(
          responses.reasoning(["**Where** is it?"], "sealed"),
          responses.call("update_plan", JSON.stringify(plan), "call_0"),
        ),
      ),
      say("Found."),
    );
    const { page, faults } = await visit(stage.site, options);
    await begin(stage, page, "Find and mend it");
    await page.getByText("Found.").waitFor();
    const isGood = async (what: string) => {
      expect(
        await page.evaluate("document.documentElement.scrollWidth - innerWidth"),
        what,
      ).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page), what).toEqual([]);
      await look(page, `${name}-${what}`);
    };
    const steps = page.getByRole("group", { name: "Plan" }).getByRole("listitem");
    expect(await steps.allTextContents()).toEqual(["Find itdone", "Mend itin progress"]);
    const thought = page.locator("details").filter({ hasText: "Thought" });
    await thought.locator("summary").click();
    await thought.locator("strong", { hasText: "Where" }).waitFor();
    await isGood("thought");
    await message(page).fill("/");
    await page.getByRole("listbox").getByRole("option").first().waitFor();
    await isGood("commands");
    await message(page).fill("");
    await choose(page, "Undo the last turn …");
    await page.getByRole("dialog").getByText("no file that can be restored").waitFor();
    await isGood("undo");
    await page.getByRole("button", { name: "Cancel" }).click();
    stage.model.reply(unfinished("At work"));
    await send(page, `/goal ${"A long goal that needs more than one line. ".repeat(6)}`);
    await page.getByText("At work").waitFor();
    await page.getByRole("region", { name: "Goal" }).getByText("Active").waitFor();
    await isGood("goal");
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("button", { name: "Interrupt" }).click();
    await page.getByText("Interrupted").waitFor();
    expect(faults).toEqual([]);
  });
});
