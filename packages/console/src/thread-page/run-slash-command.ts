// Separate from slash-commands.ts, so that it is imported only dynamically. A module that is imported both ways needs a
// helper function of the bundler, and that is in the file of the grammars of code.
import { promptCommandInput } from "@bobbin/client";
import type { UserInput } from "@bobbin/protocol";
import type { Assist } from "./composer.tsx";
import { commandNamed, skillCommands } from "./slash-commands.ts";

/**
 * Runs the command that a message begins with. Returns the input to send in its place: undefined after a command, the
 * expanded text of a saved prompt, the message with the skill if it names one.
 */
export async function runSlashCommand(assist: Assist, input: UserInput[]): Promise<UserInput[] | undefined> {
  const [message, ...others] = input;
  if (message?.type !== "text") return input;
  const { client, folder, page } = assist;
  if (message.text.startsWith("/prompts:mcp:")) await page?.session.load();
  const place = { cwd: folder || undefined, threadId: page?.session.id };
  const prompt = await promptCommandInput(client, message.text, place);
  if (prompt !== undefined) return [...prompt, ...others];
  const [, name = "", args = ""] = /^\/(\S+)\s*([\s\S]*?)\s*$/.exec(message.text) ?? [];
  const command = commandNamed(name);
  if (command !== undefined) {
    if (page === undefined) throw new Error(`/${name} is for a thread that has begun.`);
    if (args !== "" && command.args === undefined) throw new Error(`/${name} takes nothing behind its name.`);
    await command.run(page, args);
    return undefined;
  }
  const found = (await skillCommands(assist)).find((each) => each.name === name);
  if (found === undefined)
    throw new Error(`There is no command /${name}. To send this as a message, begin it with a space.`);
  const { name: skillName, path } = found.skill;
  const mark = { byteRange: { start: 0, end: new TextEncoder().encode(`/${name}`).length } };
  const text = { ...message, text_elements: [mark, ...(message.text_elements ?? [])] };
  return [text, { type: "skill", name: skillName, path }, ...others];
}
