import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import type { Ids } from "../platform/platform.ts";
import type { CredentialStore } from "./credential-store.ts";
import { newKey, readKey } from "./seal-key.ts";
import { isUnavailable } from "./sealed-credential-store.ts";

/** Name of the encryption key in the credential store. */
const ENTRY = "seal";
/** Name of the spare encryption key. It is used while the keyring that contains the first key is unavailable. */
const SPARE_ENTRY = "seal without keyring";
const PREFIX = "sealed:1:";
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface SealPorts {
  readonly store: CredentialStore;
  /** Storage of the spare key. If undefined, sealing fails while the first key cannot be read. */
  readonly spare?: CredentialStore | undefined;
  readonly ids: Ids;
}

/**
 * Encrypts (seals) short secrets, so that journals, which other people may read, can contain them. All hosts of a
 * home share one key, which is stored as a credential. Equal secrets have equal seals.
 */
export class Seals {
  readonly #store: CredentialStore;
  readonly #spare: CredentialStore | undefined;
  readonly #ids: Ids;
  /** The first key is used for sealing. All keys are tried for opening. */
  #keys: readonly Buffer[] = [];
  /** Whether the first key exists, but could not be read yet. */
  #isLocked = false;
  #reading: Promise<void> | undefined;

  constructor({ store, spare, ids }: SealPorts) {
    this.#store = store;
    this.#spare = spare;
    this.#ids = ids;
  }

  /** Loads the keys; `open` works only afterwards. Creates the first key if it does not exist. */
  async ready(): Promise<void> {
    if (this.#keys.length > 0 && !this.#isLocked) return;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  async seal(text: string): Promise<string> {
    await this.ready();
    const key = this.#keys[0]!;
    // The IV is derived from the text, so that two texts never share an IV.
    const iv = createHmac("sha256", key).update(text).digest().subarray(0, IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
    const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return PREFIX + sealed.toString("base64url");
  }

  /** Opens a seal. Returns a text without a seal unchanged. Undefined if the seal cannot be opened, or not yet. */
  open(text: string): string | undefined {
    if (!text.startsWith(PREFIX)) return text;
    const sealed = Buffer.from(text.slice(PREFIX.length), "base64url");
    if (sealed.length < IV_BYTES + TAG_BYTES) return undefined;
    for (const key of this.#keys) {
      const opened = openWith(key, sealed);
      if (opened !== undefined) return opened;
    }
    return undefined;
  }

  async #read(): Promise<void> {
    try {
      const key = await this.#readOrMake(this.#store, ENTRY);
      const spare = readKey(await this.#spare?.get(SPARE_ENTRY));
      this.#keys = spare === undefined ? [key] : [key, spare];
      this.#isLocked = false;
    } catch (cause) {
      if (this.#spare === undefined || !isUnavailable(cause)) throw cause;
      // The first key stays in the store. Its seals can be opened when the keyring is available again.
      this.#isLocked = true;
      this.#keys = [await this.#readOrMake(this.#spare, SPARE_ENTRY)];
    }
  }

  async #readOrMake(store: CredentialStore, entry: string): Promise<Buffer> {
    const known = readKey(await store.get(entry));
    if (known !== undefined) return known;
    return store.exclusively(entry, async () => {
      // Another host may have created the key in between.
      const made = readKey(await store.get(entry)) ?? newKey(this.#ids);
      await store.set(entry, made.toString("base64url"));
      return made;
    });
  }
}

function openWith(key: Buffer, sealed: Buffer): string | undefined {
  try {
    const iv = sealed.subarray(0, IV_BYTES);
    const opener = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
    opener.setAuthTag(sealed.subarray(-TAG_BYTES));
    const inner = sealed.subarray(IV_BYTES, -TAG_BYTES);
    return Buffer.concat([opener.update(inner), opener.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}
