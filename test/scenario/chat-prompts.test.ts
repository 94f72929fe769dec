// Saved prompts at the terminal.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { BOBBIN, environment } from "../support/host-process.ts";
import { TerminalRun } from "../support/terminal-run.ts";

/** The prompt for a message. */
const PROMPT = "\x1b[0J> \x1b[3G";

it("[PROMPT-7] are listed, expanded and sent, and missing arguments are named", async () => {
  const home = await freshFolder();
  const cwd = await freshFolder("work");
  await mkdir(join(home, "prompts"));
  await writeFile(
    join(home, "prompts", "greet.md"),
    "---\ndescription: Greets \u001b[31msomebody\nargument-hint: WHO=<name>\n---\nSay hello to $WHO. $ARGUMENTS",
  );
  await writeFile(join(home, "prompts", "empty.md"), "");
  const run = await TerminalRun.start([process.execPath, BOBBIN, "chat"], {
    cwd,
    env: environment(home),
    cols: 200,
  });
  /** Types a line, and waits for the prompt after what it shows. */
  const typed = async (line: string, shown: string) => {
    const from = run.shown.length;
    await run.type(`${line}\r`);
    const after = () => run.shown.indexOf(shown, from);
    await eventually(() => after() >= 0 && run.shown.includes(PROMPT, after()), `${line} shows ${shown}`);
  };
  await run.shows(PROMPT);
  await typed("/help", "/prompts:NAME ARGUMENTS sends one");
  await typed("/prompts", "/prompts:greet WHO=<name>  Greets");
  expect(run.shown).toContain(`${join(home, "prompts", "empty.md")}: the prompt is empty`);
  expect(run.shown).not.toContain("\u001b[31msomebody");
  await typed("/prompts:greet you", "/prompts:greet needs WHO. Write: /prompts:greet WHO=<name>");
  await typed("/prompts:none", 'there is no prompt named "none"');
  await typed("/prompts:greet WHO='Ann B' Now.", "You said: Say hello to Ann B. Now.");
  await run.type("\x04");
  expect(await run.ended).toMatchObject({ code: 0 });
});
