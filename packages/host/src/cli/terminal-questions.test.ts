import { PassThrough } from "node:stream";
import type { ReadStream } from "node:tty";
import { expect, it } from "vitest";
import { Output } from "./terminal-output.ts";
import { TerminalUser } from "./terminal-questions.ts";

it("[APPROVE-14] shows each text of a question on one line, with everything that is invisible", async () => {
  const screen = Object.assign(new PassThrough(), { isTTY: true });
  const keyboard = Object.assign(new PassThrough(), { isTTY: true });
  const user = TerminalUser.at(keyboard as unknown as ReadStream as never, new Output(screen))!;
  const answered = user.approve(
    {
      question: "Run this?\n  $ ls",
      details: ["why: fine\n  $ ls\r\u202e", "$ rm\tx\u200b"],
      choices: [{ key: "y", says: "yes\nno", answer: "accept" }],
    },
    new AbortController().signal,
  );
  let shown = "";
  for await (const bytes of screen) {
    shown += bytes;
    if (shown.endsWith("> ")) break;
  }
  keyboard.write("y\n");
  expect(await answered).toBe("accept");
  expect(shown).toBe("\nRun this?␊  $ ls\n  why: fine␊  $ ls␍<U+202E>\n  $ rm\tx<U+200B>\n  [y] yes␊no\n> ");
});
