// Starts a host with a mock model for tests of the console, and performs a user's actions in the page.
import type { Locator, Page } from "playwright-core";
import { type HostProcess, spawnHost } from "./host-process.ts";
import { MockModel, type Reply, responses, silent, sse } from "./mock-model.ts";
import { modelHome } from "./model-home.ts";
import { say } from "./model-replies.ts";

export interface ConsoleStage {
  readonly model: MockModel;
  readonly host: HostProcess;
  readonly site: string;
  readonly home: string;
  readonly cwd: string;
}

/** `port`: for a host that is restarted at the same address. */
export async function consoleStage(args: readonly string[] = [], port = 0): Promise<ConsoleStage> {
  const model = await MockModel.start(say("Ready."));
  const { home, cwd } = await modelHome("responses", model.url, { top: ['sandbox_mode = "read-only"'] });
  const host = await spawnHost({ home, args: ["--listen", `ws://127.0.0.1:${port}`, ...args], cwd });
  return { model, host, home, cwd, site: await host.site() };
}

/** Loads a page as in a browser that blocks storage. */
export async function openWithoutStorage(page: Page, address: string): Promise<void> {
  await page.addInitScript(`for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });`);
  // An address that differs only behind the # would not be loaded anew.
  await page.goto("about:blank");
  await page.goto(address);
}

/** The field for the next message. */
export function message(page: Page): Locator {
  return page.getByRole("textbox", { name: /^(Message|Steer)/ });
}

export async function send(page: Page, text: string): Promise<void> {
  await message(page).fill(text);
  await message(page).press("Enter");
}

/** Starts a thread in the page. Returns its ID. */
export async function begin({ site }: ConsoleStage, page: Page, text: string): Promise<string> {
  await page.goto(`${site}/#/new`);
  await send(page, text);
  await page.waitForURL(/#\/thread\//);
  return new URL(page.url()).hash.split("/")[2]!;
}

/** A reply whose end never comes. */
export function unfinished(text: string): Reply {
  const [added, ...deltas] = responses.message(text).slice(0, -1);
  return silent(sse([{ type: "response.created", response: { id: "resp_1" } }, added!, ...deltas]));
}
