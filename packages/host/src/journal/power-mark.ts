import { dirname } from "node:path";
import type { Boot, Files } from "../platform/platform.ts";

export interface PowerMarkPorts {
  readonly path: string;
  readonly files: Files;
  readonly boot: Boot;
  /** Runs while no other host looks at the mark. */
  exclusively(work: () => Promise<void>): Promise<void>;
}

/**
 * Tells whether the machine went down while hosts were at work here. What was not synced may be gone then: claims, the
 * last commits, rows of the index. A mark that names this run of the machine is synced before there is anything
 * to lose, and goes with the last host that ends in good order: whoever finds one of an earlier run knows.
 */
export class PowerMark {
  readonly #ports: PowerMarkPorts;
  #lost: Promise<boolean> | undefined;
  #made: Promise<void> | undefined;

  constructor(ports: PowerMarkPorts) {
    this.#ports = ports;
  }

  /** The machine went down, and what was lost is not made good yet. */
  lost(): Promise<boolean> {
    if (this.#lost === undefined) {
      this.#lost = this.#look();
      this.#lost.catch(() => {
        this.#lost = undefined;
      });
    }
    return this.#lost;
  }

  /** Before anything is written that a power cut could take. */
  make(): Promise<void> {
    if (this.#made === undefined) {
      this.#made = this.#make();
      this.#made.catch(() => {
        this.#made = undefined;
      });
    }
    return this.#made;
  }

  async madeGood(): Promise<void> {
    const { files, path, boot } = this.#ports;
    await files.replaceText(path, await boot.id());
    this.#lost = Promise.resolve(false);
  }

  /** Nobody is left who could lose anything. */
  async remove(): Promise<void> {
    if (!(await this.lost())) await this.#ports.files.remove(this.#ports.path);
  }

  async #look(): Promise<boolean> {
    const { files, path, boot } = this.#ports;
    const text = await files.readText(path);
    // One with nothing in it is just being made, or was when the machine went down: nothing was written under it.
    return Boolean(text) && !(await boot.isNow(text!));
  }

  async #make(): Promise<void> {
    // The one of the earlier run does as well, until all is made good.
    if (await this.lost()) return;
    const { files, path, boot, exclusively } = this.#ports;
    const text = await boot.id();
    await exclusively(async () => {
      if (await files.readText(path)) {
        // Whoever made it may have died before it was synced.
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
