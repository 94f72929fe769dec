import type { SecretTexts } from "../store/request-secrets.ts";

/**
 * Secrets of server requests, such as an authorization URL. Journals must not contain them; each is stored separately
 * until its request is answered.
 */
export class Secrets {
  readonly #stored: SecretTexts;
  readonly #known = new Map<number, string>();

  constructor(stored: SecretTexts) {
    this.#stored = stored;
  }

  /** Remembers a secret in memory. Only `save` makes it survive this process. */
  hold(requestId: number, secret: string): void {
    this.#known.set(requestId, secret);
  }

  async save(threadId: string, requestId: number): Promise<void> {
    const secret = this.#known.get(requestId);
    if (secret !== undefined) await this.#stored.save(threadId, requestId, secret);
    // The request may have been answered during the write.
    if (!this.#known.has(requestId)) await this.forget(threadId, requestId);
  }

  of(requestId: number): string | undefined {
    return this.#known.get(requestId);
  }

  /** Reads the secrets of requests that an earlier host sent. */
  async recall(threadId: string, requestIds: readonly number[]): Promise<void> {
    for (const requestId of requestIds) {
      const secret = await this.#stored.read(threadId, requestId);
      if (secret !== undefined) this.#known.set(requestId, secret);
    }
  }

  async forget(threadId: string, requestId: number): Promise<void> {
    this.#known.delete(requestId);
    await this.#stored.remove(threadId, requestId);
  }

  /** Removes stored secrets whose requests are no longer pending. A crash may leave such secrets. */
  async sweep(isPending: (threadId: string, requestId: number) => Promise<boolean>): Promise<void> {
    for (const { threadId, requestId } of await this.#stored.list()) {
      if (!(await isPending(threadId, requestId))) await this.forget(threadId, requestId);
    }
  }
}
