import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Platform } from "../platform/platform.ts";
import { textOf } from "./git-repository.ts";
import { MASKS } from "./masks-folder.ts";

/** A file that holds a place, so that a confined command cannot make one there. It does nothing by itself. */
export interface Mask {
  readonly path: string;
  /** What it says, by which it is known. */
  readonly text: string;
}

type MaskPlatform = Pick<Platform, "files" | "workspace" | "liveness" | "ids">;

/**
 * The masks that confined commands of all hosts on one home have in people's repositories. Each is there as long as a
 * command needs it. What a host leaves behind that dies is removed by the next one.
 */
export class Masks {
  readonly #platform: MaskPlatform;
  readonly #folder: string;
  readonly #counts = new Map<string, number>();
  #host: Promise<string> | undefined;
  /** Kept: the lock would be released when nothing refers to it. */
  #leave: (() => Promise<void>) | undefined;

  constructor(platform: MaskPlatform, home: string) {
    this.#platform = platform;
    this.#folder = join(home, MASKS);
  }

  /** Puts masks where nothing is. To be released with the same ones. */
  async hold(masks: readonly Mask[]): Promise<void> {
    if (masks.length === 0) return;
    const host = await this.#announce();
    await this.#exclusively(async () => {
      for (const mask of masks) {
        const count = this.#counts.get(mask.path) ?? 0;
        this.#counts.set(mask.path, count + 1);
        if (count > 0) continue;
        await this.#platform.files.claim(join(this.#entry(mask.path), host), JSON.stringify(mask));
        if (!(await this.#platform.files.exists(mask.path))) await this.#place(mask);
      }
    });
  }

  async release(masks: readonly Mask[]): Promise<void> {
    if (masks.length === 0) return;
    const host = await this.#announce();
    await this.#exclusively(async () => {
      for (const mask of masks) {
        const count = (this.#counts.get(mask.path) ?? 1) - 1;
        if (count > 0) this.#counts.set(mask.path, count);
        else {
          this.#counts.delete(mask.path);
          await this.#platform.files.remove(join(this.#entry(mask.path), host));
          await this.#removeUnheld(this.#entry(mask.path), mask);
        }
      }
    });
  }

  /** Lets go of the lock. Masks that are held are left for the next host. */
  async close(): Promise<void> {
    await this.#leave?.();
  }

  /** Removes what hosts left that died. */
  async sweep(): Promise<void> {
    const { files } = this.#platform;
    const entries = (await files.list(this.#folder)).filter(({ name, folder }) => folder && name !== "hosts");
    const hosts = await files.list(join(this.#folder, "hosts"));
    if (entries.length + hosts.length === 0) return;
    await this.#exclusively(async () => {
      for (const { name } of entries) {
        const entry = join(this.#folder, name);
        const [claim] = await files.list(entry);
        const text = claim === undefined ? undefined : await files.claimed(join(entry, claim.name));
        if (text !== undefined) await this.#removeUnheld(entry, JSON.parse(text) as Mask);
      }
      for (const { name } of hosts)
        if (name !== (await this.#host) && !(await this.#platform.liveness.alive(this.#lockOf(name))))
          await files.remove(this.#lockOf(name));
    });
  }

  async #place({ path, text }: Mask): Promise<void> {
    const isAllowed = (real: string): boolean => real === path;
    await this.#platform.workspace.replace(path, new TextEncoder().encode(text), { mode: 0o644, isAllowed });
  }

  /** Removes a mask, and what is known of it, unless a host that is alive holds it. */
  async #removeUnheld(entry: string, { path, text }: Mask): Promise<void> {
    const { files, liveness, workspace } = this.#platform;
    for (const { name } of await files.list(entry))
      if (name === (await this.#host) || (await liveness.alive(this.#lockOf(name)))) return;
    // Somebody may have put a file of their own there.
    if ((await textOf(files, path)) === text)
      await workspace.remove(path, { isAllowed: (real) => real === path });
    await files.remove(entry);
  }

  /** This host's name, under which others can see whether it is alive. */
  #announce(): Promise<string> {
    this.#host ??= (async () => {
      const host = this.#platform.ids.uuid();
      this.#leave = await this.#platform.liveness.announce(this.#lockOf(host));
      return host;
    })();
    return this.#host;
  }

  #exclusively(work: () => Promise<void>): Promise<void> {
    return this.#platform.liveness.exclusively(join(this.#folder, "lock"), work);
  }

  #lockOf(host: string): string {
    return join(this.#folder, "hosts", host);
  }

  #entry(path: string): string {
    return join(this.#folder, createHash("sha256").update(path).digest("hex").slice(0, 32));
  }
}
