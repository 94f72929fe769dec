// Answers that people give in the console to questions of commands and models, and commands that they type.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { accessibilityFaults, hasBrowser, type Visit, visit } from "../support/browser.ts";
import { COMMAND_QUESTION, type CommandStage, commandStage, WRITES } from "../support/command-stage.ts";
import { consoleStage, send } from "../support/console-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { hasLocalName, localName } from "../support/local-name.ts";
import type { Reply } from "../support/mock-model.ts";
import { callTool, escalated, outputOf, run, say } from "../support/model-replies.ts";
import { hasSandbox } from "../support/sandbox-here.ts";

interface Opened extends CommandStage, Visit {
  readonly site: string;
}

/** A thread whose model gives these replies, opened in the console. */
async function opened(replies: readonly Reply[], top?: readonly string[]): Promise<Opened> {
  const stage = await commandStage(replies, top);
  const site = await stage.host.site();
  return { ...stage, site, ...(await visit(`${site}/#/thread/${stage.threadId}`)) };
}

const region = (page: Page, name: string): Locator => page.getByRole("region", { name });
const button = (card: Locator, name: string): Locator => card.getByRole("button", { name, exact: true });

describe.runIf(hasBrowser)("an approval in the console", () => {
  it("[CONSOLE-50] of a command for the session is not asked for again", async () => {
    const { page, faults, client, model } = await opened([
      escalated("echo same"),
      escalated("echo same", {}, "call_2"),
      say("Both ran."),
    ]);
    await send(page, "Run it twice");
    const card = region(page, "Run this command?");
    await button(card, "Yes, and do not ask again in this session").click();
    await page.getByText("Both ran.").waitFor();
    expect(client.count(COMMAND_QUESTION)).toBe(1);
    expect(outputOf(model, 2)).toContain("same");
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-50] of a command for good writes a rule for its prefix", async () => {
    const { page, faults, client, home } = await opened([
      escalated("ls -a"),
      escalated("ls -a .", {}, "call_2"),
      say("Both ran."),
    ]);
    await send(page, "Run them");
    await button(region(page, "Run this command?"), "Yes, and never ask again for “ls -a”").click();
    await page.getByText("Both ran.").waitFor();
    expect(client.count(COMMAND_QUESTION)).toBe(1);
    expect(await readFile(join(home, "rules", "default.rules"), "utf8")).toContain('["ls", "-a"]');
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-50] that ends the turn interrupts it, and the command does not run", async () => {
    const { page, faults, client, model } = await opened([escalated("echo never"), say("Unasked.")]);
    await send(page, "Run it");
    await button(region(page, "Run this command?"), "No, and end the turn").click();
    await page.getByText("Interrupted").waitFor();
    await page.getByRole("main").getByText("Idle").waitFor();
    expect(model.asked).toHaveLength(1);
    const [item] = client.told("item/completed").filter(({ params }) => params.item.id === "call_1");
    expect(item!.params.item.status).toBe("declined");
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-50] of input to a running program shows the input, once if it is for the session", async () => {
    const write =
      (chars: string, callId: string): Reply =>
      (response, request) => {
        const [, id] = /session ID (\d+)/.exec(JSON.stringify(request.body.input))!;
        return callTool("write_stdin", { session_id: Number(id), chars }, callId)(response, request);
      };
    const { page, faults, client } = await opened([
      escalated("cat", { tty: true, yield_time_ms: 250 }),
      write("one <b>\n", "call_2"),
      write("two\n", "call_3"),
      say("Both were sent."),
    ]);
    await send(page, "Talk to it");
    await button(region(page, "Run this command?"), "Yes").click();
    const card = region(page, "Send this to the running program?");
    await card.getByText('"one <b>\\n"').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await button(card, "Yes, and do not ask again in this session").click();
    await page.getByText("Both were sent.").waitFor();
    expect(client.count(COMMAND_QUESTION)).toBe(2);
    const sent = client.told("item/commandExecution/terminalInteraction").map(({ params }) => params.stdin);
    expect(sent).toEqual(["one <b>\n", "two\n"]);
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-34] for permissions is given for the session", async () => {
    const outside = await freshFolder("outside");
    const wanted = { reason: "To publish it", permissions: { file_system: { write: [outside] } } };
    const { page, faults, client, model, threadId } = await opened([
      callTool("request_permissions", wanted),
      say("Given."),
    ]);
    await send(page, "Publish");
    await button(region(page, "Give these permissions?"), "For this session").click();
    await page.getByText("Given.").waitFor();
    expect(outputOf(model)).toContain("session");
    const { data } = await client.call("thread/grants/list", { threadId });
    expect(JSON.stringify(data)).toContain(outside);
    expect(faults).toEqual([]);
  });
});

describe.runIf(hasBrowser && hasSandbox && hasLocalName)("an approval of a connection", () => {
  it("[CONSOLE-50] names the host, refuses it, or allows it for good", async () => {
    const { name, address } = localName!;
    let served = 0;
    const server = createServer((_, reply) => {
      served++;
      reply.end("hello from outside\n");
    });
    await new Promise<void>((done) => server.listen(0, address, done));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const curl = `curl -sS http://${name}:${port}/`;
    const { page, faults, client, model } = await opened(
      [
        run({ cmd: curl }),
        say("Refused."),
        run({ cmd: curl }, "call_2"),
        run({ cmd: curl }, "call_3"),
        say("Fetched."),
      ],
      [
        ...WRITES.slice(1),
        'default_permissions = "net"',
        "[permissions.net]",
        'extends = ":workspace"',
        "[permissions.net.network]",
        "enabled = true",
        "[permissions.net.network.domains]",
        `"${address}" = "allow"`,
      ],
    );
    const card = region(page, `Allow a connection to ${name}?`);
    await send(page, "Fetch it");
    await card.getByText(`On port ${port}`).waitFor();
    await card.getByText(`http · ${name}`).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await button(card, "No").click();
    await page.getByText("Refused.").waitFor();
    expect(served).toBe(0);
    await send(page, "Try again");
    await button(card, `Always allow ${name}`).click();
    await page.getByText("Fetched.").waitFor();
    expect(served).toBe(2);
    expect(client.count(COMMAND_QUESTION)).toBe(2);
    expect(outputOf(model, 4)).toContain("hello from outside");
    expect(faults).toEqual([]);
  });
});

describe.runIf(hasBrowser)("a question of the model to two people", () => {
  it("[CONSOLE-4] is answered by the first of them, and removed for the other", async () => {
    const options = ["Tea", "Coffee"].map((label) => ({ label, description: "Hot" }));
    const questions = [{ id: "drink", header: "Drink", question: "Tea or coffee?", options }];
    const ada = await opened([callTool("request_user_input", { questions }), say("Served.")]);
    const bob = await visit(ada.page.url());
    await send(ada.page, "Ask us");
    const [hers, his] = [ada.page, bob.page].map((page) => region(page, "Tea or coffee?"));
    await his!.getByRole("radio", { name: /Coffee/ }).check();
    await hers!.getByRole("radio", { name: /Tea/ }).check();
    await button(hers!, "Answer").click();
    await his!.waitFor({ state: "detached" });
    for (const { page } of [ada, bob]) {
      await page.getByText("Served.").waitFor();
      expect(await region(page, "Tea or coffee?").count()).toBe(0);
    }
    const output = outputOf(ada.model);
    expect(output).toContain("Tea");
    expect(output).not.toContain("Coffee");
    expect([...ada.faults, ...bob.faults]).toEqual([]);
  });
});

describe.runIf(hasBrowser)("a command that is typed in the console", () => {
  it("[CONSOLE-14] reviews the work, and changes the model", async () => {
    const { page, faults, client, model, threadId } = await opened([
      say("Looks good, in short."),
      say("By another model."),
    ]);
    await page.getByText("Nothing was said yet.").waitFor();
    await send(page, "/review Only the tests");
    await page.getByText(/Review began: .*Only the tests/).waitFor();
    await page.getByRole("article", { name: "Review" }).getByText("Looks good, in short.").waitFor();
    await page.getByRole("main").getByText("Idle").waitFor();
    expect(JSON.stringify(model.asked[0]!.body.input)).toContain("Only the tests");
    // With a space behind it, Enter does not choose a suggestion.
    await send(page, "/model ");
    await page
      .getByRole("alert")
      .getByText(/^Name a model, for example: /)
      .waitFor();
    await send(page, "/model other-model");
    await page.getByText("The next turns use the model other-model.").waitFor();
    await send(page, "Hello");
    await page.getByText("By another model.").waitFor();
    expect(model.asked.map(({ body }) => body.model)).toEqual(["mock-model", "other-model"]);
    expect((await client.call("thread/read", { threadId })).thread.model).toBe("other-model");
    expect(faults).toEqual([]);
  });

  it("[CONSOLE-14] reviews uncommitted changes if nothing is behind its name", async () => {
    const stage = await consoleStage();
    const client = await stage.host.join(undefined, { experimentalApi: true });
    const threadId = await client.startThread({ cwd: stage.cwd });
    stage.model.reply(say("Nothing to say."));
    const { page, faults } = await visit(`${stage.site}/#/thread/${threadId}`);
    await send(page, "/review ");
    await page.getByRole("article", { name: "Review" }).getByText("Nothing to say.").waitFor();
    await eventually(() => client.count("turn/completed") === 1, "the review ends");
    expect(await page.getByText(/^Review began: /).textContent()).toContain("current changes");
    expect(faults).toEqual([]);
  });
});
