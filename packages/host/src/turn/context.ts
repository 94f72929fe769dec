import type { ThreadItem } from "@bobbin/protocol";
import type { JournalReader } from "../journal/journal.ts";
import { allTurns } from "../thread/history.ts";

/** What the model is shown: the items of the turns that count, oldest first. */
export async function readContext(journal: JournalReader): Promise<readonly ThreadItem[]> {
  return (await allTurns(journal)).flatMap((turn) => turn.items);
}
