// The console in a real browser, on a real host with a mock stage.model.
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { requestConsoleLink } from "../../packages/host/src/cli/console-link.ts";
import { accessibilityFaults, hasBrowser, type Visit, visit } from "../support/browser.ts";
import {
  begin,
  type ConsoleStage,
  consoleStage,
  message,
  send,
  unfinished,
} from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { spawnHost } from "../support/host-process.ts";
import { refuse, responses, stream } from "../support/mock-model.ts";
import { callTool, escalated, patchFiles, say } from "../support/model-replies.ts";

const MAX_FIRST_LOAD = 60 * 1024;

let stage: ConsoleStage;
beforeAll(async () => {
  if (hasBrowser) stage = await consoleStage();
});

/** Markup that sets `ran` wherever it is taken for markup, in the ways of HTML and of Markdown. */
function hostile(field: string): string {
  return [
    `<img src=x onerror="window.ran=1"><script>window.ran=1</script>`,
    `<svg onload=window.ran=1><iframe srcdoc="<script>parent.ran=1</script>">`,
    `"' onmouseover=window.ran=1 x=\`</textarea></title>{{constructor.constructor('window.ran=1')()}}`,
    `[a](javascript:window.ran=1) ![b](https://example.invalid/x.png) <javascript:window.ran=1>`,
    `${field}-text`,
    field === "answer"
      ? "\n\n| answer-table | <b onclick=window.ran=1>b</b> |\n|-|-|\n| a | b |\n\n```<img>\nx\n```"
      : "",
  ].join(" ");
}

/** The same for names of files, which have no slash. */
function bare(field: string): string {
  return `<img src=x onerror=window.ran=1> ${field}-text`;
}

/** The size of what a page has loaded, each file gzipped. */
async function zippedBytes(loaded: Visit["loaded"], paths: Iterable<string>): Promise<number> {
  let bytes = 0;
  for (const path of paths) bytes += gzipSync(await loaded.get(path)!).length;
  return bytes;
}

/** All journals of a home. */
function savedText(home: string): string {
  const folder = join(home, "sessions");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
}

describe.runIf(hasBrowser)("the console", () => {
  it("[CONSOLE-1] loads under 60 kB from its own host alone, with nothing inline", async () => {
    const { page, faults, loaded } = await visit(stage.site);
    await message(page).waitFor();
    // Once these are there, the page loads more, which it does not wait for.
    const needed = (await loaded.get("/")!).toString().match(/\/assets\/[\w.-]+/g)!;
    await eventually(
      () => needed.every((path) => loaded.has(path)),
      "everything that the page names is loaded",
    );
    const bytes = await zippedBytes(loaded, ["/", ...needed]);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(MAX_FIRST_LOAD);
    const policy = (await page.request.get(stage.site)).headers()["content-security-policy"];
    expect(policy).toContain("script-src 'self'; style-src 'self'");
    expect(policy).not.toContain("unsafe");
    const asset = [...loaded.keys()].find((path) => path.endsWith(".js"))!;
    expect((await page.request.get(stage.site + asset)).headers()["cache-control"]).toContain("immutable");
    expect(faults).toEqual([]);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it("[CONSOLE-31] loads a thread under 60 kB, and gets scripts and styles compressed", async () => {
    stage.model.reply(say("**Compressed**"));
    const client = await stage.host.join(undefined, { experimentalApi: true });
    const threadId = await client.startThread({ cwd: stage.cwd });
    await client.turn(threadId, "How large is this page?");
    const { page, faults, loaded } = await visit(`${stage.site}/#/thread/${threadId}`);
    await page.locator(".agent strong").waitFor();
    expect(await zippedBytes(loaded, loaded.keys())).toBeLessThan(MAX_FIRST_LOAD);
    const scripts = [...loaded.keys()].filter((path) => /\.(js|css)$/.test(path));
    expect(scripts.length).toBeGreaterThan(2);
    for (const path of scripts) {
      const headers = { "accept-encoding": "br" };
      const reply = await page.request.get(stage.site + path, { headers });
      expect(reply.headers()).toMatchObject({ "content-encoding": "br", vary: "Accept-Encoding" });
      expect(await reply.body(), path).toEqual(await loaded.get(path));
    }
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-2] starts a thread, streams its answer as Markdown, and lists it", async () => {
    stage.model.reply(say("# Plan\n\nUse `npm ci`, then:\n\n- **build**\n- test\n\n```sh\nnpm test\n```"));
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "How do I build this?");
    await page.getByRole("heading", { name: "Plan" }).waitFor();
    expect(await page.locator(".agent li strong").textContent()).toBe("build");
    expect(await page.locator(".agent pre").textContent()).toBe("npm test");
    const row = page.getByRole("navigation").getByRole("link", { name: /How do I build this\?/ });
    await row.waitFor();
    expect(await row.getAttribute("aria-current")).toBe("page");
    await page.getByRole("main").getByText("Idle").waitFor();
    expect(faults).toEqual([]);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  it("[CONSOLE-3] lets one of two people answer an approval, and removes it for the other", async () => {
    stage.model.reply(escalated("echo from-the-command; exit 3"), say("It ended."));
    const ada = await visit(stage.site);
    const threadId = await begin(stage, ada.page, "Run it");
    const question = (page: Page) => page.getByRole("region", { name: "Run this command?" });
    await question(ada.page).waitFor();
    const bob = await visit(`${stage.site}/#/thread/${threadId}`);
    await question(bob.page).getByText("echo from-the-command; exit 3").waitFor();
    expect(await accessibilityFaults(bob.page)).toEqual([]);
    await bob.page.getByRole("navigation").getByText("Needs approval").waitFor();
    await question(bob.page).getByRole("button", { name: "Yes", exact: true }).click();
    await question(ada.page).waitFor({ state: "detached" });
    for (const { page } of [ada, bob]) {
      await page.getByText("It ended.").waitFor();
      await page.getByText("exit code 3").waitFor();
      expect(await page.getByLabel("Output").textContent()).toContain("from-the-command\n");
      expect(await question(page).count()).toBe(0);
    }
    expect([...ada.faults, ...bob.faults]).toEqual([]);
  });

  it("[CONSOLE-45] shows the output of a command while it runs, and its exit code at the end", async () => {
    const gate = join(await freshFolder(), "gate");
    const wait = `until [ -e ${gate} ]; do sleep 0.05; done`;
    stage.model.reply(escalated(`echo first; ${wait}; echo second; exit 4`), say("It ended."));
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "Run it slowly");
    await page.getByRole("button", { name: "Yes", exact: true }).click();
    const output = page.getByLabel("Output");
    await output.getByText(/\nfirst\n$/).waitFor();
    expect(await page.getByText("exit code").count()).toBe(0);
    await writeFile(gate, "");
    await output.getByText(/\nfirst\nsecond\n$/).waitFor();
    await page.getByText("exit code 4").waitFor();
    await page.getByText("It ended.").waitFor();
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-4] answers questions of the model, and shows patches as diffs", async () => {
    const questions = [
      {
        id: "drink",
        header: "Drink",
        question: "Tea or coffee?",
        options: [
          { label: "Tea", description: "Green" },
          { label: "Coffee", description: "Black" },
        ],
      },
    ];
    stage.model.reply(
      callTool("request_user_input", { questions }),
      patchFiles("call_2", "*** Add File: notes.txt", "+Tea it is"),
      say("Written."),
    );
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "Ask me");
    const asked = page.getByRole("region", { name: "Tea or coffee?" });
    await asked.getByRole("radio", { name: /Tea/ }).check();
    expect(await accessibilityFaults(page)).toEqual([]);
    await asked.getByRole("button", { name: "Answer" }).click();
    await page.getByRole("region", { name: "Change these files?" }).waitFor();
    expect(await page.locator(".diff tr.added .text").textContent()).toBe("Tea it is");
    await page.getByRole("button", { name: "No", exact: true }).click();
    await page.getByText("Written.").waitFor();
    expect(JSON.stringify(stage.model.asked.at(-2)!.body.input)).toContain("Tea");
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-47] keeps the end of a conversation in sight, unless somebody has scrolled up", async () => {
    const lines = Array.from({ length: 60 }, (_, nth) => `+line ${nth}`);
    const paragraphs = Array.from({ length: 60 }, (_, nth) => `Paragraph ${nth}.`).join("\n\n");
    stage.model.reply(
      patchFiles("call_1", "*** Add File: long.txt", ...lines),
      say(paragraphs),
      say(`${paragraphs}\n\nThe very end.`),
    );
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "Write a lot");
    await page.getByRole("button", { name: "Yes", exact: true }).click();
    await page.getByText("Paragraph 59.").waitFor();
    await page.getByRole("main").getByText("Idle").waitFor();
    const box = 'document.querySelector(".conversation")';
    const toEnd = page.getByRole("button", { name: "Go to the end" });
    const isAtEnd = async () =>
      Number(await page.evaluate(`${box}.scrollHeight - ${box}.scrollTop - ${box}.clientHeight`)) < 80;
    await eventually(isAtEnd, "the end is in sight");
    // The page scrolls, and before it hears of that, there is more below.
    await page.evaluate(`(() => {
      const grow = (pixels) => {
        const line = document.createElement("div");
        line.style.height = pixels + "px";
        ${box}.firstElementChild.append(line);
      };
      grow(50);
      ${box}.scrollTop = ${box}.scrollHeight;
      grow(500);
    })()`);
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    await eventually(isAtEnd, "the end is still in sight");
    expect(await toEnd.count()).toBe(0);
    await page.evaluate(`${box}.scrollTo(0, 0)`);
    await toEnd.waitFor();
    await send(page, "Write more");
    await page.getByText("The very end.").waitFor({ state: "attached" });
    await page.getByRole("main").getByText("Idle").waitFor();
    expect(await page.evaluate(`${box}.scrollTop`)).toBe(0);
    await toEnd.click();
    await eventually(isAtEnd, "the end is in sight again");
    await toEnd.waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-5] interrupts a turn", async () => {
    stage.model.reply((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": thinking\n\n");
    });
    const { page, faults } = await visit(stage.site);
    await begin(stage, page, "Take your time");
    await page.getByRole("button", { name: "Interrupt" }).click();
    await page.getByText("Interrupted").waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-6] executes no markup in any field", async () => {
    const folder = join(stage.cwd, bare("folder"));
    await mkdir(folder);
    const questions = [
      {
        id: "q",
        header: bare("head"),
        question: hostile("question"),
        options: [
          { label: hostile("label"), description: hostile("description") },
          { label: "B", description: "" },
        ],
      },
    ];
    const plan = { explanation: hostile("why"), plan: [{ step: hostile("step"), status: "in_progress" }] };
    stage.model.reply(
      stream(
        responses.stream(
          responses.reasoning([hostile("thought")], "x"),
          responses.call("update_plan", JSON.stringify(plan), "call_0"),
        ),
      ),
      escalated(`echo '${hostile("output").replaceAll("'", "")}'`, { justification: hostile("reason") }),
      callTool("request_user_input", { questions }, "call_2"),
      patchFiles("call_3", `*** Add File: ${bare("file")}`, `+${hostile("line")}`),
      callTool(hostile("tool"), { x: hostile("argument") }, "call_4"),
      say(hostile("answer")),
      refuse(400, { error: { message: hostile("error") } }),
    );
    const client = await stage.host.join(undefined, { experimentalApi: true });
    const threadId = await client.startThread({ cwd: folder });
    const { page, faults } = await visit(`${stage.site}/#/thread/${threadId}`);
    await page.getByText("Nothing was said yet.").waitFor();
    await send(page, hostile("message"));
    await page.getByRole("button", { name: "Yes", exact: true }).click();
    await page.getByRole("radio").first().check();
    await page.getByRole("button", { name: "Answer" }).click();
    await page.getByRole("button", { name: "Yes", exact: true }).click();
    await page.getByText("answer-table").waitFor();
    await client.call("thread/name/set", { threadId, name: hostile("name") });
    await page.getByRole("heading", { name: "name-text" }).waitFor();
    await send(page, "once more");
    await page.getByRole("alert").getByText("error-text").waitFor();
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    for (const seen of ["message", "thought", "why", "step", "output", "file", "line", "answer", "name"])
      expect(await page.getByText(`${seen}-text`).count(), seen).toBeGreaterThan(0);
    // A page that lays out and loads pictures of what it shows would have done so by the second frame.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    expect(await page.evaluate("window.ran")).toBeUndefined();
    const { main: found, links } = (await page.evaluate(`({
      main: document.querySelectorAll("#console img, #console script, #console iframe, #console [onerror]").length,
      links: [...document.querySelectorAll("#console a")].map((link) => link.protocol)
    })`)) as { main: number; links: string[] };
    expect(found).toBe(0);
    expect([...new Set(links)].sort()).toEqual(["http:", "https:"]);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-8] lets a browser in by a link that works once, on a listener with authentication", async () => {
    const tokenFile = join(await freshFolder(), "token");
    await writeFile(tokenFile, "0f2e4d6c8b0a1928374655647382910f");
    const auth = ["--ws-auth", "capability-token", "--ws-token-file", tokenFile];
    const { host: locked, site } = await consoleStage(auth);
    const link = await requestConsoleLink(locked.home);
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/);
    expect(locked.stderr).not.toContain("#token");
    const stranger = await visit(site);
    await stranger.page.getByText("bobbin open").waitFor();
    expect(await accessibilityFaults(stranger.page)).toEqual([]);
    const { page, faults } = await visit(link!);
    await message(page).waitFor();
    expect(page.url()).not.toContain("token");
    await page.reload();
    await message(page).waitFor();
    await stranger.page.goto(link!);
    await stranger.page.getByText("this link was used before").waitFor();
    await stranger.page.getByText("bobbin open", { exact: true }).waitFor();
    await stranger.page.goto(`${site}/#token=wrong`);
    await stranger.page.getByText("this link is not valid").waitFor();
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-9] goes on over a kill and restart of the host: nothing twice, nothing missing", async () => {
    const port = await freePort();
    const killed = await consoleStage([], port);
    killed.model.reply(say("The first answer."), unfinished("Half of the second"));
    const { page } = await visit(killed.site);
    await begin(killed, page, "One");
    await page.getByText("The first answer.").waitFor();
    await send(page, "Two");
    await page.getByText("Half of the second").waitFor();
    // The text of the last second before a kill may be lost.
    await eventually(() => savedText(killed.home).includes("Half of the second"), "the text is saved");
    await killed.host.kill();
    await page.getByText("Connecting again").waitFor();
    killed.model.reply(escalated("echo third"), say("The last answer."));
    await spawnHost({ home: killed.home, args: ["--listen", `ws://127.0.0.1:${port}`], cwd: killed.cwd });
    await page.getByText("Interrupted").waitFor();
    await page.getByText("Connecting again").waitFor({ state: "detached" });
    await send(page, "Three");
    await page.getByRole("button", { name: "Yes", exact: true }).click();
    await page.getByText("The last answer.").waitFor();
    const answers = await page.locator(".agent").allTextContents();
    expect(answers).toEqual(["The first answer.", "Half of the second", "The last answer."]);
    expect(await page.locator(".user").allTextContents()).toEqual(["One", "Two", "Three"]);
  });

  it("[CONSOLE-9] notices a host that stands still, and goes on with it when it works again", async () => {
    const stuck = await consoleStage();
    stuck.model.reply(say("Before."), say("Afterwards."));
    const { page } = await visit("about:blank");
    await page.clock.install();
    await page.goto(stuck.site);
    await send(page, "One");
    await page.getByText("Before.").waitFor();
    await page.getByRole("main").getByText("Idle").waitFor();
    stuck.host.signal("SIGSTOP");
    onTestFinished(() => stuck.host.signal("SIGCONT"));
    // The page's clock alone: the host has stopped. After 10 to 20 seconds of silence the page sends a request, and
    // waits 10 seconds for the reply.
    await page.clock.runFor(30_000);
    await page.getByText("The host does not answer. Connecting again").waitFor();
    await send(page, "Two");
    stuck.host.signal("SIGCONT");
    await page.getByText("Afterwards.").waitFor();
    await page.getByText("Connecting again").waitFor({ state: "detached" });
    expect(await page.locator(".user").allTextContents()).toEqual(["One", "Two"]);
    expect(await page.locator(".agent").allTextContents()).toEqual(["Before.", "Afterwards."]);
  });
});
