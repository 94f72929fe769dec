import type { UserInput } from "@bobbin/protocol";
import type { Assist } from "./composer.tsx";

/**
 * Runs the slash command that a message begins with, and returns the input to send: undefined if nothing is left to
 * send, and with the skill added if the message names one. A path (`/etc/hosts`) is no command.
 */
export async function runMessageCommand(
  assist: Assist,
  input: UserInput[],
): Promise<UserInput[] | undefined> {
  const [first] = input;
  if (first?.type !== "text" || !/^\/[^\s/]+(?:\s|$)/.test(first.text)) return input;
  return (await import("./run-slash-command.ts")).runSlashCommand(assist, input);
}
