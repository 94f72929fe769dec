import type { Command } from "commander";
import { wholeNumber } from "./whole-number.ts";

const ID = "the id of the thread, its beginning, or its name";
const IDS = "ids of threads, their beginnings, or names";

export function addThreads(bobbin: Command): void {
  const threads = bobbin
    .command("threads")
    .description("List, search, show and change threads.")
    .addHelpText("after", NOTES);
  threads
    .command("list")
    .description("List threads, the one used last first.")
    .option("-n, --limit <count>", "how many to list", wholeNumber(1), 20)
    .option("--archived", "list the archived ones instead")
    .option("-C, --cd <dir>", "only those that work in this folder")
    .option("--json", "print them as JSON")
    .action(async (options, self: Command) => {
      const { listThreads } = await import("./threads-list.ts");
      process.exitCode = await listThreads({ ...options, ...globals(self) });
    });
  threads
    .command("search")
    .description("Find threads by a text in their messages. Exits with 1 if there are none.")
    .argument("<text...>", "the text")
    .option("-n, --limit <count>", "how many to list", wholeNumber(1), 20)
    .option("--archived", "search the archived ones instead")
    .option("--json", "print them as JSON, each with the place of the text")
    .action(async (words: string[], options, self: Command) => {
      const { searchThreads } = await import("./threads-list.ts");
      process.exitCode = await searchThreads(words.join(" "), { ...options, ...globals(self) });
    });
  threads
    .command("show")
    .description("Show a thread and its last turns, without loading it.")
    .argument("<thread>", ID)
    .option("-t, --turns <count>", "how many of its last turns to show", wholeNumber(0), 5)
    .option("--json", "print the thread with all its turns as JSON")
    .action(async (thread: string, options, self: Command) => {
      const { showThread } = await import("./threads-show.ts");
      process.exitCode = await showThread(thread, { ...options, ...globals(self) });
    });
  threads
    .command("rename")
    .description("Give a thread a name.")
    .argument("<thread>", ID)
    .argument("<name...>", "the new name")
    .option("--json", "print the outcome as JSON")
    .action(async (thread: string, words: string[], options, self: Command) => {
      const { renameThread } = await import("./threads-edit.ts");
      process.exitCode = await renameThread(thread, words.join(" "), { ...options, ...globals(self) });
    });
  for (const how of ["archive", "unarchive"] as const) {
    threads
      .command(how)
      .description(
        how === "archive"
          ? "Unload threads and put them away. Nothing is lost."
          : "Bring archived threads back.",
      )
      .argument("<thread...>", IDS)
      .option("--json", "print the outcomes as JSON")
      .action(async (given: string[], options, self: Command) => {
        const { archiveThreads } = await import("./threads-edit.ts");
        process.exitCode = await archiveThreads(given, how, { ...options, ...globals(self) });
      });
  }
  threads
    .command("delete")
    .description("Delete threads with their history, for good. Asks first.")
    .argument("<thread...>", IDS)
    .option("-y, --yes", "do not ask")
    .option("--json", "print the outcomes as JSON")
    .action(async (given: string[], options, self: Command) => {
      const { deleteThreads } = await import("./threads-edit.ts");
      process.exitCode = await deleteThreads(given, { ...options, ...globals(self) });
    });
  threads
    .command("unload")
    .description("Unload threads that nobody uses. Exits with 1 if one stays loaded.")
    .argument("<thread...>", IDS)
    .option("--interrupt", "end its running turn first")
    .option("--json", "print the outcomes as JSON")
    .action(async (given: string[], options, self: Command) => {
      const { unloadThreads } = await import("./threads-edit.ts");
      process.exitCode = await unloadThreads(given, { ...options, ...globals(self) });
    });
  threads
    .command("fork")
    .description("Make a new thread with the history of another one. Prints its id.")
    .argument("<thread>", ID)
    .option("--name <name>", "the name of the new thread")
    .option("--json", "print the new thread as JSON")
    .action(async (thread: string, options, self: Command) => {
      const { forkThread } = await import("./threads-edit.ts");
      process.exitCode = await forkThread(thread, { ...options, ...globals(self) });
    });
}

export function addPs(bobbin: Command): void {
  bobbin
    .command("ps")
    .description("Show which threads are loaded, and why.")
    .option("--json", "print them as JSON")
    .addHelpText("after", PS_NOTES)
    .action(async (options: { json?: boolean }) => {
      const { ps } = await import("./ps.ts");
      process.exitCode = await ps(options);
    });
}

function globals(self: Command): { readonly config?: readonly string[] } {
  return { config: self.optsWithGlobals().config };
}

const NOTES = `
The commands use the host that runs on this home (see bobbin --help).
If none runs, or with -c, they start one of their own for as long as they take.

Exit code: 0 if it was done, 1 if not (stderr says why), 2 if the command line
is wrong.

Examples:
  bobbin threads list -C .                         those of this folder
  bobbin threads search "race condition"
  bobbin threads show 019a7c2e                  the beginning of an id is enough
  bobbin threads list --json | jq -r '.[].id'
  bobbin threads delete --yes 019a7c2e 019a7c30
`;

const PS_NOTES = `
Asks every host of this home that listens on a socket. A thread stays loaded
while a client follows it, while a turn, a question, a tool call or a helper is
under way, and for a delay after that.

Exit code: 0, also if nothing is loaded.
`;
