import type { ThreadItem } from "@bobbin/protocol";
import type { ThreadJournal } from "../journal/journal.ts";

/** What the model is shown: the thread's completed items, oldest first. */
export async function readContext(journal: ThreadJournal): Promise<readonly ThreadItem[]> {
  const items: ThreadItem[] = [];
  for await (const commit of journal.read(0)) {
    for (const record of commit.records) if (record.type === "itemCompleted") items.push(record.item);
  }
  return items;
}
