import { fault } from "../errors.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Bounds, MachineFileAccess } from "../platform/machine-file-access.ts";
import type { Cancel, Timers } from "../platform/platform.ts";
import { PathWatch } from "../watch/path-watch.ts";
import { SharedWatches } from "../watch/shared-watches.ts";
import type { Connection } from "./connection.ts";

/** Changes within this time after a first change are reported together. */
const GATHER_MS = 200;
/** Limit on the paths of one report. Above it, the watched path itself is reported. */
const MAX_PATHS = 1000;
const MAX_PER_CONNECTION = 1024;
/** Limit on the watched files and folders of all clients, including the parent folders of watched paths. */
const MAX_WATCHED = 32_768;

export interface ClientWatchPorts {
  readonly files: MachineFileAccess;
  readonly timers: Timers;
  readonly supervisor: Supervisor;
}

/** File watches of clients (`fs/watch`). They end with their connection. */
export class ClientFileWatches {
  readonly #ports: ClientWatchPorts;
  readonly #shared: SharedWatches;
  readonly #byConnection = new Map<Connection, Map<string, ClientWatch>>();

  constructor(ports: ClientWatchPorts) {
    this.#ports = ports;
    this.#shared = new SharedWatches(ports.files.watch, ports.timers, MAX_WATCHED);
  }

  /**
   * Resolves when the watch is active. The ID is reserved at once; the watch starts when `within` has checked the
   * connection's access.
   */
  async start(
    connection: Connection,
    { watchId, path }: { readonly watchId: string; readonly path: string },
    within: (begin: (bounds: Bounds) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const watches = this.#byConnection.get(connection) ?? new Map<string, ClientWatch>();
    if (watches.has(watchId)) throw fault("watchIdTaken", watchId);
    if (watches.size >= MAX_PER_CONNECTION) throw fault("tooManyWatches", MAX_PER_CONNECTION);
    const watch = new ClientWatch(connection, watchId, path, this.#ports);
    this.#byConnection.set(connection, watches.set(watchId, watch));
    try {
      await watch.start(within((bounds) => watch.begin(this.#shared, bounds)));
    } catch (cause) {
      this.#forget(connection, watchId, watch);
      throw cause;
    }
  }

  /** Once this resolves, no more changes are reported. */
  async end(connection: Connection, watchId: string): Promise<void> {
    const watch = this.#byConnection.get(connection)?.get(watchId);
    if (watch === undefined) return;
    // The client first gets the reply to its request that started the watch.
    await watch.begun();
    this.#forget(connection, watchId, watch);
  }

  left(connection: Connection): void {
    for (const watch of this.#byConnection.get(connection)?.values() ?? []) watch.close();
    this.#byConnection.delete(connection);
  }

  close(): void {
    for (const connection of [...this.#byConnection.keys()]) this.left(connection);
  }

  #forget(connection: Connection, watchId: string, watch: ClientWatch): void {
    watch.close();
    const watches = this.#byConnection.get(connection);
    if (watches?.get(watchId) === watch) watches.delete(watchId);
    if (watches?.size === 0) this.#byConnection.delete(connection);
  }
}

/** A watch, and its unreported changes. */
class ClientWatch {
  readonly #connection: Connection;
  readonly #watchId: string;
  readonly #path: string;
  readonly #ports: ClientWatchPorts;
  #starting: Promise<void> | undefined;
  #watch: PathWatch | undefined;
  #changed = new Set<string>();
  #cancel: Cancel | undefined;
  #isReporting = false;
  #closed = false;

  constructor(connection: Connection, watchId: string, path: string, ports: ClientWatchPorts) {
    this.#connection = connection;
    this.#watchId = watchId;
    this.#path = path;
    this.#ports = ports;
  }

  async start(starting: Promise<void>): Promise<void> {
    this.#starting = starting;
    await starting;
  }

  /** Resolves when the watch has started, or has failed to start. */
  async begun(): Promise<void> {
    await this.#starting?.catch(() => {});
  }

  async begin(watches: SharedWatches, bounds: Bounds): Promise<void> {
    if (this.#closed) return;
    const { files, timers } = this.#ports;
    this.#watch = await PathWatch.start(this.#path, {
      files,
      watches,
      timers,
      bounds,
      changed: (path) => this.#gather(path),
    });
    if (this.#closed) this.#watch.close();
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
    this.#watch?.close();
  }

  #gather(path: string): void {
    if (this.#closed) return;
    if (this.#changed.size < MAX_PATHS) this.#changed.add(path);
    else this.#changed = new Set([this.#path]);
    if (this.#isReporting) return;
    this.#isReporting = true;
    this.#cancel = this.#ports.timers.after(GATHER_MS, () => {
      this.#ports.supervisor.take("reporting changed files", this.#report());
    });
  }

  async #report(): Promise<void> {
    // A client that reads slowly gets fewer, but larger reports.
    for (let full = this.#connection.room(); full !== undefined; full = this.#connection.room()) await full;
    if (this.#closed) return;
    const changedPaths = [...this.#changed].sort();
    this.#changed.clear();
    this.#isReporting = false;
    this.#connection.notify("fs/changed", { watchId: this.#watchId, changedPaths });
  }
}
