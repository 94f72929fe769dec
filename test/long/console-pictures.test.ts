// Pictures in the console that come from tools of clients and from files of the host's machine.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { accessibilityFaults, hasBrowser, visit } from "../support/browser.ts";
import { consoleStage } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { callTool, say } from "../support/model-replies.ts";
import { DOT_PNG } from "../support/picture.ts";

const PNG = DOT_PNG.toString("base64");
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="parent.window.ran=1"/>';
const CAMERA = { name: "camera", description: "Takes a picture", inputSchema: { type: "object" } };

/** The pictures of the conversation that the browser has decoded, by their texts. */
function decoded(page: Page): Promise<string[]> {
  return page.evaluate(
    '[...document.querySelectorAll(".conversation img")].filter((img) => img.naturalWidth > 0).map(({ alt }) => alt)',
  );
}

describe.runIf(hasBrowser)("a picture in the console", () => {
  it("[CONSOLE-48] that a client's tool returns is shown, and never as text or as a document", async () => {
    const stage = await consoleStage();
    const client = await stage.host.join(undefined, { experimentalApi: true });
    const threadId = await client.startThread({ cwd: stage.cwd, dynamicTools: [CAMERA] });
    stage.model.reply(callTool("camera", {}), say("Taken."));
    const turnId = await client.say(threadId, "Take a picture");
    const { id } = await client.about(threadId, "item/tool/call");
    const svg = Buffer.from(SVG).toString("base64");
    const contentItems = [
      { type: "inputText", text: "Two of them" },
      { type: "inputImage", imageUrl: `data:image/png;base64,${PNG}` },
      { type: "inputImage", imageUrl: `data:image/svg+xml;base64,${svg}` },
      { type: "inputImage", imageUrl: `data:image/png;base64,${"A".repeat(12 * 1024 * 1024)}` },
    ];
    client.send({ id, result: { contentItems, success: true } });
    await client.turnCompleted(turnId);
    const { page, faults } = await visit(`${stage.site}/#/thread/${threadId}`);
    const item = page.locator("details.item", { hasText: "camera" });
    await item.locator("summary").click();
    await item.getByText("Two of them").waitFor();
    await eventually(
      async () => (await decoded(page)).join() === "Result of the tool",
      "the picture is decoded",
    );
    expect(await item.getByText("A picture that cannot be shown").count()).toBe(2);
    const text = await item.textContent();
    for (const part of [PNG, svg, "AAAAAAAA"]) expect(text).not.toContain(part);
    expect(await page.locator("iframe, object, embed, .conversation svg[onload]").count()).toBe(0);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-48] that a message names or the model looks at is read when it comes into sight", async () => {
    const stage = await consoleStage();
    const at = (name: string) => join(stage.cwd, name);
    for (const name of ["mine.png", "seen.png", "evil.png", "gone.png", "huge.png"])
      await writeFile(at(name), DOT_PNG);
    const client = await stage.host.join(undefined, { experimentalApi: true });
    const threadId = await client.startThread({ cwd: stage.cwd });
    stage.model.reply(
      callTool("view_image", { path: "seen.png" }, "call_1"),
      callTool("view_image", { path: "evil.png" }, "call_2"),
      callTool("view_image", { path: "gone.png" }, "call_3"),
      callTool("view_image", { path: "huge.png" }, "call_4"),
      say("All seen."),
      say(Array.from({ length: 200 }, (_, line) => `Line ${line}`).join("\n\n")),
    );
    const input = [
      { type: "text", text: "Compare them" },
      { type: "localImage", path: at("mine.png") },
    ];
    const { turn } = await client.call("turn/start", { threadId, input });
    await client.turnCompleted(turn.id);
    await client.turn(threadId, "Tell me more");
    // Since the model looked at them, the files have changed.
    await writeFile(at("evil.png"), SVG);
    await rm(at("gone.png"));
    await writeFile(at("huge.png"), Buffer.concat([DOT_PNG, Buffer.alloc(9 * 1024 * 1024)]));
    const { page, faults } = await visit(stage.site);
    const reads: string[] = [];
    let received = 0;
    page.on("websocket", (socket) => {
      socket.on("framesent", ({ payload }) => {
        if (payload.toString().includes('"fs/readFile"')) reads.push(payload.toString());
      });
      socket.on("framereceived", ({ payload }) => {
        received = Math.max(received, payload.length);
      });
    });
    await page.goto(`${stage.site}/#/thread/${threadId}`);
    await page.reload();
    await page.getByText("Line 199").waitFor();
    await page.locator(".file-picture").nth(4).waitFor({ state: "attached" });
    expect(reads).toEqual([]);
    for (const name of ["mine.png", "seen.png", "evil.png", "gone.png", "huge.png"])
      await page.getByText(at(name)).scrollIntoViewIfNeeded();
    await eventually(() => reads.length === 5, "the files in sight are read");
    await eventually(
      async () => (await decoded(page)).join() === "Content of mine.png,Content of seen.png",
      "both pictures are decoded",
    );
    // A request behind these has its answer, so theirs have arrived, too.
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: /^Why is it loaded/ }).click();
    await page.getByText("Loaded: 2 clients follow it.").waitFor();
    expect(await page.locator(".conversation img").count()).toBe(2);
    expect(received).toBeLessThan(1024 * 1024);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
