// `bobbin chat` on a host in another process that ends and comes back.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { chat as anyChat, PROMPT, prompted, threadOf, timesShown } from "../support/chat-run.ts";
import { inTwoParts } from "../support/client-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, silent } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import type { TerminalRun } from "../support/terminal-run.ts";

const LOST = "The connection to the host was lost; reconnecting …\n";
const BACK = "Connected again.\n";

/** However slow the machine is. */
const PATIENT = ["--reconnect", "600"];
const chat = (place: Parameters<typeof anyChat>[0]) => anyChat(place, ...PATIENT);

/** Resolves when the host listens. */
async function startListening(home: string, address = "ws://127.0.0.1:0") {
  const host = await spawnHost({ home, args: ["--listen", address] });
  await host.urls();
  return host;
}

/** Waits for a new prompt behind the last place of a text. */
async function promptedAfter(run: TerminalRun, text: string): Promise<void> {
  await run.shows(text);
  await eventually(() => run.shown.slice(run.shown.lastIndexOf(text)).includes(PROMPT), "the prompt");
}

it("[CHAT-8] goes on over a host that is killed, and sends what was typed meanwhile once", async () => {
  const home = await freshFolder("home");
  const first = await startListening(home, "unix://");
  const { run } = await chat({ home });
  await run.type("Hello!\r");
  await run.shows("You said: Hello!");
  await prompted(run, 1);
  await run.type("half a ");
  await run.shows("half a ");
  await first.kill();
  await promptedAfter(run, LOST);
  // What was typed is there again.
  await run.shows("half a ", 2);
  await run.type("message\r");
  await run.shows("half a message\n");
  const second = await startListening(home, "unix://");
  await run.shows(BACK);
  await run.shows("message 2 of this thread");
  await prompted(run, 2);
  expect(timesShown(run, "You said: half a message")).toBe(1);
  expect(timesShown(run, "You said: Hello!")).toBe(1);
  const client = await second.join(await second.url("unix"), { experimentalApi: true });
  const { thread } = await client.call("thread/read", { threadId: threadOf(run), includeTurns: true });
  expect(thread.turns).toHaveLength(2);
  await run.type("\x04");
  expect((await run.ended).code).toBe(0);
  expect([timesShown(run, LOST), timesShown(run, BACK)]).toEqual([1, 1]);
});

it("[CHAT-8] shows a turn that was cut off in mid-stream to its end, and nothing twice", async () => {
  const answer = inTwoParts("Said before. ", "never said");
  const model = await MockModel.start(answer.reply, say("Said after."));
  const { home, cwd } = await modelHome("responses", model.url);
  const first = await startListening(home);
  const { run } = await chat({ home, cwd });
  await run.type("Talk\r");
  await run.shows("Said before. ");
  await first.kill();
  await run.shows(LOST);
  await startListening(home);
  await run.shows(BACK);
  await promptedAfter(run, "\ninterrupted\n");
  answer.letGo();
  await run.type("Again\r");
  await promptedAfter(run, "Said after.");
  await run.type("\x04");
  expect((await run.ended).code).toBe(0);
  expect(timesShown(run, "Said before.")).toBe(1);
  expect(timesShown(run, "Another client")).toBe(0);
  expect(model.asked).toHaveLength(2);
});

it("[CHAT-8] shows a turn that a restarted host takes up to its end", async () => {
  const model = await MockModel.start(silent(""), say("Said after all."));
  const { home, cwd } = await modelHome("responses", model.url);
  const first = await startListening(home);
  const { run } = await chat({ home, cwd });
  await run.type("Talk\r");
  await eventually(() => model.asked.length === 1, "the model is asked");
  await first.kill();
  await run.shows(LOST);
  await startListening(home);
  await promptedAfter(run, "Said after all.");
  expect(timesShown(run, "Said after all.")).toBe(1);
  await run.type("\x04");
  expect((await run.ended).code).toBe(0);
});

it("[CHAT-8] follows the thread on the next host after a shutdown, and shows what others do there", async () => {
  const home = await freshFolder("home");
  const first = await startListening(home);
  const { run } = await chat({ home });
  await run.type("Hello!\r");
  await prompted(run, 1);
  const threadId = threadOf(run);
  // Its end is seen when its output is read.
  first.stdio();
  first.signal("SIGTERM");
  expect((await first.exited).code).toBe(0);
  await run.shows(LOST);
  const second = await startListening(home);
  const client = await second.join(undefined, { experimentalApi: true });
  await run.shows(BACK);
  await client.call("thread/resume", { threadId });
  await client.turn(threadId, "Hello from elsewhere");
  await promptedAfter(run, "You said: Hello from elsewhere");
  await run.type("And again\r");
  await promptedAfter(run, "message 3 of this thread");
  await run.type("\x04");
  expect((await run.ended).code).toBe(0);
  expect(timesShown(run, "> Hello from elsewhere\n")).toBe(1);
  expect(timesShown(run, "You said: Hello from elsewhere")).toBe(1);
});

it("[CHAT-8] keeps a question open over a host that is killed, and sends its answer once", async () => {
  const home = await freshFolder("home");
  const first = await startListening(home);
  const { run } = await chat({ home });
  await run.type("ask: Tea or coffee? | Tea | Coffee\r");
  await run.shows("to leave it open.\n> ");
  await first.kill();
  await run.shows(LOST);
  await startListening(home);
  await run.shows(BACK);
  await run.type("2\r");
  await run.shows('["Coffee"]');
  await prompted(run, 1);
  expect(timesShown(run, "Type a number or an answer")).toBe(1);
  await run.type("\x04");
  expect((await run.ended).code).toBe(0);
});

it("[CHAT-8] reports a gap when the host has lost what was shown, and goes on", async () => {
  const home = await freshFolder("home");
  const first = await startListening(home);
  const { run } = await chat({ home });
  await run.type("one\r");
  await prompted(run, 1);
  const [journal] = (await readdir(join(home, "sessions"), { recursive: true })).filter((name) =>
    name.endsWith(".jsonl"),
  );
  const path = join(home, "sessions", journal!);
  const kept = await readFile(path, "utf8");
  await run.type("two\r");
  await prompted(run, 2);
  // A power cut: what was written last is not on the disk.
  await first.kill();
  await writeFile(path, kept);
  await startListening(home);
  await promptedAfter(run, "Some of what happened meanwhile cannot be shown here");
  await run.type("three\r");
  await promptedAfter(run, "You said: three");
  await run.type("\x04");
  expect((await run.ended).code).toBe(0);
});

it("[CHAT-8] goes on without a terminal, too", async () => {
  const model = await MockModel.start(silent(""), say("One."), say("Two."));
  const { home } = await modelHome("responses", model.url);
  const first = await startListening(home);
  const running = runBobbin(["chat", ...PATIENT], { env: { BOBBIN_HOME: home }, input: "First\nSecond\n" });
  await eventually(() => model.asked.length === 1, "the model is asked");
  await first.kill();
  await startListening(home);
  const ran = await running;
  expect([ran.code, ran.stdout]).toEqual([0, "One.\n\nTwo.\n"]);
  expect(ran.stderr).toContain(LOST + BACK);
});

it("[CHAT-8] goes on with another host of the home", async () => {
  const home = await freshFolder("home");
  const first = await startListening(home);
  const { run } = await chat({ home });
  await run.type("Hello!\r");
  await prompted(run, 1);
  const second = await startListening(home);
  await first.kill();
  await promptedAfter(run, BACK);
  await run.type("And again\r");
  await promptedAfter(run, "message 2 of this thread");
  const client = await second.join(undefined, { experimentalApi: true });
  const { data } = await client.call("thread/loaded/list", {});
  expect(data).toEqual([threadOf(run)]);
  await run.type("\x04");
  expect((await run.ended).code).toBe(0);
});

it("[CHAT-8] ends with 1 and says so when no host comes back in time", async () => {
  const home = await freshFolder("home");
  const first = await startListening(home);
  const [{ run: patient }, { run: hasty }, { run: leaving }] = await Promise.all([
    anyChat({ home }, "--reconnect", "1"),
    anyChat({ home }, "--reconnect", "0"),
    anyChat({ home }),
  ]);
  await first.kill();
  // Somebody who does not want to wait leaves as always.
  await promptedAfter(leaving, LOST);
  await leaving.type("\x04");
  expect((await leaving.ended).code).toBe(0);
  expect((await hasty.ended).code).toBe(1);
  expect(hasty.shown).toContain("bobbin: the connection to the host has ended");
  expect(hasty.shown).toContain(`bobbin chat --resume ${threadOf(hasty)}\n`);
  expect((await patient.ended).code).toBe(1);
  expect(patient.shown).toContain(LOST);
  expect(patient.shown).toContain(
    "bobbin: the connection to the host was lost, and no host answered within 1 s\n",
  );
  expect(patient.shown).toContain(`bobbin chat --resume ${threadOf(patient)}\n`);
});
