import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Fields, Log } from "../../packages/host/src/observe/log.ts";
import { nodePlatform } from "../../packages/host/src/platform/node.ts";
import type { Platform } from "../../packages/host/src/platform/platform.ts";
import { type FileJournal, fileJournal } from "../../packages/host/src/store/files/file-journal.ts";
import { sessionPath } from "../../packages/host/src/store/files/journal-paths.ts";
import type { JournalReader } from "../../packages/host/src/store/journal.ts";
import { countedFiles, FileCounts } from "./file-call-counter.ts";

/** The thread of the golden journal. */
export const GOLDEN_ID = "01a1e11e-8538-703d-834a-e6eb57dc6a9a";

const folder = join(import.meta.dirname, "../../packages/host/src/thread/golden-journal");

/** The golden journal's commits, one line each, without line ends. */
export async function goldenLines(): Promise<string[]> {
  return (await readFile(join(folder, "journal.jsonl"), "utf8")).trimEnd().split("\n");
}

/** A home on disk, for tests that read it. */
export interface TestHome {
  readonly path: string;
  readonly journal: FileJournal;
  readonly warnings: (Fields & { readonly message: string })[];
  /** How often the reader paused to let other work run. */
  pauses(): number;
  /** The calls to the file system. */
  readonly calls: FileCounts;
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
  };
  let pauses = 0;
  const real = nodePlatform();
  const soon = (run: () => void) => {
    pauses++;
    real.timers.soon(run);
  };
  const calls = new FileCounts();
  const files = countedFiles(real.files, calls);
  const platform: Platform = { ...real, files, timers: { ...real.timers, soon } };
  const journal = fileJournal(path, platform, log);
  return {
    path,
    journal,
    warnings,
    pauses: () => pauses,
    calls,
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
