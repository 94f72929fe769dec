import type { Bobbin } from "@bobbin/client";
import type { FuzzyFileSearchResult } from "@bobbin/protocol";

let lastSession = 0;

/**
 * Searches the files of a folder while the user types. The host lists the folder once, and compares each query with
 * this list. If queries come faster than the host answers, only the last one is sent.
 */
export class FileSearch {
  readonly #client: Bobbin;
  readonly #folder: string;
  readonly #sessionId = `console-${++lastSession}`;
  readonly #stop: () => void;
  #isStarted = false;
  #isAsking = false;
  #query = "";
  #asked: string | undefined;
  #isClosed = false;

  constructor(client: Bobbin, folder: string, found: (files: readonly FuzzyFileSearchResult[]) => void) {
    this.#client = client;
    this.#folder = folder;
    this.#stop = client.onNotification(({ method, params }) => {
      if (method !== "fuzzyFileSearch/sessionUpdated" || params.sessionId !== this.#sessionId) return;
      if (params.query === this.#query) found(params.files);
    });
  }

  /** Rejects if the host refuses the search. */
  async ask(query: string): Promise<void> {
    this.#query = query;
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      while (this.#asked !== this.#query && !this.#isClosed) {
        this.#asked = this.#query;
        await this.#update(this.#asked);
      }
    } finally {
      this.#isAsking = false;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stop();
    // If the connection was lost, the request fails, and the search session has already ended.
    if (this.#isStarted)
      this.#client.request("fuzzyFileSearch/sessionStop", { sessionId: this.#sessionId }).catch(() => {});
  }

  async #update(query: string): Promise<void> {
    const sessionId = this.#sessionId;
    try {
      if (this.#isStarted) {
        await this.#client.request("fuzzyFileSearch/sessionUpdate", { sessionId, query });
        return;
      }
    } catch {
      // The connection was lost and made again. The new one has no search session, so one is started below.
    }
    if (this.#isClosed) return;
    this.#isStarted = true;
    const roots = [await absoluteFolder(this.#client, this.#folder)];
    await this.#client.request("fuzzyFileSearch/sessionStart", { sessionId, roots });
    await this.#client.request("fuzzyFileSearch/sessionUpdate", { sessionId, query });
  }
}

/** The absolute path of a folder, so that the paths of mentioned files are absolute, too. */
async function absoluteFolder(client: Bobbin, folder: string): Promise<string> {
  if (/^(?:[/\\]|[a-z]:)/i.test(folder)) return folder;
  // `skills/list` without folders replies with the path of the host's own folder.
  const own = (await client.request("skills/list", {})).data[0]?.cwd ?? ".";
  return folder === "" ? own : `${own.replace(/\/$/, "")}/${folder}`;
}
