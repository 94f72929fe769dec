import { NoAnswerError } from "@bobbin/rpc";
import type { BobbinClient } from "../client.ts";
import { watchForSilence } from "./heartbeat.ts";
import { pause, type RetryDelays, retryDelay } from "./retry-delay.ts";

/** The status of a connection to a host. `error`: why the last attempt failed, or why the connection ended. */
export type ConnectionStatus =
  | { readonly state: "connected" }
  | { readonly state: "connecting"; readonly attempt: number; readonly error: Error | null }
  | { readonly state: "closed"; readonly error: Error | null };

/** Opens a connection, without initializing it. Called again after each lost connection. */
export type OpenConnection = (signal: AbortSignal) => Promise<BobbinClient>;

interface KeeperOptions {
  readonly open: OpenConnection;
  /** Prepares a new connection: performs the handshake, and follows the threads again. */
  readonly prepare: (client: BobbinClient) => Promise<void>;
  readonly delays: RetryDelays;
  /** Time without a notification after which the client sends a request to test the connection; 0 for never. */
  readonly heartbeatMs: number;
  readonly changed: (status: ConnectionStatus) => void;
}

const SILENT = "the host does not answer";

/** Keeps one connection: when it is lost, another one is opened and prepared, until `close`. */
export class ConnectionKeeper {
  readonly #options: KeeperOptions;
  readonly #closing = new AbortController();
  #status: ConnectionStatus = { state: "connecting", attempt: 1, error: null };
  #client: BobbinClient | undefined;
  /** Callbacks that wait until a connection is made, or until no more attempts are made. */
  #waiting = new Set<() => void>();

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  get status(): ConnectionStatus {
    return this.#status;
  }

  /** Makes the first connection. `patient`: if it fails, keeps trying; otherwise the failure is thrown. */
  async start(patient: boolean): Promise<void> {
    try {
      await this.#attempt();
    } catch (cause) {
      if (this.#closing.signal.aborted) throw this.#closedError();
      if (!patient) {
        this.#end(asError(cause));
        throw cause;
      }
      await this.#reconnect(asError(cause));
      if (this.#client === undefined) throw this.#closedError();
    }
  }

  /** Resolves with the client of the connection. Waits until there is a connection. */
  async connected(signal?: AbortSignal): Promise<BobbinClient> {
    while (this.#client === undefined) {
      signal?.throwIfAborted();
      if (this.#status.state === "closed") throw this.#closedError();
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        this.#waiting.add(wake);
        signal?.addEventListener("abort", wake, { once: true });
      });
    }
    return this.#client;
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the client was closed"));
    const client = this.#client;
    this.#end(null);
    await client?.close();
  }

  async #attempt(): Promise<void> {
    const { signal } = this.#closing;
    const { open, prepare, heartbeatMs } = this.#options;
    const client = await open(signal);
    if (heartbeatMs > 0) void watchForSilence(client, heartbeatMs, () => this.#drop(client));
    // A host that does not answer must not keep a closed client from ending.
    const stop = () => void client.close();
    signal.addEventListener("abort", stop, { once: true });
    try {
      signal.throwIfAborted();
      await prepare(client);
      signal.throwIfAborted();
    } catch (cause) {
      await client.close();
      throw cause;
    } finally {
      signal.removeEventListener("abort", stop);
    }
    this.#client = client;
    this.#change({ state: "connected" });
    client.onClosed((why) => {
      if (this.#client !== client) return;
      this.#client = undefined;
      if (!signal.aborted) void this.#reconnect(new Error(why));
    });
  }

  /** Gives up a connection on which the host does not answer, also while it is being prepared. */
  #drop(client: BobbinClient): void {
    const isCurrent = this.#client === client;
    // Done before the close, which takes time: no more requests may be sent on this connection.
    if (isCurrent) this.#client = undefined;
    void client.close(SILENT);
    if (isCurrent && !this.#closing.signal.aborted) void this.#reconnect(new Error(SILENT));
  }

  /** Returns when there is a connection, or when no more attempts are made. Never rejects. */
  async #reconnect(lost: Error): Promise<void> {
    const { signal } = this.#closing;
    let error = lost;
    for (let attempt = 1; !signal.aborted; attempt++) {
      this.#change({ state: "connecting", attempt, error });
      await pause(retryDelay(attempt, this.#options.delays), signal);
      if (signal.aborted) return;
      try {
        return await this.#attempt();
      } catch (cause) {
        error = asError(cause);
      }
    }
  }

  #end(error: Error | null): void {
    if (this.#status.state === "closed") return;
    this.#client = undefined;
    this.#change({ state: "closed", error });
  }

  #change(status: ConnectionStatus): void {
    this.#status = status;
    if (status.state !== "connecting") for (const wake of [...this.#waiting]) wake();
    this.#options.changed(status);
  }

  #closedError(): NoAnswerError {
    return new NoAnswerError("closed", "the client was closed");
  }
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}
