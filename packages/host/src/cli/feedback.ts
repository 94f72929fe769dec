import { resolve } from "node:path";
import { messageOf } from "../errors.ts";
import type { FeedbackOptions } from "./feedback-command.ts";
import { withClient } from "./in-process-host.ts";
import { escapeControls, Output } from "./terminal-output.ts";

/** Creates a problem report and prints its path. Resolves with the exit code. */
export async function makeFeedback(
  options: FeedbackOptions,
  overrides: readonly string[] = [],
): Promise<number> {
  const stdout = new Output(process.stdout);
  const feedback = {
    classification: options.classification,
    reason: options.reason ?? null,
    threadId: options.thread ?? null,
    includeLogs: options.logs,
    extraLogFiles: (options.file ?? []).map((path) => resolve(path)),
  };
  try {
    await withClient(
      "feedback",
      overrides,
      async (client) => {
        const made =
          options.output === undefined
            ? await client.request("feedback/upload", feedback)
            : await client.request("feedback/save", { ...feedback, savePath: resolve(options.output) });
        if (options.json) return stdout.line(JSON.stringify(made, null, 2));
        stdout.line(`The report is in ${escapeControls(made.savedPath ?? "")}.`);
        if (options.thread !== undefined && made.promptHash === null)
          stdout.line(
            `There is no thread ${escapeControls(options.thread)} that can be read: the report has no journal.`,
          );
        if ("sentTo" in made && made.sentTo !== undefined)
          stdout.line(`It was sent to ${escapeControls(made.sentTo)}.`);
        else stdout.line("It was sent nowhere. Look into it before you give it to somebody else.");
      },
      // An invalid configuration may be the problem that the user reports.
      { withBrokenConfig: true },
    );
  } catch (cause) {
    process.stderr.write(`bobbin: ${escapeControls(messageOf(cause))}\n`);
    return 1;
  }
  await stdout.flushed();
  return 0;
}
