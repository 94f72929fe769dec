// Markup in every field that a model, a tool, a server, a client or a file can fill: the console shows it as text.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { hasBrowser, type Visit, visit } from "../support/browser.ts";
import { send } from "../support/console-stage.ts";
import { spawnHost } from "../support/host-process.ts";
import { calls, mcpStage } from "../support/mcp-call-stage.ts";
import { mcpServer } from "../support/mcp-stage.ts";
import { MockModel, refuse, responses } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { callTool, escalated, say } from "../support/model-replies.ts";
import { answer, call, rapStage } from "../support/rap-stage.ts";
import { FakeToolServer } from "../support/tool-server.ts";

/** Markup that sets `ran` wherever it is taken for markup, in the ways of HTML and of Markdown. `field` shows where it is. */
const hostile = (field: string): string =>
  [
    `${field}-text`,
    `<img src=x onerror="window.ran=1"><script>window.ran=1</script><svg onload=window.ran=1>`,
    `<iframe srcdoc="<script>parent.ran=1</script>"><a href="javascript:window.ran=1">x</a>`,
    `"' onmouseover=window.ran=1 style=x \`</textarea></title>{{constructor.constructor('window.ran=1')()}}`,
    `[a](javascript:window.ran=1) ![b](https://example.invalid/x.png) <javascript:window.ran=1>`,
  ].join(" ");

/** The same for names of files, which have no slash, and for a line of TOML. */
const bare = (field: string): string => `${field}-text <img src=x onerror=window.ran=1>`;

/** Opens a page that counts what its content policy refuses. */
async function watched(address: string): Promise<Visit> {
  const opened = await visit("about:blank");
  await opened.page.addInitScript(
    'window.refused = []; addEventListener("securitypolicyviolation", (e) => refused.push(e.violatedDirective))',
  );
  await opened.page.goto(address);
  return opened;
}

/** Shows all folded parts, and checks that each field is there as text, and that nothing ran. */
async function expectOnlyText(page: Page, fields: readonly string[]): Promise<void> {
  await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
  for (const field of fields) await page.getByText(`${field}-text`).first().waitFor({ state: "attached" });
  // A page that lays out and loads pictures of what it shows would have done so by the second frame.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  const found = await page.evaluate(`({
    ran: window.ran,
    refused: window.refused,
    elements: document.querySelectorAll("#console img:not(.picture), #console script, #console iframe, #console [onerror]").length,
    schemes: [...document.querySelectorAll("#console a")].map((one) => one.protocol)
      .filter((one) => one !== "http:" && one !== "https:")
  })`);
  expect(found).toEqual({ refused: [], elements: 0, schemes: [] });
}

/** Requests to other sites and errors. The page is opened from a blank one, so its own requests count as foreign. */
const faultsOf = ({ faults, page }: Visit): string[] =>
  faults.filter((fault) => !fault.startsWith(new URL(page.url()).origin));

describe.runIf(hasBrowser)("markup in the console", () => {
  it("[CONSOLE-38] is text in arguments, results, errors and forms of MCP servers", async () => {
    const form = {
      message: hostile("form"),
      properties: {
        [bare("property")]: { type: "string", title: hostile("title"), description: hostile("description") },
        one: { type: "string", enum: ["a", "b"], enumNames: [hostile("choice"), "B"] },
        many: {
          type: "array",
          title: hostile("legend"),
          items: { type: "string", enum: [hostile("item"), "y"] },
        },
        yes: { type: "boolean", title: hostile("boolean"), description: hostile("detail") },
        fixed: { type: "string", default: hostile("default") },
      },
    };
    const stage = await mcpStage([
      calls(["echo", { message: hostile("result"), [bare("key")]: hostile("argument") }], ["ask", form]),
      callTool(hostile("tool"), { x: hostile("unknown") }, "call_9"),
      say(hostile("answer")),
    ]);
    const { client, threadId, host } = stage;
    const visited = await watched(`${await host.site()}/#/thread/${threadId}`);
    const { page } = visited;
    const turnId = await client.say(threadId, "go");
    await page.getByRole("region", { name: "own asks" }).waitFor();
    const fields = ["form", "title", "description", "choice", "legend", "item", "boolean", "detail"];
    await expectOnlyText(page, [...fields, "result", "argument", "key"]);
    await page.getByRole("button", { name: "Send" }).click();
    await client.turnCompleted(turnId);
    await expectOnlyText(page, ["answer", "result", "argument"]);
    expect(faultsOf(visited)).toEqual([]);
  });

  it("[CONSOLE-38] is text in results and failures of tool servers, and in permissions", async () => {
    const server = await FakeToolServer.start({ weather: { description: hostile("about") } });
    const asks = (callId: string) => call(responses.call("weather", `{"city":"x"}`, callId));
    const permissions = { file_system: { write: [`/tmp/${bare("path")}`] } };
    const wanted = { reason: hostile("reason"), permissions };
    const { client, threadId, host, model } = await rapStage([], {
      servers: { desk: server },
      lines: ['approval = "always"'],
      params: { approvalPolicy: "on-request" },
    });
    model.reply(
      asks("call_1"),
      callTool("request_permissions", wanted, "call_2"),
      say("Done."),
      refuse(400, { error: { message: hostile("error"), code: hostile("code") } }),
    );
    const visited = await watched(`${await host.site()}/#/thread/${threadId}`);
    const { page } = visited;
    const first = await client.say(threadId, hostile("message"));
    await expectOnlyText(page, ["message", "about"]);
    await page.getByRole("button", { name: "Yes", exact: true }).click();
    await answer(await server.next("/invoke"), hostile("weather"));
    const card = page.getByRole("region", { name: "Give these permissions?" });
    await card.waitFor();
    await expectOnlyText(page, ["message", "weather", "reason", "path"]);
    await card.getByRole("button", { name: "No", exact: true }).click();
    await client.turnCompleted(first);
    await send(page, "once more");
    await page.getByRole("alert").getByText("error-text").waitFor();
    await expectOnlyText(page, ["error"]);
    expect(faultsOf(visited)).toEqual([]);
  });

  it("[CONSOLE-38] is text in log lines, problems of servers, rules and grants on the page of the host", async () => {
    const wrongName = JSON.stringify(bare("server-name"));
    const servers = [
      mcpServer("missing", "x").replace(/command = .*/, `command = ${JSON.stringify(bare("program"))}`),
      mcpServer(wrongName, "x"),
    ];
    const top = ['sandbox_mode = "read-only"', 'approval_policy = "on-request"'];
    const { client, home, host, threadId } = await mcpStage(
      [escalated(`echo '${bare("command")}'`), say("Done.")],
      { servers, top },
    );
    await mkdir(join(home, "rules"), { recursive: true });
    const words = JSON.stringify([bare("rule"), "--all"]);
    await writeFile(
      join(home, "rules", "default.rules"),
      `prefix_rule(pattern=${words}, decision="allow")\n`,
    );
    const visited = await watched(`${await host.site()}/#/thread/${threadId}`);
    const { page } = visited;
    const turnId = await client.say(threadId, "go");
    await page.getByRole("button", { name: "Yes, and do not ask again in this session" }).click();
    await client.turnCompleted(turnId);
    await page.getByRole("link", { name: "Host" }).click();
    const region = (name: string) => page.getByRole("region", { name, exact: true });
    await region("Grants of loaded threads").getByText("command-text").waitFor();
    await region("Rules").getByText("rule-text").waitFor();
    await region("MCP servers").getByText("program-text").waitFor();
    await region("Recent problems").getByText("server-name-text").first().waitFor();
    await expectOnlyText(page, ["command", "rule", "program", "server-name"]);
    expect(faultsOf(visited)).toEqual([]);
  });

  it("[CONSOLE-38] is text in names, folders, models, sections, goals, warnings and values of the configuration", async () => {
    const model = await MockModel.start(say(hostile("answer")));
    const { home, cwd } = await modelHome("responses", model.url, {
      top: [
        `developer_instructions = '${bare("value")}'`,
        `'${bare("unknown-key")}' = 1`,
        `model_providers.other.name = '${bare("provider")}'`,
        `model_providers.other.base_url = 'http://127.0.0.1:9/v1'`,
      ],
    });
    const host = await spawnHost({ home, cwd, args: ["--listen", "ws://127.0.0.1:0"] });
    const client = await host.join(undefined, { experimentalApi: true });
    const folder = join(cwd, bare("folder"));
    await mkdir(folder);
    const threadId = await client.startThread({ cwd: folder, model: bare("model") });
    await client.turn(threadId, hostile("message"));
    await client.call("thread/name/set", { threadId, name: bare("name") });
    await client.call("thread/goal/set", { threadId, objective: hostile("goal"), status: "paused" });
    const { section } = await client.call("threadSection/create", { name: bare("section") });
    await client.call("thread/section/move", { threadId, sectionId: section.id });
    const visited = await watched(`${await host.site()}/#/thread/${threadId}`);
    const { page } = visited;
    await expectOnlyText(page, ["message", "answer", "name", "folder", "model", "section", "goal"]);
    await page.getByRole("link", { name: "Host" }).click();
    await expectOnlyText(page, ["value", "unknown-key", "provider"]);
    expect(faultsOf(visited)).toEqual([]);
  });
});
