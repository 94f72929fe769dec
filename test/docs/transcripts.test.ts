// Transcripts of pages: their commands print what is shown. Those of docs/commands.md have a test of their own.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnHost } from "../support/host-process.ts";
import { take } from "../support/markdown.ts";
import { Reader } from "../support/reader.ts";
import { TerminalRun } from "../support/terminal-run.ts";
import { linePattern, outputPattern, stepsOf } from "../support/transcript.ts";
import { notRunBy, type Snippet, usual } from "./snippet-list.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: what moves the cursor begins with one.
const MOVES = /\x1b\[[0-9;?]*[A-Za-z]/g;

/** Types what is behind `> ` when all before it is shown. */
async function runOnTerminal(reader: Reader, command: string, lines: readonly string[], at: string) {
  const run = await TerminalRun.start(["/bin/sh", "-c", command], reader);
  const shown = () => run.shown.replace(MOVES, "").replaceAll(reader.me, "/home/me");
  const shows = (wanted: readonly string[], what: string) =>
    eventually(() => hasInOrder(shown(), wanted), `${at}: ${what}`).catch((cause: Error) => {
      throw new Error(`${cause.message}\n${shown()}`);
    });
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith("> ")) continue;
    await shows([...lines.slice(0, index), "> "], line);
    await run.type(`${line.slice(2)}\r`);
  }
  await shows(lines, "the end");
  if (command === "bobbin chat") {
    await shows([...lines, "tokens: …", "> "], "the next prompt");
    // Ctrl-D leaves.
    await run.type("\u0004");
  }
  expect(await run.ended, at).toMatchObject({ code: 0 });
}

/** Whether a text has these lines in this order. There may be others between them. */
function hasInOrder(text: string, lines: readonly string[]): boolean {
  const there = text.split("\n");
  let at = 0;
  return lines.every((line) => {
    const pattern = new RegExp(`^${linePattern(line)}$`);
    const found = there.findIndex((one, index) => index >= at && pattern.test(one));
    at = found + 1;
    return found >= 0;
  });
}

/** What has to be there before a command is run, and has to be ended after it. */
async function prepare(command: string, { me, home, cwd }: Reader): Promise<void> {
  if (!/threads list|bobbin ps/.test(command)) return;
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"], env: { HOME: me } });
  const client = await host.join();
  const start = async (name: string) => {
    const threadId = await client.startThread({ cwd });
    await client.turn(threadId, "Hello!");
    await client.call("thread/name/set", { threadId, name });
    return threadId;
  };
  const first = await start("Make the tests pass");
  if (command.includes("threads list")) return;
  await client.call("thread/unsubscribe", { threadId: await start("Read the logs") });
  await client.say(first, "ask: Tea or coffee?");
  await client.waitFor(({ method }) => method === "item/tool/requestUserInput", "the question");
}

async function play(one: Snippet): Promise<void> {
  const reader = await Reader.at(/(?:\/home\/me|~)(\/[\w/]+shop)/.exec(one.text)?.[1] ?? "/shop");
  await mkdir(join(reader.cwd, "packages"));
  for (const { command, output } of stepsOf(one.text)) {
    await prepare(command, reader);
    if (output.some((line) => line.startsWith("> "))) await runOnTerminal(reader, command, output, one.at);
    else {
      const { text } = await reader.run(command);
      // A helper has another name each time. The line with the session's id is not shown on terminals.
      const printed = text.replace(/^\[\w+\]/gm, "[Muslin]").replace(/^session id: .*\n/gm, "");
      expect(printed, `${one.at}: ${command}`).toMatch(outputPattern(output));
    }
  }
  take(one.page, one);
}

it("[DOCS-12] shows what commands print, also those that ask", async () => {
  const blocks = await usual("console");
  expect(blocks.length).toBeGreaterThan(4);
  await Promise.all(blocks.map(play));
  expect(await notRunBy("test/docs/transcripts.test.ts")).toEqual([]);
});
