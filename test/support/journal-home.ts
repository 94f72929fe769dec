import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileJournal } from "../../packages/host/src/journal/file.ts";
import type { Journal, JournalReader } from "../../packages/host/src/journal/journal.ts";
import { sessionPath } from "../../packages/host/src/journal/paths.ts";
import type { Fields, Log } from "../../packages/host/src/observe/log.ts";
import { nodePlatform } from "../../packages/host/src/platform/node.ts";
import type { Platform } from "../../packages/host/src/platform/platform.ts";

/** The thread of the golden journal. */
export const GOLDEN_ID = "01a1e11e-8538-703d-834a-e6eb57dc6a9a";

const folder = join(import.meta.dirname, "../../packages/host/src/thread/golden-journal");

/** The golden journal's commits, each a line without its end. */
export async function goldenLines(): Promise<string[]> {
  return (await readFile(join(folder, "journal.jsonl"), "utf8")).trimEnd().split("\n");
}

/** A home on disk, for tests of what is read from it. */
export interface TestHome {
  readonly path: string;
  readonly journal: Journal;
  readonly warnings: (Fields & { readonly message: string })[];
  /** How often others got their turn. */
  pauses(): number;
  put(id: string, text: string): Promise<void>;
  read<T>(id: string, work: (reader: JournalReader) => Promise<T>): Promise<T>;
  remove(): Promise<void>;
}

export async function testHome(): Promise<TestHome> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "bobbin-home-")));
  const warnings: TestHome["warnings"] = [];
  const log: Log = {
    debug: () => {},
    info: () => {},
    warn: (message, fields) => void warnings.push({ message, ...fields }),
    error: (message) => {
      throw new Error(message);
    },
    flushed: async () => {},
  };
  let pauses = 0;
  const real = nodePlatform();
  const soon = (run: () => void) => {
    pauses++;
    real.timers.soon(run);
  };
  const platform: Platform = { ...real, timers: { ...real.timers, soon } };
  const journal = fileJournal(path, platform, log, async () => {});
  return {
    path,
    journal,
    warnings,
    pauses: () => pauses,
    async put(id, text) {
      const file = sessionPath(path, id);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    },
    async read(id, work) {
      const reader = (await journal.read(id))!;
      try {
        return await work(reader);
      } finally {
        await reader.close();
      }
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}
