import { join } from "node:path";
import type { Files } from "../../platform/platform.ts";
import type { CreatedOutput, OutputFileStore } from "../output-file-store.ts";
import { blobFolders } from "./blob-files.ts";

/** Stores long command outputs in a folder beside a thread's blobs. */
export class OutputFolder implements OutputFileStore {
  readonly #home: string;
  readonly #files: Pick<Files, "openAppend">;

  constructor(home: string, files: Pick<Files, "openAppend">) {
    this.#home = home;
    this.#files = files;
  }

  folder(threadId: string): string {
    return join(blobFolders(this.#home, threadId, false)[0], "outputs");
  }

  async create(threadId: string, name: string): Promise<CreatedOutput> {
    const path = join(this.folder(threadId), name);
    const file = await this.#files.openAppend(path, { fresh: true });
    return {
      path,
      append: async (bytes) => void (await file.append(bytes)),
      close: () => file.close(),
    };
  }
}
