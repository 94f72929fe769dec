import { Fault, fault, messageOf } from "../errors.ts";
import type { CredentialTexts } from "../store/credential-text-store.ts";
import { credentialText, parseCredential, type StoredCredential } from "./credential-format.ts";
import type { CredentialStore, CredentialStoreMode } from "./credential-store.ts";
import type { KeyringKeys } from "./keyring-keys.ts";
import { openText, sealText } from "./sealed-value.ts";

export interface SealedCredentialStorePorts {
  readonly texts: CredentialTexts;
  readonly keys: Pick<KeyringKeys, "current" | "of">;
  /** The current mode. */
  mode(): CredentialStoreMode;
  /** Called when a credential is stored in a plain file because the keyring is unavailable. */
  fellBack?(why: string): void;
  /** Supervises background work. Without it, a credential changes its form only when it is written. */
  readonly background?: (what: string, work: Promise<void>) => void;
}

/**
 * The credential store of a host. The values are in the store, and the key that encrypts them is in the keyring. So
 * the keyring is read once per process rather than per request, other hosts see every change, values may have any
 * length, and a change between plain and encrypted form is atomic.
 */
export class SealedCredentialStore implements CredentialStore {
  readonly #ports: SealedCredentialStorePorts;
  readonly #memory = new Map<string, string>();
  /** Credentials whose form is being changed, or could not be changed. */
  readonly #moved = new Set<string>();

  constructor(ports: SealedCredentialStorePorts) {
    this.#ports = ports;
  }

  async get(key: string): Promise<string | undefined> {
    const mode = this.#ports.mode();
    if (mode === "ephemeral") return this.#memory.get(key);
    const stored = await this.#read(key);
    if (stored === undefined) return undefined;
    if ("sealed" in stored === (mode === "file")) this.#moveLater(key);
    return this.#valueOf(key, stored);
  }

  async set(key: string, value: string): Promise<void> {
    const mode = this.#ports.mode();
    if (mode === "ephemeral") this.#memory.set(key, value);
    else await this.#write(key, await this.#stored(key, value, mode));
  }

  async delete(key: string): Promise<void> {
    this.#memory.delete(key);
    if (this.#ports.mode() !== "ephemeral") await this.#ports.texts.delete(key);
  }

  exclusively<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#ports.texts.exclusively(key, work);
  }

  async #read(key: string): Promise<StoredCredential | undefined> {
    return parseCredential(await this.#ports.texts.read(key), key);
  }

  #write(key: string, credential: StoredCredential): Promise<void> {
    return this.#ports.texts.write(key, credentialText(key, credential));
  }

  async #valueOf(key: string, stored: StoredCredential): Promise<string> {
    if ("value" in stored) return stored.value;
    const value = openText(await this.#ports.keys.of(stored.item), key, stored.sealed);
    if (value === undefined) throw fault("keyringUnavailable", "its key does not open this credential");
    return value;
  }

  async #stored(key: string, value: string, mode: CredentialStoreMode): Promise<StoredCredential> {
    if (mode === "file") return { value };
    try {
      return await this.#sealed(key, value);
    } catch (cause) {
      if (mode === "keyring" || !isUnavailable(cause)) throw cause;
      this.#ports.fellBack?.(messageOf(cause));
      return { value };
    }
  }

  async #sealed(key: string, value: string): Promise<StoredCredential> {
    const { item, key: sealing } = await this.#ports.keys.current();
    return { item, sealed: sealText(sealing, key, value) };
  }

  /**
   * Changes a credential to the configured form (plain or encrypted), in the background and at most once per process.
   */
  #moveLater(key: string): void {
    const { background } = this.#ports;
    if (background === undefined || this.#moved.has(key)) return;
    this.#moved.add(key);
    background("changing the stored form of a credential", this.#move(key));
  }

  async #move(key: string): Promise<void> {
    const { texts, keys, mode, fellBack } = this.#ports;
    try {
      // The keyring is asked before the credential is locked, so that others do not wait for the keyring.
      if (mode() !== "file") await keys.current();
      await texts.exclusively(key, async () => {
        const stored = await this.#read(key);
        const now = mode();
        if (stored === undefined || now === "ephemeral" || "sealed" in stored !== (now === "file")) return;
        const value = await this.#valueOf(key, stored);
        await this.#write(key, now === "file" ? { value } : await this.#sealed(key, value));
      });
      this.#moved.delete(key);
    } catch (cause) {
      if (!isUnavailable(cause)) throw cause;
      fellBack?.(messageOf(cause));
    }
  }
}

/** Whether an error means that the keyring is unavailable. */
export function isUnavailable(cause: unknown): boolean {
  return cause instanceof Fault && cause.code === "keyringUnavailable";
}
