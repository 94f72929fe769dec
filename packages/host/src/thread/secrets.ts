import { join } from "node:path";
import type { Files } from "../platform/platform.ts";

type SecretFiles = Pick<Files, "readText" | "replaceText" | "remove" | "list">;

/**
 * What clients have to be asked with and no journal may hold: an address with a secret in it. Each is a file of its own
 * until its question is answered.
 */
export class Secrets {
  readonly #folder: string;
  readonly #files: SecretFiles;
  readonly #known = new Map<number, string>();

  constructor(home: string, files: SecretFiles) {
    this.#folder = join(home, "secrets");
    this.#files = files;
  }

  /** From here on it can be asked with; it does not survive this process yet. */
  hold(requestId: number, secret: string): void {
    this.#known.set(requestId, secret);
  }

  async save(threadId: string, requestId: number): Promise<void> {
    const secret = this.#known.get(requestId);
    if (secret !== undefined) await this.#files.replaceText(this.#path(threadId, requestId), secret);
    // It may have been answered meanwhile.
    if (!this.#known.has(requestId)) await this.forget(threadId, requestId);
  }

  of(requestId: number): string | undefined {
    return this.#known.get(requestId);
  }

  /** For questions of a host that is gone. */
  async recall(threadId: string, requestIds: readonly number[]): Promise<void> {
    for (const requestId of requestIds) {
      const secret = await this.#files.readText(this.#path(threadId, requestId));
      if (secret !== undefined) this.#known.set(requestId, secret);
    }
  }

  async forget(threadId: string, requestId: number): Promise<void> {
    this.#known.delete(requestId);
    await this.#files.remove(this.#path(threadId, requestId));
  }

  /** Removes what a host left that died with it in its hands. */
  async sweep(isPending: (threadId: string, requestId: number) => Promise<boolean>): Promise<void> {
    for (const { name } of await this.#files.list(this.#folder)) {
      const [threadId, requestId] = name.split(".");
      if (threadId === undefined || requestId === undefined) continue;
      if (!(await isPending(threadId, Number(requestId)))) await this.forget(threadId, Number(requestId));
    }
  }

  #path(threadId: string, requestId: number): string {
    return join(this.#folder, `${threadId}.${requestId}`);
  }
}
