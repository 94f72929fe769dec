import { join } from "node:path";
import type { Files } from "../../platform/platform.ts";
import type { CreatedOutput, OutputFileStore } from "../output-file-store.ts";
import { blobFolders } from "./blob-files.ts";

/** Limit on the bytes of a thread's outputs together. Outputs that are being written may exceed it for a while. */
export const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** Limit on the bytes of all outputs that one host has created since it started, in all threads together. */
const MAX_HOST_BYTES = 2 * 1024 * 1024 * 1024;
/** The file with the names of outputs in the order in which they were created, one per line. */
const ORDER = ".order";
const REMOVED =
  "This output was removed, because the saved outputs became too large. Run the command again.\n";

/** Stores long command outputs in a folder beside a thread's blobs. */
export class OutputFolder implements OutputFileStore {
  readonly #home: string;
  readonly #files: Pick<Files, "openAppend" | "openRead" | "readText" | "replaceText" | "list">;
  readonly #maxBytes: number;
  readonly #maxHostBytes: number;
  /** The outputs that this host has created and not removed, by path, the oldest first. */
  readonly #created = new Map<string, { bytes: number; isOpen: boolean }>();
  #createdBytes = 0;

  constructor(
    home: string,
    files: Pick<Files, "openAppend" | "openRead" | "readText" | "replaceText" | "list">,
    maxBytes = MAX_OUTPUT_BYTES,
    maxHostBytes = MAX_HOST_BYTES,
  ) {
    this.#home = home;
    this.#files = files;
    this.#maxBytes = maxBytes;
    this.#maxHostBytes = maxHostBytes;
  }

  folder(threadId: string): string {
    return join(blobFolders(this.#home, threadId, false)[0], "outputs");
  }

  async create(threadId: string, name: string): Promise<CreatedOutput> {
    const folder = this.folder(threadId);
    await this.#removeOldest(folder);
    await this.#removeOldestOfHost();
    const path = join(folder, name);
    const file = await this.#files.openAppend(path, { fresh: true });
    await this.#appendToOrder(folder, name);
    const created = { bytes: 0, isOpen: true };
    this.#created.set(path, created);
    return {
      path,
      append: async (bytes) => {
        await file.append(bytes);
        created.bytes += bytes.length;
        this.#createdBytes += bytes.length;
      },
      close: () => {
        created.isOpen = false;
        return file.close();
      },
    };
  }

  /** Replaces the oldest outputs of this host by a note, in whichever threads, until the rest is within its limit. */
  async #removeOldestOfHost(): Promise<void> {
    for (const [path, { bytes, isOpen }] of this.#created) {
      if (this.#createdBytes <= this.#maxHostBytes) return;
      if (isOpen) continue;
      // The output may have been removed with its thread.
      if ((await this.#sizeOf(path)) > REMOVED.length) await this.#files.replaceText(path, REMOVED);
      if (this.#created.delete(path)) this.#createdBytes -= bytes;
    }
  }

  /** Replaces the oldest outputs by a note, until the rest is within the limit. */
  async #removeOldest(folder: string): Promise<void> {
    const names = (await this.#files.list(folder)).map(({ name }) => name).filter((name) => name !== ORDER);
    const sizes = new Map<string, number>();
    for (const name of names) sizes.set(name, await this.#sizeOf(join(folder, name)));
    let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    if (bytes <= this.#maxBytes) return;
    const order = ((await this.#files.readText(join(folder, ORDER))) ?? "").split("\n");
    // Outputs that are not in the order are older than it.
    const oldestFirst = names.sort((a, b) => order.indexOf(a) - order.indexOf(b));
    for (const name of oldestFirst) {
      const size = sizes.get(name)!;
      if (bytes <= this.#maxBytes) return;
      if (size <= REMOVED.length) continue;
      await this.#files.replaceText(join(folder, name), REMOVED);
      bytes -= size - REMOVED.length;
    }
  }

  async #sizeOf(path: string): Promise<number> {
    const file = await this.#files.openRead(path);
    if (file === undefined) return 0;
    try {
      return await file.size();
    } finally {
      await file.close();
    }
  }

  async #appendToOrder(folder: string, name: string): Promise<void> {
    const order = await this.#files.openAppend(join(folder, ORDER));
    try {
      await order.append(new TextEncoder().encode(`${name}\n`));
    } finally {
      await order.close();
    }
  }
}
