import type { ThreadState } from "../../core/state.ts";
import type { ProjectRulesFiles } from "./project-rules.ts";

/**
 * The rules files of the project of each loaded thread, as they were when the thread was loaded. A model may be able to
 * change the files, and what counts as the project's root (`git init`), so they are not read again for its thread. A
 * helper has those of its parent. A client that moves a thread to another folder has the files there read.
 */
export class ThreadProjectRules {
  readonly #read: (cwd: string) => Promise<ProjectRulesFiles>;
  readonly #threads = new Map<string, Map<string, Promise<ProjectRulesFiles>>>();

  constructor(read: (cwd: string) => Promise<ProjectRulesFiles>) {
    this.#read = read;
  }

  /** Starts to read the files of a thread that is being loaded. */
  load({ facts, settings }: ThreadState): void {
    const parent = facts.parentThreadId === null ? undefined : this.#threads.get(facts.parentThreadId);
    this.#threads.set(facts.id, new Map(parent));
    // The error is thrown by `of`, when the rules are needed.
    this.#in(facts.id, settings.cwd).catch(() => {});
  }

  of({ facts, settings }: ThreadState): Promise<ProjectRulesFiles> {
    return this.#in(facts.id, settings.cwd);
  }

  unload(threadId: string): void {
    this.#threads.delete(threadId);
  }

  #in(threadId: string, cwd: string): Promise<ProjectRulesFiles> {
    const folders = this.#threads.get(threadId);
    const read = folders?.get(cwd) ?? this.#read(cwd);
    folders?.set(cwd, read);
    return read;
  }
}
