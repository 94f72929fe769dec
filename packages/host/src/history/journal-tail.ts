import type { JournalReader } from "../store/journal.ts";

/** The last commits of a journal as JSON lines, oldest first. At most `maxLength` characters in total. */
export async function journalTail(
  journal: Pick<JournalReader, "backwards">,
  maxLength: number,
): Promise<string> {
  const lines: string[] = [];
  let length = 0;
  for await (const { commit } of journal.backwards()) {
    const line = `${JSON.stringify(commit)}\n`;
    length += line.length;
    if (length > maxLength) {
      lines.push('{"note":"earlier commits are left out"}\n');
      break;
    }
    lines.push(line);
  }
  return lines.reverse().join("");
}
