import type { CredentialStore } from "../../../packages/host/src/credentials/credential-store.ts";

/** A credential store in memory. */
export class MemoryCredentials implements CredentialStore {
  readonly all = new Map<string, string>();
  #last: Promise<unknown> = Promise.resolve();

  async get(key: string): Promise<string | undefined> {
    return this.all.get(key);
  }

  async set(key: string, value: string): Promise<void> {
    this.all.set(key, value);
  }

  async delete(key: string): Promise<void> {
    this.all.delete(key);
  }

  exclusively<T>(_key: string, work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
