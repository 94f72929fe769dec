import { fault } from "../errors.ts";
import { FewAtOnce } from "../platform/concurrency-limit.ts";
import type { Bounds } from "../platform/machine-file-access.ts";
import type { Connection } from "./connection.ts";

/**
 * Limit on the file requests of one client that run at a time. Node has few worker threads for file access, and all
 * clients share them.
 */
const AT_ONCE = 2;

interface ClientLane {
  readonly turns: FewAtOnce;
  readonly controller: AbortController;
  /** Number of requests that wait or run. */
  busy: number;
}

/**
 * Limits how many file requests of each client run at a time. Requests in progress are aborted when their
 * connection ends.
 */
export class ClientFileRequests {
  readonly #lanes = new Map<Connection, ClientLane>();
  #closed = false;

  async run<T>(
    connection: Connection,
    isAllowed: Bounds["isAllowed"],
    work: (bounds: Bounds) => Promise<T>,
  ): Promise<T> {
    const lane = this.#laneOf(connection);
    lane.busy++;
    try {
      return await lane.turns.run(() => {
        lane.controller.signal.throwIfAborted();
        return work({ isAllowed, signal: lane.controller.signal });
      });
    } finally {
      if (--lane.busy === 0) this.#lanes.delete(connection);
    }
  }

  left(connection: Connection): void {
    this.#lanes.get(connection)?.controller.abort(fault("shuttingDown"));
  }

  /** Aborts the requests in progress, and all later ones. */
  close(): void {
    this.#closed = true;
    for (const { controller } of this.#lanes.values()) controller.abort(fault("shuttingDown"));
  }

  #laneOf(connection: Connection): ClientLane {
    const known = this.#lanes.get(connection);
    if (known !== undefined) return known;
    const lane: ClientLane = { turns: new FewAtOnce(AT_ONCE), controller: new AbortController(), busy: 0 };
    if (this.#closed || connection.state === "closed") lane.controller.abort(fault("shuttingDown"));
    this.#lanes.set(connection, lane);
    return lane;
  }
}
