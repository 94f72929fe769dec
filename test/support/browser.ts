// A real browser for tests of the console: Debian's Chromium, or the one that BOBBIN_CHROMIUM names.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { atFileEnd } from "./file-end.ts";
import { isHere } from "./machine.ts";

const program = [process.env.BOBBIN_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
  (path) => path !== undefined && existsSync(path),
);

/** Whether there is a browser. */
export const hasBrowser = isHere(
  "BROWSER",
  program !== undefined,
  "Chromium, for tests of the console (apt install chromium)",
);

/** Time limit for a page that does not respond. Long, because pages are slow on a busy machine. */
const STUCK_MS = 120_000;

let browser: Promise<Browser> | undefined;
atFileEnd(async () => {
  const open = browser;
  browser = undefined;
  await (await open)?.close();
});

export interface Visit {
  readonly page: Page;
  /** Problems of the page: errors, dialogs, violations of the content policy, requests to other sites. */
  readonly faults: string[];
  /** Everything that the page has requested so far, by path. */
  readonly loaded: Map<string, Promise<Buffer>>;
}

/** Opens a page in its own browser context. The browser is started once per test file. */
export async function visit(address: string, options: BrowserContextOptions = {}): Promise<Visit> {
  browser ??= chromium.launch({ executablePath: program!, args: ["--no-sandbox", "--disable-gpu"] });
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(STUCK_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  const loaded = new Map<string, Promise<Buffer>>();
  const { origin } = new URL(address);
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith("data:") && !url.startsWith("blob:")) faults.push(url);
  });
  page.on("response", (response) => {
    const body = response.body().catch(() => Buffer.alloc(0));
    loaded.set(new URL(response.url()).pathname, body);
  });
  await page.goto(address);
  return { page, faults, loaded };
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** The accessibility problems that axe-core finds, as texts. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const path = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
  await page.evaluate(await readFile(path, "utf8"));
  const violations = (await page.evaluate("axe.run().then((found) => found.violations)")) as Violation[];
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary ?? ""}`),
  );
}
