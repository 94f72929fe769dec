// Saved prompts in the field for a message.
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { accessibilityFaults, hasBrowser, visit } from "../support/browser.ts";
import { begin, consoleStage, message } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { mcpStage } from "../support/mcp-call-stage.ts";
import { MCP_PROGRAM, mcpServer } from "../support/mcp-stage.ts";
import { say } from "../support/model-replies.ts";

describe.runIf(hasBrowser)("saved prompts", () => {
  it("[PROMPT-6] are listed behind /, completed, and sent expanded when nothing is missing", async () => {
    const stage = await consoleStage();
    const folder = join(stage.home, "prompts");
    await mkdir(folder);
    const hostile = "Writes <img src=x onerror=window.ran=1>";
    await writeFile(
      join(folder, "ticket.md"),
      `---\ndescription: ${hostile}\nargument-hint: ID=<id> [words]\n---\nWork on ticket $ID: $ARGUMENTS.`,
    );
    await writeFile(join(folder, "compact.md"), "Be brief.");
    stage.model.reply(say("Done."));
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "Hello");
    await page.getByRole("main").getByText("Done.").waitFor();
    const field = message(page);
    const options = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
    await field.press("/");
    await options.filter({ hasText: "/prompts:ticket" }).waitFor();
    const all = await options.allTextContents();
    expect(all.slice(-2)).toEqual([
      `/prompts:compact${join(folder, "compact.md")}`,
      `/prompts:ticket ID=<id> [words]${hostile}`,
    ]);
    expect(await accessibilityFaults(page)).toEqual([]);
    // A prompt is found by its name alone, and a command goes before a prompt of the same name.
    await field.pressSequentially("compac");
    await eventually(async () => (await options.count()) === 2, "both are found");
    expect((await options.allTextContents()).map((text) => text.slice(0, 9))).toEqual([
      "/compactS",
      "/prompts:",
    ]);
    await field.fill("/tick");
    await options.filter({ hasText: "/prompts:ticket" }).and(page.locator("[aria-selected=true]")).waitFor();
    await field.press("Enter");
    await eventually(async () => (await field.inputValue()) === "/prompts:ticket ", "it is completed");
    const asked = stage.model.asked.length;
    await field.press("Enter");
    await page.getByText("/prompts:ticket needs ID. Write: /prompts:ticket ID=<id> [words]").waitFor();
    await eventually(async () => (await field.inputValue()) === "/prompts:ticket ", "the text is kept");
    expect(stage.model.asked.length).toBe(asked);
    await field.fill('/prompts:ticket ID="BOB 7" with <b>care</b>');
    await field.press("Enter");
    const text = "Work on ticket BOB 7: with <b>care</b>.";
    await page.getByRole("article", { name: "Your message" }).getByText(text).waitFor();
    await eventually(() => stage.model.asked.length === asked + 1, "the model is asked");
    expect(JSON.stringify(stage.model.asked.at(-1)!.body.input)).toContain(text);
    await field.fill("/prompts:none");
    await field.press("Enter");
    await page.getByText('there is no prompt named "none"').waitFor();
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(faults).toEqual([]);
  });

  it("[PROMPT-6] begin a thread: those of the folder that is chosen for it", async () => {
    const stage = await consoleStage();
    const hostile = "Starts <img src=x onerror=window.ran=1>";
    const save = async (folder: string, name: string, text: string) => {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, `${name}.md`), text);
    };
    await save(
      join(stage.home, "prompts"),
      "begin",
      `---\ndescription: ${hostile}\nargument-hint: WHAT=<what>\n---\nBegin with $WHAT.`,
    );
    const other = await realpath(await freshFolder());
    stage.model.reply(say("Begun."));
    const { page, faults } = await visit(`${stage.site}/#/new`);
    const field = message(page);
    const options = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
    await page.getByPlaceholder("The host’s own folder").fill(other);
    await field.press("/");
    await options.filter({ hasText: "/prompts:begin" }).waitFor();
    expect(await options.allTextContents()).toEqual([`/prompts:begin WHAT=<what>${hostile}`]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await field.fill("/beg");
    await options.filter({ hasText: "/prompts:begin" }).and(page.locator("[aria-selected=true]")).waitFor();
    await field.press("Enter");
    await eventually(async () => (await field.inputValue()) === "/prompts:begin ", "it is completed");
    // Without its argument nothing is started, and the text stays.
    await field.press("Enter");
    await page.getByText("/prompts:begin needs WHAT. Write: /prompts:begin WHAT=<what>").waitFor();
    await eventually(async () => (await field.inputValue()) === "/prompts:begin ", "the text is kept");
    expect(stage.model.asked).toEqual([]);
    expect(page.url()).toContain("#/new");
    await field.fill("/prompts:begin WHAT='the <b>roof</b>'");
    await field.press("Enter");
    await page.waitForURL(/#\/thread\//);
    const text = "Begin with the <b>roof</b>.";
    await page.getByRole("article", { name: "Your message" }).getByText(text).waitFor();
    await page.getByRole("main").getByText("Begun.").waitFor();
    expect(JSON.stringify(stage.model.asked.at(-1)!.body.input)).toContain(text);
    const client = await stage.host.join(undefined, { experimentalApi: true });
    const { data } = await client.call("thread/list", {});
    expect(data.map(({ cwd }: { cwd: string }) => cwd)).toEqual([other]);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(faults).toEqual([]);
  });

  it("[PROMPT-6] of MCP servers are listed, and sent as the server expands them", async () => {
    const poet = mcpServer("poet", MCP_PROGRAM, ["--prompts"], ["required = true"]);
    const { host, model, threadId } = await mcpStage([say("Written.")], { servers: [poet] });
    const { page, faults } = await visit(`${await host.site()}/#/thread/${threadId}`);
    const field = message(page);
    const options = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
    await field.press("/");
    const poem = "/prompts:mcp:poet:poem topic=… [style=…]A poem, on demand";
    await options.getByText("/prompts:mcp:poet:poem").waitFor();
    expect(await options.allTextContents()).toContain(poem);
    await field.fill("/prompts:mcp:poet:poem style=sad");
    await field.press("Enter");
    await page.getByText("needs topic. Write: /prompts:mcp:poet:poem topic=… [style=…]").waitFor();
    expect(model.asked).toEqual([]);
    await field.fill("/prompts:mcp:poet:poem the sea");
    await field.press("Enter");
    const text = "Write a sea poem about the.";
    await page.getByRole("article", { name: "Your message" }).getByText(text).waitFor();
    await page.getByRole("main").getByText("Written.").waitFor();
    expect(JSON.stringify(model.asked.at(-1)!.body.input)).toContain(text);
    expect(faults).toEqual([]);
  });
});
