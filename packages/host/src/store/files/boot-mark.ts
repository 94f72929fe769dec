import { dirname } from "node:path";
import type { Boot, Files } from "../../platform/platform.ts";

export interface BootMarkPorts {
  readonly path: string;
  readonly files: Files;
  readonly boot: Boot;
  /** Runs `work` while no other host accesses the mark. */
  exclusively(work: () => Promise<void>): Promise<void>;
}

/**
 * Detects that the machine went down while hosts were running. Unsynced data may then be lost: claims, the last
 * commits, index rows. A mark file that names the current boot is fsynced before anything else is written; the last
 * host that ends normally removes it. A host that finds a mark of an earlier boot knows that the machine went down.
 */
export class BootMark {
  readonly #ports: BootMarkPorts;
  #lost: Promise<boolean> | undefined;
  #made: Promise<void> | undefined;

  constructor(ports: BootMarkPorts) {
    this.#ports = ports;
  }

  /** Whether the machine went down and the recovery is not complete. */
  lost(): Promise<boolean> {
    if (this.#lost === undefined) {
      this.#lost = this.#look();
      this.#lost.catch(() => {
        this.#lost = undefined;
      });
    }
    return this.#lost;
  }

  /** Writes the mark. Called before any write that a power cut could undo. */
  make(): Promise<void> {
    if (this.#made === undefined) {
      this.#made = this.#make();
      this.#made.catch(() => {
        this.#made = undefined;
      });
    }
    return this.#made;
  }

  async markRecovered(): Promise<void> {
    const { files, path, boot } = this.#ports;
    await files.replaceText(path, await boot.id());
    this.#lost = Promise.resolve(false);
  }

  /** Removes the mark. The last host of this home calls it. */
  async remove(): Promise<void> {
    if (!(await this.lost())) await this.#ports.files.remove(this.#ports.path);
  }

  async #look(): Promise<boolean> {
    const { files, path, boot } = this.#ports;
    const text = await files.readText(path);
    // An empty mark is just being written, or was when the machine went down. In either case nothing was written
    // after it.
    return Boolean(text) && !(await boot.isNow(text!));
  }

  async #make(): Promise<void> {
    // The mark of the earlier boot stays until the recovery is complete.
    if (await this.lost()) return;
    const { files, path, boot, exclusively } = this.#ports;
    const text = await boot.id();
    await exclusively(async () => {
      if (await files.readText(path)) {
        // The host that wrote the mark may have died before the fsync.
        await files.sync(path);
        return files.sync(dirname(path));
      }
      const file = await files.openAppend(path);
      try {
        await file.append(Buffer.from(text));
        await file.sync();
      } finally {
        await file.close();
      }
    });
  }
}
