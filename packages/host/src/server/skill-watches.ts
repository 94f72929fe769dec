import type { Supervisor } from "../observe/supervise.ts";
import type { Bounds, MachineFileAccess } from "../platform/machine-file-access.ts";
import type { Cancel, Timers } from "../platform/platform.ts";
import { PathWatch } from "../watch/path-watch.ts";
import { SharedWatches } from "../watch/shared-watches.ts";
import type { Connection } from "./connection.ts";

/** Changes within this time after a first change cause one notification. */
const GATHER_MS = 200;
/**
 * Limit on the watched folders per connection. Above it, the folders that were listed longest ago are no longer
 * watched.
 */
const MAX_FOLDERS = 1000;
/** Limit on the watched files and folders of all connections. */
const MAX_WATCHED = 16_384;

export interface SkillWatchPorts {
  readonly files: MachineFileAccess;
  readonly timers: Timers;
  readonly supervisor: Supervisor;
}

/**
 * Watches the folders whose skills a connection has listed, and sends it `skills/changed`. The watches end with the
 * connection.
 */
export class SkillWatches {
  readonly #ports: SkillWatchPorts;
  readonly #shared: SharedWatches;
  readonly #byConnection = new Map<Connection, ConnectionSkills>();
  readonly #gone = new WeakSet<Connection>();

  constructor(ports: SkillWatchPorts) {
    this.#ports = ports;
    this.#shared = new SharedWatches(ports.files.watch, ports.timers, MAX_WATCHED);
  }

  /** Resolves when these folders are watched; true if some of them were not watched before. */
  async follow(connection: Connection, folders: readonly string[], bounds: Bounds): Promise<boolean> {
    if (this.#gone.has(connection)) return false;
    const skills = this.#byConnection.get(connection) ?? new ConnectionSkills(connection, this.#ports);
    this.#byConnection.set(connection, skills);
    return skills.follow(folders, this.#shared, bounds);
  }

  left(connection: Connection): void {
    this.#gone.add(connection);
    this.#byConnection.get(connection)?.close();
    this.#byConnection.delete(connection);
  }

  close(): void {
    for (const connection of [...this.#byConnection.keys()]) this.left(connection);
  }
}

/** The watches of one connection. */
class ConnectionSkills {
  readonly #connection: Connection;
  readonly #ports: SkillWatchPorts;
  /** Watches by folder, the least recently listed folder first; undefined while a watch is being started. */
  readonly #watches = new Map<string, PathWatch | undefined>();
  #cancel: Cancel | undefined;
  #closed = false;

  constructor(connection: Connection, ports: SkillWatchPorts) {
    this.#connection = connection;
    this.#ports = ports;
  }

  async follow(folders: readonly string[], watches: SharedWatches, bounds: Bounds): Promise<boolean> {
    const fresh = folders.slice(0, MAX_FOLDERS).filter((folder) => !this.#watches.has(folder));
    for (const folder of folders) {
      const known = this.#watches.get(folder);
      if (known === undefined) continue;
      this.#watches.delete(folder);
      this.#watches.set(folder, known);
    }
    for (const folder of fresh) this.#watches.set(folder, undefined);
    await Promise.all(fresh.map((folder) => this.#watch(folder, watches, bounds)));
    for (const [oldest, watch] of this.#watches) {
      if (this.#watches.size <= MAX_FOLDERS) break;
      this.#watches.delete(oldest);
      watch?.close();
    }
    return fresh.length > 0;
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
    for (const watch of this.#watches.values()) watch?.close();
    this.#watches.clear();
  }

  async #watch(folder: string, watches: SharedWatches, bounds: Bounds): Promise<void> {
    const { files, timers } = this.#ports;
    try {
      const changed = () => this.#changed();
      const watch = await PathWatch.start(folder, { files, watches, timers, bounds, changed });
      if (this.#closed || !this.#watches.has(folder)) watch.close();
      else this.#watches.set(folder, watch);
    } catch {
      // A folder that cannot be watched is tried again when skills are listed next.
      this.#watches.delete(folder);
    }
  }

  #changed(): void {
    if (this.#closed || this.#cancel !== undefined) return;
    this.#cancel = this.#ports.timers.after(GATHER_MS, () => {
      this.#ports.supervisor.take("reporting changed skills", this.#report());
    });
  }

  async #report(): Promise<void> {
    // A client that reads slowly gets one notification for many changes.
    for (let full = this.#connection.room(); full !== undefined; full = this.#connection.room()) await full;
    this.#cancel = undefined;
    if (!this.#closed) this.#connection.notify("skills/changed", {});
  }
}
