import { conforms } from "@bobbin/protocol/conforms";
import { ExternalAgentConfigImportHistory as History } from "@bobbin/protocol/types";
import { fault, messageOf } from "../errors.ts";
import type { Log } from "../observe/log.ts";
import type { DocumentStore } from "../store/documents.ts";

/** Limit on stored histories. */
const MAX_HISTORIES = 100;

/** The name of the stored document. */
const HISTORIES = "import_histories";

export interface HistoryPorts {
  readonly documents: Pick<DocumentStore, "read" | "replace">;
  readonly log: Pick<Log, "warn">;
}

/** Results of past imports, the latest first. */
export class ImportHistories {
  readonly #ports: HistoryPorts;
  #changing: Promise<unknown> = Promise.resolve();

  constructor(ports: HistoryPorts) {
    this.#ports = ports;
  }

  async all(): Promise<History[]> {
    await this.#changing;
    const stored = await this.#ports.documents.read(HISTORIES).catch((cause: unknown) => {
      this.#warn(cause);
      return undefined;
    });
    return this.#parse(stored?.text);
  }

  /** Resolves when the history is durable. */
  add(history: History): Promise<void> {
    const added = this.#changing.then(() =>
      this.#add(history).catch((cause: unknown) => {
        throw fault("notSaved", messageOf(cause));
      }),
    );
    this.#changing = added.catch(() => {});
    return added;
  }

  async #add(history: History): Promise<void> {
    const { documents } = this.#ports;
    for (;;) {
      const stored = await documents.read(HISTORIES);
      const all = [history, ...this.#parse(stored?.text)].slice(0, MAX_HISTORIES);
      // Another host may have changed the document in between: the history is added to the new version.
      if (await documents.replace(HISTORIES, `${JSON.stringify(all)}\n`, stored?.version)) return;
    }
  }

  #parse(text = "[]"): History[] {
    try {
      const value: unknown = JSON.parse(text);
      if (!Array.isArray(value)) throw new Error("the document is not a list");
      return value.filter((one): one is History => conforms(History, one));
    } catch (cause) {
      this.#warn(cause);
      return [];
    }
  }

  #warn(cause: unknown): void {
    const document = HISTORIES;
    this.#ports.log.warn("the import histories cannot be read; an empty list is used", { document, cause });
  }
}
