import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Platform } from "../../platform/platform.ts";
import type { CredentialTexts } from "../credential-text-store.ts";

type CredentialPlatform = Pick<Platform, "files" | "liveness">;

/** The folder for credentials in a home. Sandboxed commands cannot see the home. */
export function credentialFolder(home: string): string {
  return join(home, "credentials");
}

/**
 * Credentials as files in `credentials/`, mode 0600, one file each. Each write replaces the whole file, so that
 * writers of different keys need no common lock.
 */
export class CredentialFiles implements CredentialTexts {
  readonly #folder: string;
  readonly #platform: CredentialPlatform;

  constructor(home: string, platform: CredentialPlatform) {
    this.#folder = credentialFolder(home);
    this.#platform = platform;
  }

  read(key: string): Promise<string | undefined> {
    return this.#platform.files.readText(this.path(key));
  }

  write(key: string, text: string): Promise<void> {
    return this.#platform.files.replaceText(this.path(key), text);
  }

  delete(key: string): Promise<void> {
    return this.#platform.files.remove(this.path(key), { synced: true });
  }

  exclusively<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#platform.liveness.exclusively(join(this.#folder, `${nameOf(key)}.lock`), work);
  }

  path(key: string): string {
    return join(this.#folder, `${nameOf(key)}.json`);
  }
}

/** Keys may contain characters that are not allowed in file names. */
function nameOf(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 32);
}
