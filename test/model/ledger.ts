import assert from "node:assert/strict";
import type { Texts } from "./journals.ts";

/** Something that a client was told, and that has to be found in the thread's journal from then on. */
interface Promised {
  readonly threadId: string;
  readonly record: string;
  /** False: a power cut may take it. */
  readonly synced: boolean;
}

/** What hosts have acknowledged. */
export class Ledger {
  #promised: Promised[] = [];
  readonly #gone = new Set<string>();
  readonly #deleted = new Set<string>();

  promise(threadId: string, record: string, synced: boolean): void {
    this.#promised.push({ threadId, record, synced });
  }

  /** Someone wants it deleted: nothing is promised of it any more. */
  deleting(threadId: string): void {
    this.#gone.add(threadId);
  }

  /** It was told to be gone: nothing may bring it back. */
  deleted(threadId: string): void {
    this.#deleted.add(threadId);
  }

  powerCut(): void {
    this.#promised = this.#promised.filter(({ synced }) => synced);
  }

  check(disk: Texts): void {
    const journals = new Map(
      disk.paths.map((path) => [/([^/-]+(?:-[^/-]+){4})\.jsonl$/.exec(path)?.[1], path]),
    );
    for (const { threadId, record } of this.#promised) {
      if (this.#gone.has(threadId)) continue;
      const path = journals.get(threadId);
      assert(path !== undefined, `thread ${threadId} was acknowledged (${record}) and is gone`);
      assert(disk.text(path)!.includes(record), `${path} lost what was acknowledged: ${record}`);
    }
    for (const threadId of this.#deleted) {
      const left = disk.paths.filter((name) => name.includes(threadId));
      assert.deepEqual(left, [], `what is left of the deleted thread ${threadId}`);
    }
  }
}
