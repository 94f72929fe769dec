import type { Command } from "commander";
import { ACCESS_NOTES, addTurnOptions } from "./turn-options.ts";
import { wholeNumber } from "./whole-number.ts";

export function addChat(bobbin: Command): void {
  const chat = bobbin
    .command("chat")
    .description("Talk with a model in the terminal, turn after turn.")
    .option(
      "--resume [thread]",
      "go on with a thread: its id, the beginning of its id, or its name (without one: the thread of this folder that was used last)",
    )
    .option(
      "--reconnect <seconds>",
      "how long to look for the host again when the connection to it is lost",
      wholeNumber(0),
      60,
    );
  addTurnOptions(chat)
    .addHelpText("after", NOTES)
    .action(async (options, self: Command) => {
      const { chat: run } = await import("./chat.ts");
      const { config } = self.optsWithGlobals();
      process.exitCode = await run({ ...options, config }, (problem) => self.error(`error: ${problem}`));
    });
}

const NOTES = `${ACCESS_NOTES}
Without a preset, approvals and questions are answered in place. Ctrl-C
interrupts a turn, and a second one leaves; at the prompt Ctrl-D leaves. The
arrow keys bring earlier messages back. Other clients may follow the same
thread: what they start is shown. The first answer to a question counts.

If stdin, stdout or stderr is no terminal, every line of stdin is a message,
answers go to stdout, and approvals are declined.

The chat uses the host that runs on this home (see bobbin --help). If
none runs, and with -c or --profile, it uses one of its own that ends with it.
If a host that it uses is restarted, the chat reconnects, shows what it missed,
and sends what you typed meanwhile. After --reconnect seconds it gives up.

Exit code: 0 if you left, 1 if the chat could not go on (without a terminal also
if a turn failed), 2 if the command line is wrong, 130 after Ctrl-C.

Examples:
  bobbin chat
  bobbin chat --resume                    the last one of this folder
  bobbin chat --resume 019a7c2e --full-auto
  printf 'Hello!\\nAnd now?\\n' | bobbin chat
`;
