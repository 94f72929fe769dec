import { fault } from "../errors.ts";

/** Limit on the running programs of one connection, and of all connections. A program takes up to three descriptors. */
const MAX_PER_CONNECTION = 64;
const MAX_PROCESSES = 128;

/** Limits the programs that clients run by themselves, so that descriptors are left for everything else. */
export class ClientProcessLimit {
  readonly #byConnection = new Map<object, number>();
  #total = 0;

  /** Counts a program. Throws `tooManyProcesses` at a limit. */
  take(connection: object): void {
    const own = this.#byConnection.get(connection) ?? 0;
    if (own >= MAX_PER_CONNECTION) throw fault("tooManyProcesses", MAX_PER_CONNECTION, "of this connection");
    if (this.#total >= MAX_PROCESSES) throw fault("tooManyProcesses", MAX_PROCESSES, "of all clients");
    this.#byConnection.set(connection, own + 1);
    this.#total++;
  }

  /** Called when a program has ended, or could not be started. */
  free(connection: object): void {
    const left = (this.#byConnection.get(connection) ?? 0) - 1;
    if (left > 0) this.#byConnection.set(connection, left);
    else this.#byConnection.delete(connection);
    this.#total--;
  }
}
