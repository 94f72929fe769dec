// The console: more threads than fit on a page, everything that can be done with one, the host, and how it looks.
import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { accessibilityFaults, hasBrowser, visit } from "../support/browser.ts";
import { begin, consoleStage, message, send, unfinished } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { callTool, escalated, patchFiles, say } from "../support/model-replies.ts";

describe.runIf(hasBrowser)("the list of threads in the console", () => {
  it("[CONSOLE-7] finds threads by text, status, folder and archive, and reads them page by page", async () => {
    const { model, host, site } = await consoleStage();
    model.reply(say("Yes."));
    const client = await host.join(undefined, { experimentalApi: true });
    const folder = await realpath(await freshFolder());
    const many = 60;
    const ids: string[] = [];
    for (let nth = 0; nth < many; nth++) ids.push(await client.startThread({ cwd: folder }));
    await Promise.all(
      ids.map((id, nth) => client.turn(id, nth === 7 ? "The word is marmalade" : `Number ${nth} of many`)),
    );
    await client.call("thread/name/set", { threadId: ids[7]!, name: "Number 7" });
    await client.call("thread/archive", { threadId: ids[8]! });
    const { page, faults } = await visit(site);
    const list = page.getByRole("navigation");
    const row = (name: string) => list.getByRole("link", { name, exact: false });
    await list.getByLabel("Folder").selectOption({ value: folder });
    const shown = () => list.locator("li").count();
    await list.locator("li").first().waitFor();
    await eventually(
      async () => (await shown()) > 10 && (await shown()) < 40,
      "only rows in sight are there",
    );
    await eventually(async () => {
      await page.evaluate('document.querySelector(".rows").scrollTo(0, 1e9)');
      return (await list.locator("li").last().getAttribute("aria-setsize")) === String(many - 1);
    }, "all threads of the folder but the archived one are listed");
    await list.getByLabel("Archived").check();
    await row("Number 8").waitFor();
    expect(await shown()).toBe(1);
    await list.getByLabel("Archived").uncheck();
    await list.getByLabel("Status").selectOption("loaded");
    await list.locator("li").nth(5).waitFor();
    await list.getByLabel("Search threads").fill("marmalade");
    await row("Number 7").getByText("marmalade").waitFor();
    expect(await shown()).toBe(1);
    await client.call("thread/name/set", { threadId: ids[7]!, name: "Renamed by another" });
    await row("Renamed by another").waitFor();
    expect(faults).toEqual([]);
  });
});

const MANY_THREADS = 100_000;
const THREADS_A_PAGE = 5_000;

/** The fields of a thread that a list shows. */
function listedThread(nth: number): object {
  return {
    id: `thread-${nth}`,
    name: `Number ${nth}`,
    preview: "",
    cwd: "/work",
    status: { type: "notLoaded" },
    updatedAt: 1_700_000_000 - nth,
    createdAt: 0,
    recencyAt: null,
    ephemeral: false,
    parentThreadId: null,
  };
}

describe.runIf(hasBrowser)("a list of 100,000 threads in the console", () => {
  it("[CONSOLE-7] has only the rows in sight in the document, wherever somebody scrolls", async () => {
    const { site } = await consoleStage();
    const { page, faults } = await visit("about:blank");
    // The host's reply to `thread/list` is replaced; everything else is the host's own.
    await page.routeWebSocket(/^ws:/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((text) => {
        const { id, method, params } = JSON.parse(String(text));
        if (method !== "thread/list" || params.sectionId !== undefined) return server.send(text);
        const from = Number(params.cursor ?? 0);
        const data = Array.from({ length: THREADS_A_PAGE }, (_, nth) => listedThread(from + nth));
        const next = from + THREADS_A_PAGE;
        const nextCursor = next < MANY_THREADS ? String(next) : null;
        socket.send(JSON.stringify({ id, result: { data, nextCursor, backwardsCursor: null } }));
      });
    });
    await page.goto(site);
    const list = page.getByRole("navigation");
    const row = (nth: number) => list.getByRole("link", { name: `Number ${nth} `, exact: false }).first();
    await row(0).waitFor();
    await eventually(async () => {
      await page.evaluate('document.querySelector(".rows").scrollTo(0, 1e9)');
      return (await list.locator("li").last().getAttribute("aria-setsize")) === String(MANY_THREADS);
    }, "all threads are listed");
    const longest: number[] = [];
    for (const nth of [50_000, 99_999, 10]) {
      const ms = await page.evaluate(`(async () => {
        const rows = document.querySelector(".rows");
        const from = performance.now();
        rows.scrollTo(0, ${nth} * 60);
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        return performance.now() - from;
      })()`);
      longest.push(Math.round(Number(ms)));
      await row(nth).waitFor();
      expect(await list.locator("li").count()).toBeLessThan(60);
    }
    process.stdout.write(`100,000 threads: jumps took ${longest.join(", ")} ms, two frames included\n`);
    expect(faults.filter((fault) => !fault.startsWith("http"))).toEqual([]);
  });
});

describe.runIf(hasBrowser)("a thread in the console", () => {
  it("[CONSOLE-10] is steered, queued to, renamed, forked, unloaded and archived, and says why it is loaded", async () => {
    const stage = await consoleStage();
    stage.model.reply(unfinished("Half"), unfinished("Steered half"), say("Queued answer."));
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "One");
    await page.getByText("Half").waitFor();
    await message(page).fill("For later");
    await page.getByRole("button", { name: "Queue" }).click();
    await page.getByRole("list", { name: "Queued messages" }).getByText("For later").waitFor();
    await send(page, "Rather this");
    await page.getByText("Steered half").waitFor();
    const choose = async (item: string) => {
      await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    await choose("Why is it loaded?");
    await page.getByText("Loaded: a turn runs, 1 client follows it.").waitFor();
    await choose("Unload");
    await page.getByText("Still loaded: a turn runs").waitFor();
    await choose("Timeline");
    await page.getByRole("region", { name: "Timeline" }).getByText("Answer").first().waitFor();
    await page.getByRole("button", { name: "Close the timeline" }).click();
    await page.getByRole("button", { name: "Interrupt" }).click();
    await page.getByText("Interrupted").waitFor();
    expect(await page.locator(".user").allTextContents()).toEqual(["One", "Rather this"]);
    await page.getByRole("button", { name: "Remove from the queue" }).click();
    await page.getByRole("list", { name: "Queued messages" }).waitFor({ state: "detached" });
    await choose("Rename …");
    await page.getByRole("textbox", { name: "Name" }).fill("A better name");
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await page.getByRole("navigation").getByText("A better name").waitFor();
    const original = page.url();
    await choose("Fork");
    await page.waitForURL((url) => url.href !== original);
    await page.getByText("Steered half").waitFor();
    await page.goto(original);
    await page.getByRole("heading", { name: "A better name" }).waitFor();
    await choose("Unload");
    await page.getByText("Unloaded: its tools and processes ended.").waitFor();
    await page.getByRole("main").getByText("Not loaded").waitFor();
    stage.model.reply(say("Loaded again."));
    await send(page, "Go on");
    await page.getByText("Loaded again.").waitFor();
    await choose("Archive");
    await page.getByText("This thread is archived.").waitFor();
    await choose("Unarchive");
    await message(page).waitFor();
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-11] shows the host, and revokes what was allowed", async () => {
    const stage = await consoleStage();
    stage.model.reply(patchFiles("call_1", "*** Add File: notes.txt", "+x"), say("Written."));
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "Write it");
    await page.getByRole("button", { name: "Yes, and do not ask again in this session" }).click();
    await page.getByText("Written.").waitFor();
    await page.getByRole("link", { name: "Host" }).click();
    await page.getByText("Threads loaded").waitFor();
    const loaded = page.getByRole("region", { name: "Loaded threads" });
    await loaded.getByRole("link", { name: "Write it" }).waitFor();
    const grants = page.getByRole("region", { name: "Grants of loaded threads" });
    await grants.getByRole("button", { name: "Revoke" }).first().click();
    await grants.getByText("None.").waitFor();
    const config = page.getByRole("region", { name: "Configuration" });
    await config.getByRole("row", { name: /^model mock-model .*config\.toml/ }).waitFor();
    await page.getByRole("region", { name: "Models" }).getByRole("listitem").first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

describe.runIf(hasBrowser)("the look of the console", () => {
  it.each([
    ["console", { viewport: { width: 1280, height: 860 } }],
    ["console-dark", { viewport: { width: 1280, height: 800 }, colorScheme: "dark" as const }],
    ["console-phone", PHONE],
    ["console-phone-dark", { ...PHONE, colorScheme: "dark" as const }],
  ])("[CONSOLE-12] fits %s", async (name, options) => {
    const stage = await consoleStage();
    const client = await stage.host.join(undefined, { experimentalApi: true });
    for (const [folder, title] of OTHERS) {
      const cwd = join(stage.cwd, folder);
      await mkdir(cwd, { recursive: true });
      await client.turn(await client.startThread({ cwd }), title);
    }
    const plan = {
      plan: [
        { step: "Find the slow query", status: "completed" },
        { step: "Add an index", status: "in_progress" },
        { step: "Measure again", status: "pending" },
      ],
    };
    stage.model.reply(
      callTool("update_plan", plan, "call_0"),
      patchFiles(
        "call_1",
        "*** Add File: migrations/12-orders.sql",
        "+create index orders_by_day",
        "+  on orders (day);",
      ),
      say(ANSWER),
      escalated("npm run bench -- orders", { justification: "May I measure it?" }, "call_2"),
      say("Done."),
    );
    const { page, faults } = await visit(stage.site, options);
    await page.goto(`${stage.site}/#/new`);
    await page.getByPlaceholder("own folder").fill(join(stage.cwd, "shop"));
    await send(page, "The list of orders is slow. Why?");
    await page.getByRole("button", { name: "Yes", exact: true }).click();
    await page.getByText("migrations/12-orders.sql", { exact: true }).waitFor();
    await page.getByText("40 times faster").waitFor();
    await page.getByRole("main").getByText("Idle").waitFor();
    const folder = process.env.BOBBIN_PICTURES ?? (await freshFolder());
    const picture = await page.screenshot({ path: join(folder, `${name}.png`) });
    expect(picture.length).toBeGreaterThan(10_000);
    await send(page, "Good. Now measure it.");
    await page.getByRole("region", { name: "Run this command?" }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.screenshot({ path: join(folder, `${name}-question.png`) });
    expect(faults).toEqual([]);
  });
});

const OTHERS = [
  ["website", "Write the release notes of 2.4"],
  ["accounts", "Why does the login test fail on Fridays?"],
  ["billing", "Translate the invoices into French"],
  ["shop", "Move the cache behind a port"],
  ["shop", "Explain the retry policy to me"],
] as const;

const ANSWER = `The list reads every order to find those of **one day**. With an index the plan changes:

| | rows read | time |
|---|--:|--:|
| before | 1,204,311 | 820 ms |
| after | 2,980 | 19 ms |

That is about 40 times faster. The query itself stays as it is:

\`\`\`sql
select * from orders where day = $1 order by id;
\`\`\`
`;
