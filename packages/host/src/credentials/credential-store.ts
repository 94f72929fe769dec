/**
 * Stores secrets that the host obtains at run time: tokens of logins, API keys of providers, the key of `Seals`. A
 * key names one credential. Its value is a text that only the code that wrote it can interpret.
 */
export interface CredentialStore {
  /**
   * Reads the current value, which another process may have changed; undefined if there is none. Throws
   * `keyringUnavailable` if a value exists but cannot be read at the moment.
   */
  get(key: string): Promise<string | undefined>;
  /** Creates or replaces the value atomically. It survives a power cut once the promise resolves. */
  set(key: string, value: string): Promise<void>;
  /** Does nothing if there is no such credential. */
  delete(key: string): Promise<void>;
  /**
   * Runs `work` under an exclusive lock on the key, across all processes with the same store. The lock is released if
   * a process dies. Not reentrant.
   */
  exclusively<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Storage of credentials. `file`: plain files. `keyring`: files encrypted with a key in the keyring. `auto`: like
 * `keyring` if a keyring is available, else like `file`. `ephemeral`: memory, until this process ends.
 */
export const CREDENTIAL_STORES = ["file", "keyring", "auto", "ephemeral"] as const;
export type CredentialStoreMode = (typeof CREDENTIAL_STORES)[number];
