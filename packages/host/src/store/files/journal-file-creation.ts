import type { Commit } from "../../core/records.ts";
import type { AppendFile } from "../../platform/platform.ts";
import { encodeCommit } from "./commit-format.ts";
import { tornBytes } from "./journal-file-reader.ts";
import { sessionPath } from "./journal-paths.ts";
import type { SharedJournalParts } from "./shared-journal-parts.ts";

/** How far the journal file was created. */
type Stage =
  | { readonly kind: "new" }
  /** The first commit is in the start log. That is enough until the thread is used. */
  | {
      readonly kind: "acknowledged";
      readonly at: number;
      readonly length: number;
      /** The first line; undefined after `rest`, because the start log contains it. */
      readonly line: Uint8Array | undefined;
    }
  | { readonly kind: "making"; readonly making: Promise<void> };

/**
 * Creates the journal file of one new thread. One write to the start log acknowledges the thread, and the file is
 * created when the thread is first used.
 */
export class JournalFileCreation {
  readonly #threadId: string;
  readonly #shared: SharedJournalParts;
  #stage: Stage = { kind: "new" };
  /** Whether the thread has a journal file that could neither be completed nor removed. */
  #halfMade = false;

  constructor(threadId: string, shared: SharedJournalParts) {
    this.#threadId = threadId;
    this.#shared = shared;
  }

  /** Whether the thread has no commit. */
  get isNew(): boolean {
    return this.#stage.kind === "new";
  }

  /**
   * Acknowledges the thread by one write to the start log. Returns the number of bytes. `make`: creates the journal
   * for the start log.
   */
  async start(first: Commit, make: () => Promise<void>): Promise<number> {
    const line = encodeCommit(first);
    const at = await this.#shared.starts.add(this.#threadId, line, make);
    this.#stage = { kind: "acknowledged", at, length: line.length, line };
    return line.length;
  }

  /**
   * Resolves when the thread has its own journal file, or is still without a commit. `created` is called with the file
   * when it has its first commit.
   */
  make(created: (file: AppendFile) => void): Promise<void> {
    if (this.#stage.kind === "acknowledged") {
      const { at, length, line } = this.#stage;
      const making = this.#shared.making.run(async () => {
        created(await this.#fileWith(line ?? (await this.#shared.starts.read(at, length))));
      });
      this.#stage = { kind: "making", making };
      // Waiting callers get the error. The next caller starts another attempt.
      making.catch(() => {
        this.#stage = { kind: "acknowledged", at, length, line };
      });
    }
    return this.#stage.kind === "making" ? this.#stage.making : Promise.resolve();
  }

  /** Releases memory. Returns the creation that is in progress, which never rejects; undefined if there is none. */
  rest(): Promise<void> | undefined {
    if (this.#stage.kind === "acknowledged") this.#stage = { ...this.#stage, line: undefined };
    return this.#stage.kind === "making" ? this.#stage.making.catch(() => {}) : undefined;
  }

  /** Marks the thread in the start log, so that no start log can recreate it. */
  async cancel(): Promise<void> {
    if (this.#stage.kind === "acknowledged") await this.#shared.starts.made(this.#threadId);
  }

  /** Creates the file with its first line. */
  async #fileWith(line: Uint8Array): Promise<AppendFile> {
    const { claims, starts } = this.#shared;
    // The claim comes first: another host takes a thread whose file it finds without a claim.
    const needsRecovery = claims.needsRecovery(this.#threadId);
    await claims.mustTake(this.#threadId);
    // If a host died before it created the thread, its leftover claim does not mean that this thread needs recovery.
    if (!needsRecovery) claims.markRecovered(this.#threadId);
    this.#shared.made.add(this.#threadId);
    const opening = this.#openNew();
    try {
      const file = await opening;
      await file.append(line);
      await starts.made(this.#threadId);
      return file;
    } catch (cause) {
      await this.#unmake(opening);
      throw cause;
    }
  }

  /** Opens an empty file for a thread that has none. */
  async #openNew(): Promise<AppendFile> {
    const { files } = this.#shared;
    try {
      return await files.openAppend(this.#path, { fresh: true });
    } catch (cause) {
      if ((cause as { code?: unknown }).code !== "EEXIST") throw cause;
      const file = await files.openAppend(this.#path);
      // After a power cut, a file may have its directory entry and nothing of its first line.
      const isEmpty = this.#halfMade || (await tornBytes(files, file, this.#path)) === file.size;
      if (isEmpty) {
        await file.truncate(0);
        return file;
      }
      await file.close();
      throw cause;
    }
  }

  /** Removes an incomplete journal. The start log still contains its first commit. */
  async #unmake(opening: Promise<AppendFile>): Promise<void> {
    const file = await opening.catch(() => undefined);
    if (file === undefined) return;
    await file.close();
    this.#halfMade = true;
    await this.#shared.files.remove(this.#path);
    this.#halfMade = false;
  }

  /** The path of the file. A thread is archived only after its file was created. */
  get #path(): string {
    return sessionPath(this.#shared.home, this.#threadId);
  }
}
