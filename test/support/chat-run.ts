// `bobbin chat` with somebody at the terminal.
import { eventually } from "./eventually.ts";
import { freshFolder } from "./folder.ts";
import { BOBBIN, environment } from "./host-process.ts";
import { TerminalRun } from "./terminal-run.ts";

interface Place {
  readonly home?: string;
  readonly cwd?: string;
}

/** The prompt for a message. A question of a turn has another one. */
export const PROMPT = "\x1b[0J> \x1b[3G";

/** A chat on a terminal of 80 columns, at its first prompt. */
export async function chat({ home, cwd }: Place, ...args: readonly string[]) {
  const place = { home: home ?? (await freshFolder("home")), cwd: cwd ?? (await freshFolder("work")) };
  const run = await TerminalRun.start([process.execPath, BOBBIN, "chat", ...args], {
    cwd: place.cwd,
    env: environment(place.home),
    cols: 80,
  });
  await run.shows(PROMPT);
  return { run, ...place };
}

/** Waits for the prompt after so many turns, each of which ends with a line about tokens. */
export async function prompted(run: TerminalRun, turns: number): Promise<void> {
  await run.shows("\ntokens: ", turns);
  await eventually(
    () => run.shown.slice(run.shown.lastIndexOf("\ntokens: ")).includes(PROMPT),
    `the prompt after turn ${turns}`,
  );
}

export const threadOf = (run: TerminalRun): string => /thread (\S+)/.exec(run.shown)![1]!;

/** How often a text was shown. */
export const timesShown = (run: TerminalRun, text: string): number => run.shown.split(text).length - 1;
