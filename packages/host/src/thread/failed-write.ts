import type { TurnError } from "@bobbin/protocol";
import type { Command } from "../core/commands.ts";
import type { ThreadState } from "../core/state.ts";
import { fault } from "../errors.ts";
import { guardStorage } from "../store/storage-fault.ts";
import { readHead } from "../store/thread-head.ts";
import type { ActorPorts } from "./actor.ts";
import { commit, decideLetters } from "./commit.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import { letterOf } from "./mailbox.ts";

/**
 * A failed write of a loaded thread: it is unknown what its journal contains. The running turn ends for clients at once,
 * and in the journal when that can be written again.
 */
export class FailedWrite {
  readonly #thread: LoadedThread;
  readonly #ports: Pick<ActorPorts, "platform" | "observers" | "recovering">;
  /** Ends, in the journal, the turn that has ended for clients. */
  #end: Command | undefined;

  constructor(thread: LoadedThread, ports: Pick<ActorPorts, "platform" | "observers" | "recovering">) {
    this.#thread = thread;
    this.#ports = ports;
  }

  /** Ends the running turn for clients. Returns false if none was running that is known. Never throws. */
  endTurn(message: string, turnId = ""): boolean {
    const error: TurnError = {
      message,
      codexErrorInfo: "other",
      additionalDetails: null,
      misalignment: null,
    };
    const end: Command = { kind: "failTurn", at: this.#ports.platform.clock.now(), turnId, error };
    try {
      if (!this.#thread.broken(end)) return false;
    } catch (cause) {
      this.#ports.observers.failed(this.#thread.actor, cause);
      return false;
    }
    this.#end = end;
    return true;
  }

  /** Opens the journal again. Returns the state, in which no turn runs that has ended for clients. */
  async recover(): Promise<ThreadState> {
    const { id, journal, head: known } = this.#thread;
    const head = await guardStorage(async () => {
      await journal.reopen();
      // A commit may be there whose sync has failed. The next command may be answered because of it.
      await journal.flush();
      await this.#ports.recovering(id);
      return readHead(journal);
    });
    if (head === undefined || head.seq < known)
      throw fault("storageFailed", `the journal ends at ${head?.seq}, not at ${known}`);
    const end = letterOf(this.#end, undefined, true);
    const decided = decideLetters(this.#thread, [end], head.state, head.seq);
    // Clients were notified when the write failed.
    if (decided.records.length > 0) await commit(this.#thread, { ...decided, tell: [] }, this.#ports);
    else this.#thread.reopened(head);
    return decided.state;
  }
}
