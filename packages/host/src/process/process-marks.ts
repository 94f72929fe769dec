import { join } from "node:path";
import type { Log } from "../observe/log.ts";
import { MARK_VARIABLE } from "../platform/mark-variable.ts";
import type { Platform, Watchdog } from "../platform/platform.ts";

export interface ProcessMarksPorts {
  /** The home in which the mark is recorded; undefined for a program that only runs a few commands and ends. */
  readonly home: string | undefined;
  readonly platform: Pick<Platform, "ids" | "files" | "liveness" | "markedProcesses" | "env">;
  readonly log: Log;
}

/**
 * Marks by which the host finds its processes again, including those that left their session. With the first process
 * the host records its mark and starts a watchdog: a process that outlives the host is killed by the watchdog, or by
 * the next host that starts.
 */
export class ProcessMarks {
  readonly #ports: ProcessMarksPorts;
  readonly #folder: string | undefined;
  #host: string | undefined;
  #record: Promise<() => Promise<void>> | undefined;
  #watchdog: Promise<Watchdog | undefined> | undefined;

  constructor(ports: ProcessMarksPorts) {
    this.#ports = ports;
    this.#folder = ports.home === undefined ? undefined : join(ports.home, "processes");
  }

  /** Prefix of the marks of all processes of this host. */
  get host(): string {
    this.#host ??= this.#ports.platform.ids.uuid();
    return this.#host;
  }

  /** Whether a process was started with a mark of this host. */
  get isUsed(): boolean {
    return this.#host !== undefined;
  }

  /** Resolves when a process may be started. From then on, no process can outlive this host unnoticed. */
  async ready(): Promise<void> {
    await Promise.all([this.#recordMark(), this.#watch()]);
  }

  /**
   * The environment variable for a process. If this host was itself started by a host, that host's mark stays in
   * front.
   */
  variable(mark: string): Readonly<Record<string, string>> {
    const outer = this.#ports.platform.env[MARK_VARIABLE];
    return { [MARK_VARIABLE]: outer === undefined ? mark : `${outer}:${mark}` };
  }

  /** Kills the processes left running by hosts that have ended. */
  async sweepAbandoned(): Promise<void> {
    const { files, liveness, markedProcesses } = this.#ports.platform;
    const folder = this.#folder;
    if (folder === undefined) return;
    for (const { name } of await files.list(folder)) {
      const mark = /^([\w-]{36})\.lock$/.exec(name)?.[1];
      const path = join(folder, name);
      if (mark === undefined || mark === this.#host || (await liveness.alive(path))) continue;
      await markedProcesses.end([mark]);
      await files.remove(path);
    }
  }

  /** Stops the watchdog and removes the record; called when no process of this host is left. */
  async close(): Promise<void> {
    await (await this.#watchdog)?.stop();
    await (await this.#record)?.();
  }

  async #recordMark(): Promise<void> {
    if (this.#folder === undefined) return;
    this.#record ??= this.#ports.platform.liveness.announce(join(this.#folder, `${this.host}.lock`));
    try {
      await this.#record;
    } catch (cause) {
      this.#record = undefined;
      this.#ports.log.warn(
        "cannot record the mark of this host's processes; processes that outlive the host may keep running",
        { cause },
      );
    }
  }

  async #watch(): Promise<void> {
    this.#watchdog ??= this.#startWatchdog();
    if ((await this.#watchdog) === undefined) this.#watchdog = undefined;
  }

  async #startWatchdog(): Promise<Watchdog | undefined> {
    try {
      const watchdog = await this.#ports.platform.markedProcesses.watch(this.host);
      // If the watchdog ends for any reason, the next process starts another one.
      void watchdog.gone.then(() => {
        this.#watchdog = undefined;
      });
      return watchdog;
    } catch (cause) {
      this.#ports.log.warn(
        "cannot start a watchdog for this host's processes; they may outlive a host that is killed",
        { cause },
      );
      return undefined;
    }
  }
}
