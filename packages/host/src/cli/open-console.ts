import { homeDirectory } from "../config/home-folder.ts";
import { requestConsoleLink } from "./console-link.ts";
import { openBrowser } from "./open-browser.ts";
import { Output } from "./terminal-output.ts";
import { shortPath } from "./thread-summary-text.ts";

/** `bobbin open`. Resolves with the exit code. */
export async function openConsole({ print = false }: { readonly print?: boolean }): Promise<number> {
  const stdout = new Output(process.stdout);
  const stderr = new Output(process.stderr);
  const home = homeDirectory();
  const link = await requestConsoleLink(home);
  if (link === undefined) {
    stderr.line(stderr.red(`bobbin: no host with an address for browsers runs on ${shortPath(home)}`));
    stderr.line("Start one:  bobbin app-server --listen ws://127.0.0.1:4545");
    await stderr.flushed();
    return 1;
  }
  const hasToken = link.includes("#");
  if (print) stdout.line(link);
  // Printed without the token, which only the browser needs.
  else if (await openBrowser(link)) stdout.line(`Opened ${new URL(link).origin} in the browser.`);
  else {
    stdout.line(link);
    const advice = "There is no browser to start here: open this link yourself";
    stderr.line(hasToken ? `${advice}, within ten minutes. It works once.` : `${advice}.`);
  }
  await stdout.flushed();
  await stderr.flushed();
  return 0;
}
