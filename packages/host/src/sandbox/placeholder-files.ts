import { createHash } from "node:crypto";
import { join } from "node:path";
import { textOf } from "../platform/git-repository.ts";
import type { Platform } from "../platform/platform.ts";
import { PLACEHOLDERS_FOLDER } from "./placeholders-folder.ts";

/**
 * A placeholder, which keeps a sandboxed command from creating a file or folder at its path: a file whose content has no
 * effect, or an empty folder.
 */
export interface Placeholder {
  readonly path: string;
  /** The content, by which a placeholder file is recognized; null for an empty folder. */
  readonly text: string | null;
}

/** In the record of an empty folder: that a host created it, so that it is not the user's own. */
const CREATED = "created";

/**
 * Whether an entry of a placeholder folder is a host's pin: an empty folder, which keeps hosts with other homes from
 * removing the placeholder. Git ignores empty folders.
 */
export function isPin(name: string): boolean {
  return /^\.bobbin-[0-9a-f-]{36}$/.test(name);
}

function pinOf(path: string, host: string): string {
  return join(path, `.bobbin-${host}`);
}

type PlaceholderPlatform = Pick<Platform, "files" | "workspace" | "liveness" | "ids">;

/**
 * Manages the placeholder files in users' repositories, for the sandboxed commands of all hosts on one home. A
 * placeholder file exists while a command needs it. Those of a host that died are removed by the next host.
 */
export class PlaceholderFiles {
  readonly #platform: PlaceholderPlatform;
  readonly #folder: string;
  readonly #counts = new Map<string, number>();
  #host: Promise<string> | undefined;
  /** Kept, because garbage collection of the lock would release it. */
  #releaseLock: (() => Promise<void>) | undefined;

  constructor(platform: PlaceholderPlatform, home: string) {
    this.#platform = platform;
    this.#folder = join(home, PLACEHOLDERS_FOLDER);
  }

  /**
   * Creates the files that do not exist. Each call that succeeds must be matched by `release` with the same
   * placeholders.
   */
  async hold(placeholders: readonly Placeholder[]): Promise<void> {
    if (placeholders.length === 0) return;
    const host = await this.#announce();
    await this.#exclusively(async () => {
      const held: Placeholder[] = [];
      try {
        for (const placeholder of placeholders) {
          held.push(placeholder);
          const count = this.#counts.get(placeholder.path) ?? 0;
          this.#counts.set(placeholder.path, count + 1);
          if (count > 0) continue;
          await this.#platform.files.claim(
            join(this.#entry(placeholder.path), host),
            JSON.stringify(placeholder),
          );
          await this.#place(placeholder, host);
        }
      } catch (cause) {
        await this.#giveBack(held, host);
        throw cause;
      }
    });
  }

  async release(placeholders: readonly Placeholder[]): Promise<void> {
    if (placeholders.length === 0) return;
    const host = await this.#announce();
    await this.#exclusively(() => this.#giveBack(placeholders, host));
  }

  async #giveBack(placeholders: readonly Placeholder[], host: string): Promise<void> {
    for (const placeholder of placeholders) {
      const count = (this.#counts.get(placeholder.path) ?? 1) - 1;
      if (count > 0) this.#counts.set(placeholder.path, count);
      else {
        this.#counts.delete(placeholder.path);
        await this.#unpin(placeholder, host);
        await this.#platform.files.remove(join(this.#entry(placeholder.path), host));
        await this.#removeUnused(this.#entry(placeholder.path), placeholder);
      }
    }
  }

  /** Releases the lock. Placeholder files still in use are left for the next host to remove. */
  async close(): Promise<void> {
    await this.#releaseLock?.();
  }

  /** Removes placeholder files of hosts that died. */
  async sweep(): Promise<void> {
    const { files } = this.#platform;
    const entries = (await files.list(this.#folder)).filter(({ name, folder }) => folder && name !== "hosts");
    const hosts = await files.list(join(this.#folder, "hosts"));
    if (entries.length + hosts.length === 0) return;
    await this.#exclusively(async () => {
      for (const { name } of entries) {
        const entry = join(this.#folder, name);
        const [claim] = (await files.list(entry)).filter((one) => one.name !== CREATED);
        const text = claim === undefined ? undefined : await files.claimed(join(entry, claim.name));
        if (text !== undefined) await this.#removeUnused(entry, JSON.parse(text) as Placeholder);
      }
      for (const { name } of hosts)
        if (name !== (await this.#host) && !(await this.#platform.liveness.alive(this.#lockOf(name))))
          await files.remove(this.#lockOf(name));
    });
  }

  async #place(placeholder: Placeholder, host: string): Promise<void> {
    const { path, text } = placeholder;
    const { files, workspace } = this.#platform;
    const isAllowed = (real: string): boolean => real === path;
    const exists = await files.exists(path);
    if (text !== null) {
      if (exists) return;
      await workspace.replace(path, new TextEncoder().encode(text), { mode: 0o644, isAllowed });
      return;
    }
    // The record comes first: a folder without one would stay if the host died.
    const record = join(this.#entry(path), CREATED);
    const isPinned = exists && (await files.list(path).catch(() => [])).some(({ name }) => isPin(name));
    if (!exists || isPinned) await files.claim(record, JSON.stringify(placeholder));
    if (!exists && !(await workspace.makeFolder(path, { isAllowed }))) await files.remove(record);
    const pin = pinOf(path, host);
    await workspace.makeFolder(pin, { isAllowed: (real) => real === pin });
  }

  async #unpin({ path, text }: Placeholder, host: string): Promise<void> {
    const pin = pinOf(path, host);
    if (text === null)
      await this.#platform.workspace.removeFolder(pin, { isAllowed: (real) => real === pin });
  }

  /** Removes a placeholder file and its record, unless a host that is alive uses it. */
  async #removeUnused(entry: string, placeholder: Placeholder): Promise<void> {
    const { path, text } = placeholder;
    const { files, liveness, workspace } = this.#platform;
    const claims = (await files.list(entry)).filter(({ name }) => name !== CREATED);
    for (const { name } of claims)
      if (name === (await this.#host) || (await liveness.alive(this.#lockOf(name)))) return;
    for (const { name } of claims) await this.#unpin(placeholder, name);
    const isAllowed = (real: string): boolean => real === path;
    if (text === null) {
      if (await files.exists(join(entry, CREATED))) await workspace.removeFolder(path, { isAllowed });
    }
    // Not removed if the user has put a file of their own there.
    else if ((await textOf(files, path)) === text) await workspace.remove(path, { isAllowed });
    await files.remove(entry);
  }

  /** Announces this host under a name by which others can see whether it is alive. */
  #announce(): Promise<string> {
    this.#host ??= (async () => {
      const host = this.#platform.ids.uuid();
      this.#releaseLock = await this.#platform.liveness.announce(this.#lockOf(host));
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
