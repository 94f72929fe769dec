// A browser for measures of the console: Debian's Chromium, or the one that BOBBIN_CHROMIUM names.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const program = [process.env.BOBBIN_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
  (path) => path !== undefined && existsSync(path),
);

/** Ends what is stuck. */
const STUCK_MS = 60_000;

/**
 * Gives `work` a browser. Resolves with no results if there is none, so that the measure is skipped.
 * @template T
 * @param {(browser: import("playwright-core").Browser) => Promise<T[]>} work
 * @returns {Promise<T[]>}
 */
export async function withBrowser(work) {
  if (program === undefined) return [];
  const browser = await chromium.launch({
    executablePath: program,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    return await work(browser);
  } finally {
    await browser.close();
  }
}

/**
 * Opens a page in a window with an empty cache. The caller closes its context.
 * @param {import("playwright-core").Browser} browser
 * @param {string} address
 * @param {string} [script] runs in the page before its own scripts
 */
export async function openPage(browser, address, script) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(STUCK_MS);
  const page = await context.newPage();
  if (script !== undefined) await page.addInitScript(script);
  await page.goto(address);
  return page;
}

/** The address of the console on a listener. @param {string} url */
export const siteOf = (url) => url.replace(/^ws:/, "http:");
