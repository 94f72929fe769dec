/**
 * Credentials by key: login tokens, API keys of providers, the encryption key. The caller decides on the text's
 * format, and encrypts the text if the operating system has a keyring.
 */
export interface CredentialTexts {
  /** Reads the current text, which another host may have changed; undefined if there is none. */
  read(key: string): Promise<string | undefined>;
  /** Creates or replaces the text atomically. Durable when it resolves. */
  write(key: string, text: string): Promise<void>;
  /** Deletes the text, if it exists. */
  delete(key: string): Promise<void>;
  /**
   * Runs `work` under a lock for the key, across all hosts. A host's lock ends with the host, even in a crash. Not
   * reentrant.
   */
  exclusively<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** The file of a credential, for watching its changes; null if the store has no files. */
  path(key: string): string | null;
}
