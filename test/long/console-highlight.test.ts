// Colours of code in messages and patches.
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { accessibilityFaults, hasBrowser, visit } from "../support/browser.ts";
import { begin, type ConsoleStage, consoleStage } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { patchFiles, say } from "../support/model-replies.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (hasBrowser) stage = await consoleStage();
});

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

/** Takes a picture for people to look at, if BOBBIN_LOOK names a folder. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.BOBBIN_LOOK;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

const HOSTILE = "<img src=x onerror=window.ran=1><script>window.ran=1</script>";
const SAMPLE = `/** Says hello. */
export async function greet(name: string, times = 2): Promise<void> {
  // ${HOSTILE}
  for (let nth = 0; nth < times; nth++) console.log(\`Hello, \${name}! ${HOSTILE}\`);
}`;
const PAGE = `<!doctype html>\n<p class="a" onclick="window.ran=1">Hi &amp; bye</p>${HOSTILE}`;
const LONG = `const a = "b";\n`.repeat(1000);

describe.runIf(hasBrowser)("code in the console", () => {
  it.each([
    ["desktop", {}],
    ["desktop-dark", { colorScheme: "dark" as const }],
    ["phone", PHONE],
    ["phone-dark", { ...PHONE, colorScheme: "dark" as const }],
  ])("[CONSOLE-43] has colours in messages and patches, and stays text, on %s", async (name, options) => {
    const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\`\n\n`;
    stage.model.reply(
      say(
        `A function:\n\n${fenced("ts", SAMPLE)}A page:\n\n${fenced("html", PAGE)}${fenced("nonsense", SAMPLE)}` +
          `${fenced("js", LONG)}${fenced("diff", "-old\n+new")}${fenced("py", "def f():\n    return 1")}`,
      ),
    );
    const { page, faults } = await visit(stage.site, options);
    await begin(stage, page, "Show me");
    const blocks = page.locator(".agent pre");
    await eventually(async () => (await blocks.count()) === 6, "all blocks are there");
    const kindsOf = (nth: number) =>
      blocks
        .nth(nth)
        .locator("span[class]")
        .evaluateAll((found) => found.map((one) => (one as unknown as { className: string }).className));
    const coloured = async (nth: number, kind: string) => {
      await blocks.nth(nth).scrollIntoViewIfNeeded();
      await eventually(
        async () => (await kindsOf(nth)).includes(`token-${kind}`),
        `block ${nth} has a ${kind}`,
      );
    };
    await coloured(5, "keyword");
    await coloured(4, "added");
    await coloured(1, "attribute");
    await coloured(0, "keyword");
    expect(await kindsOf(0)).toEqual(
      expect.arrayContaining(["token-comment", "token-string", "token-number"]),
    );
    // Text, to the last character.
    expect(await blocks.nth(0).textContent()).toBe(SAMPLE);
    expect(await blocks.nth(1).textContent()).toBe(PAGE);
    expect(await page.locator(".agent pre").locator("img, script, p, [onclick]").count()).toBe(0);
    // Unknown languages and long blocks are plain.
    expect([await kindsOf(2), await kindsOf(3)]).toEqual([[], []]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("article", { name: "Your message" }).scrollIntoViewIfNeeded();
    await look(page, `code-${name}`);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(faults).toEqual([]);
  });

  it.each([
    ["desktop", {}],
    ["phone-dark", { ...PHONE, colorScheme: "dark" as const }],
  ])("[CONSOLE-43] has colours in patches, on %s", async (name, options) => {
    const lines = SAMPLE.split("\n").map((line) => `+${line}`);
    stage.model.reply(patchFiles("call_1", `*** Add File: greet-${name}.ts`, ...lines), say("Patched."));
    const { page, faults } = await visit(stage.site, options);
    await begin(stage, page, "Patch it");
    const shown = page.locator(".diff").first().locator("td.text");
    await shown.locator(".token-keyword", { hasText: "async" }).first().waitFor();
    expect((await shown.allTextContents()).join("\n")).toBe(SAMPLE);
    expect(await shown.locator("img, script").count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await look(page, `patch-${name}`);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(faults).toEqual([]);
  });
});
