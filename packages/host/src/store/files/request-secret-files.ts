import { join } from "node:path";
import type { Files } from "../../platform/platform.ts";
import type { SecretTexts } from "../request-secrets.ts";

/** Secret texts as files under `secrets/`, each named by its thread and its request. */
export class SecretFiles implements SecretTexts {
  readonly #folder: string;
  readonly #files: Pick<Files, "readText" | "replaceText" | "remove" | "list">;

  constructor(home: string, files: Pick<Files, "readText" | "replaceText" | "remove" | "list">) {
    this.#folder = join(home, "secrets");
    this.#files = files;
  }

  save(threadId: string, requestId: number, text: string): Promise<void> {
    return this.#files.replaceText(this.#path(threadId, requestId), text);
  }

  read(threadId: string, requestId: number): Promise<string | undefined> {
    return this.#files.readText(this.#path(threadId, requestId));
  }

  remove(threadId: string, requestId: number): Promise<void> {
    return this.#files.remove(this.#path(threadId, requestId));
  }

  async list(): Promise<readonly { readonly threadId: string; readonly requestId: number }[]> {
    const found: { threadId: string; requestId: number }[] = [];
    for (const { name } of await this.#files.list(this.#folder)) {
      const [threadId, requestId] = name.split(".");
      if (threadId !== undefined && requestId !== undefined)
        found.push({ threadId, requestId: Number(requestId) });
    }
    return found;
  }

  #path(threadId: string, requestId: number): string {
    return join(this.#folder, `${threadId}.${requestId}`);
  }
}
