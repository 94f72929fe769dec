// `bobbin chat`: with somebody at the terminal, and with pipes.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ProgramExit } from "../../packages/host/src/platform/platform.ts";
import { chat, PROMPT, prompted, threadOf } from "../support/chat-run.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel, silent } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { runBobbin } from "../support/run-bobbin.ts";

/** A host on a socket, and a client of it. */
async function runningHost(home: string) {
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  return { host, client: await host.join(undefined, { experimentalApi: true }) };
}

describe("somebody at the terminal", () => {
  it("[CHAT-1] talks turn after turn, leaves with Ctrl-D, and goes on later", async () => {
    const { run, home, cwd } = await chat({});
    await run.type("Hello!\r");
    await run.shows("You said: Hello!");
    await prompted(run, 1);
    await run.type("And again\r");
    await run.shows("message 2 of this thread");
    await prompted(run, 2);
    await run.type("\x04");
    expect(await run.ended).toEqual({ code: 0, signal: null });
    const threadId = threadOf(run);
    expect(run.shown).toContain(`bobbin chat --resume ${threadId}\n`);

    const later = await chat({ home, cwd }, "--resume");
    expect(threadOf(later.run)).toBe(threadId);
    expect(later.run.shown).toMatch(/> Hello!\n\n.*You said: Hello!.*> And again\n/s);
    // The arrow keys bring back what was said earlier.
    await later.run.type("\x1b[A\x1b[A");
    await later.run.shows("> Hello!", 2);
    await later.run.type("\r");
    await later.run.shows("message 3 of this thread");
    await prompted(later.run, 1);
    await later.run.type("/quit\r");
    expect((await later.run.ended).code).toBe(0);
  });

  it("[CHAT-2] answers approvals and questions in place, and sees diffs", async () => {
    const { run, cwd } = await chat({});
    await run.type("write notes.txt: Hello!\r");
    await run.shows("[c] no, and end the turn\n> ");
    expect(run.shown).toContain(`Change this file?\n  add ${join(cwd, "notes.txt")}\n  +Hello!\n`);
    expect(existsSync(join(cwd, "notes.txt"))).toBe(false);
    await run.type("y\r");
    await run.shows("Success. Updated the following files:");
    expect(await readFile(join(cwd, "notes.txt"), "utf8")).toBe("Hello!\n");
    await prompted(run, 1);
    await run.type("ask: Tea or coffee? | Tea | Coffee\r");
    await run.shows("to leave it open.\n> ");
    await run.type("2\r");
    await run.shows('["Coffee"]');
    await prompted(run, 2);
    await run.type("\x04");
    expect((await run.ended).code).toBe(0);

    const auto = await chat({}, "--full-auto");
    await auto.run.type("write a.txt: One\r");
    await auto.run.shows(
      `completed: add ${join(auto.cwd, "a.txt")}\n  add ${join(auto.cwd, "a.txt")}\n  +One\n`,
    );
  });

  it("[CHAT-3] interrupts a turn with Ctrl-C, and leaves with two more", async () => {
    const model = await MockModel.start(silent(""));
    const { home, cwd } = await modelHome("responses", model.url);
    const { run } = await chat({ home, cwd });
    await run.type("Think\r");
    await run.shows("Think\n");
    await eventually(() => model.asked.length === 1, "the model is asked");
    await run.type("\x03");
    await run.shows("Interrupting; Ctrl-C again leaves.");
    await run.shows("\ninterrupted\n");
    await run.shows(PROMPT, 2);
    // What is typed is dropped first.
    await run.type("half\x03");
    await run.shows("^C");
    await run.type("\x03");
    await run.shows("\nCtrl-C again leaves.\n");
    await run.type("\x03");
    expect((await run.ended).code).toBe(130);
  });

  it("[CHAT-3] leaves with a second Ctrl-C during a turn that does not end", async () => {
    const model = await MockModel.start(silent(""));
    const { home, cwd } = await modelHome("responses", model.url);
    const { host } = await runningHost(home);
    const { run } = await chat({ home, cwd });
    await run.type("Think\r");
    await eventually(() => model.asked.length === 1, "the model is asked");
    // A host that stands still does not interrupt the turn.
    host.signal("SIGSTOP");
    onTestFinished(() => host.signal("SIGCONT"));
    await run.type("\x03");
    await run.shows("Interrupting; Ctrl-C again leaves.");
    let exit: ProgramExit | undefined;
    void run.ended.then((ended) => {
      exit = ended;
    });
    // One that follows the first at once may be the same one, from npm.
    await eventually(async () => {
      if (exit === undefined) await run.type("\x03").catch(() => {});
      return exit !== undefined;
    }, "the chat ends");
    // The chat ends itself: it does not wait for a host, nor for a further Ctrl-C that would kill it.
    expect(exit).toEqual({ code: 130, signal: null });
  });

  it.each(["\x04", "/quit\r"])("[CHAT-3] leaves with %j although the host stands still", async (keys) => {
    const home = await freshFolder("home");
    const { host } = await runningHost(home);
    const { run } = await chat({ home });
    host.signal("SIGSTOP");
    onTestFinished(() => host.signal("SIGCONT"));
    await run.type(keys);
    expect(await run.ended).toEqual({ code: 0, signal: null });
  });

  it("[CHAT-3] leaves with Ctrl-C while a command waits for a host that stands still", async () => {
    const home = await freshFolder("home");
    const { host } = await runningHost(home);
    const { run } = await chat({ home });
    host.signal("SIGSTOP");
    onTestFinished(() => host.signal("SIGCONT"));
    await run.type("/name Mine\r");
    await run.shows("Mine\n");
    await run.type("\x03");
    expect(await run.ended).toEqual({ code: 130, signal: null });
  });

  it("[CHAT-4] pastes several lines as one message", async () => {
    const { run } = await chat({});
    await run.type("one\rtwo\rthree");
    await run.shows("… ");
    await run.type("\r");
    await run.shows("You said: one\ntwo\nthree\n");
  });

  it("[CHAT-5] is shown control characters of a model as signs", async () => {
    const model = await MockModel.start(say("\x1b]0;evil\x07\x1b[2J\u202eok"));
    const { home, cwd } = await modelHome("responses", model.url);
    const { run } = await chat({ home, cwd });
    await run.type("Hello!\r");
    await run.shows("␛]0;evil␇␛[2J\ufffdok");
    await prompted(run, 1);
    expect(run.raw).not.toContain("\x1b]0;");
    expect(run.raw).not.toContain("\x1b[2J");
    expect(run.raw).not.toContain("\u202e");
  });
});

describe("on a host that runs on the home", () => {
  it("[CHAT-6] shows turns of other clients, and withdraws a question that they answer", async () => {
    const home = await freshFolder("home");
    const { client } = await runningHost(home);
    const { run } = await chat({ home });
    await run.type("Hello!\r");
    await run.shows("You said: Hello!");
    await prompted(run, 1);
    const threadId = threadOf(run);
    await client.call("thread/resume", { threadId });
    // What is typed already is kept.
    await run.type("draft");
    await run.shows("draft");
    await client.turn(threadId, "Hello from elsewhere");
    await run.shows(
      "draft\nAnother client has started a turn. Ctrl-C interrupts it.\n> Hello from elsewhere\n",
    );
    await run.shows("You said: Hello from elsewhere");
    await prompted(run, 2);
    await run.shows("draft", 2);
    await run.type("\x15ask: Tea or coffee? | Tea | Coffee\r");
    await run.shows("to leave it open.\n> ");
    const { id, params } = await client.about(threadId, "item/tool/requestUserInput");
    const answers = { [params.questions[0].id]: { answers: ["Tea"] } };
    client.send({ id, result: { answers } });
    await run.shows('["Tea"]');
    await prompted(run, 3);
    await run.type("\x04");
    expect((await run.ended).code).toBe(0);
  });
});

describe("with pipes", () => {
  it("[CHAT-7] takes every line as a message, and writes only answers to stdout", async () => {
    const ran = await runBobbin(["chat"], { input: "Hello!\n\nwrite notes.txt: Hello!\n" });
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(/^This is Bobbin's .*You said: Hello!.*The patch was not applied: no client/s);
    expect(ran.stdout).not.toContain("\x1b");
    expect(ran.stderr).toMatch(/^model offline · folder .* · thread \S+\n/);
    expect(ran.stderr).toContain("notes.txt? → declined\n  On a terminal you are asked.\n");
  });

  it("[CHAT-7] ends with 1 if a turn failed, after the others, and refuses wrong usage with 2", async () => {
    const model = await MockModel.start(
      (response) => void response.writeHead(400).end('{"error":{"message":"no"}}'),
      say("Better"),
    );
    const { home } = await modelHome("responses", model.url, { provider: ["request_max_retries = 0"] });
    const ran = await runBobbin(["chat"], { env: { BOBBIN_HOME: home }, input: "One\nTwo\n" });
    expect([ran.code, ran.stdout]).toEqual([1, "Better\n"]);
    const unknown = await runBobbin(["chat", "--resume", "nothing"]);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('the id or name "nothing"')]);
    expect((await runBobbin(["chat", "--cd", "/no/such/folder"])).code).toBe(2);
  });
});
