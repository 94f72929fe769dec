// Markup in every field of the protocol that the console is sent, made from the schemas: items, questions, notifications
// and replies. The host is a real one, and what it would say is replaced on the way to the page.
import { methods, notifications, serverRequests } from "@bobbin/protocol";
import { ThreadItem } from "@bobbin/protocol/types";
import type { Page, WebSocketRoute } from "playwright-core";
import { describe, expect, it } from "vitest";
import { Random } from "../simulation/random.ts";
import { hasBrowser, visit } from "../support/browser.ts";
import { type ConsoleStage, consoleStage } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { fullValue, fullVariants } from "../support/full-values.ts";

/** Each variant is made so often: the types within it are chosen at random. */
const ROUNDS = 8;

/** The name of the field is in the text, so that a test sees which fields are shown. */
const hostile = (key: string): string =>
  `§${key}-text <img src=x onerror="window.ran=1"><script>window.ran=1</script><svg onload=window.ran=1> ` +
  `"' onmouseover=window.ran=1 x=\`</textarea></title> [a](javascript:window.ran=1) <javascript:window.ran=1>`;

/** Notifications that end the thread for the page, withdraw its questions, or clear what is to be shown. */
const ENDS =
  /^thread\/(closed|deleted|archived|status\/changed|goal\/cleared)$|^turn\/(started|completed)$|\/resolved$/;

const options = { random: new Random(15), text: hostile };

/** What is true of a page, whatever it is sent. */
async function expectOnlyText(page: Page, faults: readonly string[]): Promise<void> {
  await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
  // A page that lays out and loads pictures of what it shows would have done so by the second frame.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  const found = await page.evaluate(`({
    ran: window.ran,
    elements: document.querySelectorAll("#console img:not(.picture), #console script, #console iframe").length,
    handlers: [...document.querySelectorAll("#console *")]
      .flatMap((one) => one.getAttributeNames()).filter((name) => /^on|^srcdoc$/.test(name)),
    schemes: [...document.querySelectorAll("#console a")].map((one) => one.protocol)
      .filter((one) => one !== "http:" && one !== "https:")
  })`);
  expect(found).toEqual({ elements: 0, handlers: [], schemes: [] });
  expect(faults.filter((fault) => !fault.startsWith(new URL(page.url()).origin))).toEqual([]);
}

/** The names of the fields whose text is on the page. */
async function shownFields(page: Page): Promise<string[]> {
  const text = (await page.evaluate('document.getElementById("console").textContent')) as string;
  return [...new Set([...text.matchAll(/§(\w+)-text </g)].map(([, key]) => key!))].sort();
}

/** Waits until the texts of these fields are on the page: some parts of it are loaded late. */
async function shows(page: Page, fields: readonly string[]): Promise<void> {
  const missing = async () => {
    const shown = await shownFields(page);
    return fields.filter((key) => !shown.includes(key));
  };
  await eventually(async () => (await missing()).length === 0, `${fields.join()} are shown`);
}

interface Route {
  /** Sends a message to the page, as the host would. */
  send(message: object): void;
}

/** Opens the console. The replies to these methods are made up. */
async function opened(
  { site }: ConsoleStage,
  hash: string,
  replaced: readonly (keyof typeof methods)[],
): Promise<{ page: Page; faults: string[]; route: Route }> {
  const { page, faults } = await visit("about:blank");
  let socket: WebSocketRoute | undefined;
  await page.routeWebSocket(/^ws:/, (route) => {
    socket = route;
    const server = route.connectToServer();
    route.onMessage((text) => {
      const { id, method } = JSON.parse(String(text));
      // An answer to a question that the host has not asked.
      if (method === undefined) return;
      const name = replaced.find((one) => one === method);
      if (name === undefined) return server.send(text);
      route.send(JSON.stringify({ id, result: onePage(fullValue(methods[name].result, options)) }));
    });
  });
  await page.goto(`${site}/${hash}`);
  return { page, faults, route: { send: (message) => socket!.send(JSON.stringify(message)) } };
}

/** Ends lists that would be read on and on. */
function onePage(result: unknown): unknown {
  return { ...(result as object), nextCursor: null };
}

/** A thread with one turn, which a client follows. */
async function workedThread(stage: ConsoleStage) {
  const client = await stage.host.join(undefined, { experimentalApi: true });
  const threadId = await client.startThread({ cwd: stage.cwd });
  return { threadId, turnId: await client.turn(threadId, "Hello") };
}

describe.runIf(hasBrowser)("markup in every field", () => {
  it("[CONSOLE-38] of every kind of item is text", async () => {
    const stage = await consoleStage();
    const { threadId, turnId } = await workedThread(stage);
    const { page, faults, route } = await opened(stage, `#/thread/${threadId}`, []);
    await page.getByText("Ready.").waitFor();
    for (let round = 0; round < ROUNDS; round++)
      for (const [at, made] of fullVariants(ThreadItem, options).entries()) {
        const item = { ...made, id: `item-${round}-${at}` };
        for (const method of ["item/started", "item/completed"])
          route.send({ method, params: { threadId, turnId, item, startedAtMs: 1, completedAtMs: 2 } });
      }
    await eventually(async () => (await page.locator(".turn > *").count()) > 100, "the items are shown");
    await shows(page, ["text", "command", "aggregatedOutput", "diff", "server", "tool", "query", "review"]);
    await expectOnlyText(page, faults);
  });

  it("[CONSOLE-38] of every kind of question and notification is text", async () => {
    const stage = await consoleStage();
    const { threadId, turnId } = await workedThread(stage);
    const { page, faults, route } = await opened(stage, `#/thread/${threadId}`, []);
    await page.getByText("Ready.").waitFor();
    let id = 1000;
    for (let round = 0; round < ROUNDS; round++) {
      for (const [method, { params }] of Object.entries(serverRequests)) {
        const made = fullValue(params, options) as object;
        route.send({ id: ++id, method, params: { ...made, threadId, turnId } });
      }
      for (const [method, { params }] of Object.entries(notifications)) {
        if (ENDS.test(method)) continue;
        const { cursor: _cursor, ...made } = fullValue(params, options) as Record<string, unknown>;
        route.send({ method, params: { ...made, threadId, turnId } });
      }
    }
    await eventually(async () => (await page.locator(".question").count()) > 10, "the questions are shown");
    await shows(page, [
      "command",
      "cwd",
      "reason",
      "question",
      "label",
      "message",
      "serverName",
      "objective",
    ]);
    await expectOnlyText(page, faults);
    await page.getByRole("link", { name: "Host" }).click();
    await page.getByRole("region", { name: "Recent problems" }).getByText("message-text").first().waitFor();
    await expectOnlyText(page, faults);
  });

  it.each([
    [
      "the list",
      "#/new",
      ["thread/list", "threadSection/list", "model/list"],
      ["name", "owner", "displayName"],
    ],
    [
      "the host",
      "#/host",
      [
        ...(["mcpServerStatus/list", "rap/servers/list", "rules/list", "server/hosts/list"] as const),
        ...(["server/setup/read", "server/logs/read", "config/read", "model/list"] as const),
        ...(["thread/loaded/list", "thread/grants/list"] as const),
      ],
      ["name", "message", "description", "displayName", "toolsError", "url", "file"],
    ],
    ["a journal", "#/thread/THREAD/journal/TURN/1.1", ["thread/journal/read"], ["type", "preview", "method"]],
    ["a timeline", "#/thread/THREAD/turn/TURN", ["turn/timeline/read"], ["label", "model", "problem"]],
  ] as const)("[CONSOLE-38] of replies for %s is text", async (_name, address, replaced, fields) => {
    const stage = await consoleStage();
    const { threadId, turnId } = await workedThread(stage);
    const hash = address.replace("THREAD", threadId).replace("TURN", turnId);
    // What is chosen at random differs each time.
    const shown = new Set<string>();
    for (let round = 0; round < 3; round++) {
      const { page, faults } = await opened(stage, hash, replaced);
      await eventually(async () => {
        const now = await shownFields(page);
        return fields.some((key) => now.includes(key));
      }, "the texts are shown");
      await expectOnlyText(page, faults);
      for (const key of await shownFields(page)) shown.add(key);
      await page.close();
    }
    expect([...shown]).toEqual(expect.arrayContaining([...fields]));
  });
});
