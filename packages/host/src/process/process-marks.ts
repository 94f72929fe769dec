import { join } from "node:path";
import type { Log } from "../observe/log.ts";
import type { Platform, Watchdog } from "../platform/platform.ts";

/** The variable in which every process that a host starts, and whatever it starts, has its mark. */
export const MARK_VARIABLE = "BOBBIN_PROCESS";

export interface ProcessMarksPorts {
  /** Where the mark is written down; undefined for a program that only runs a few commands and ends. */
  readonly home: string | undefined;
  readonly platform: Pick<Platform, "ids" | "files" | "liveness" | "markedProcesses" | "env">;
  readonly log: Log;
}

/**
 * Marks by which the processes of this host are found again, also those that left their session. With the first of them,
 * the host writes its mark down and starts a watchdog: whoever outlives the host is killed by that, or by the next start.
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

  /** Begins the mark of every process of this host. */
  get host(): string {
    this.#host ??= this.#ports.platform.ids.uuid();
    return this.#host;
  }

  /** Whether a process was started with a mark of this host. */
  get isUsed(): boolean {
    return this.#host !== undefined;
  }

  /** Resolves when a process may be started: from then on it does not outlive this host. */
  async ready(): Promise<void> {
    await Promise.all([this.#writeDown(), this.#watch()]);
  }

  /** The variable for a process. A host that is itself a process of a host passes that one's mark on. */
  variable(mark: string): Readonly<Record<string, string>> {
    const outer = this.#ports.platform.env[MARK_VARIABLE];
    return { [MARK_VARIABLE]: outer === undefined ? mark : `${outer}:${mark}` };
  }

  /** Kills what hosts that are gone have left running. */
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

  /** No process of this host is left: so nothing has to be watched. */
  async close(): Promise<void> {
    await (await this.#watchdog)?.stop();
    await (await this.#record)?.();
  }

  async #writeDown(): Promise<void> {
    if (this.#folder === undefined) return;
    this.#record ??= this.#ports.platform.liveness.announce(join(this.#folder, `${this.host}.lock`));
    try {
      await this.#record;
    } catch (cause) {
      this.#record = undefined;
      this.#ports.log.warn("the mark of this host's processes cannot be saved", { cause });
    }
  }

  async #watch(): Promise<void> {
    this.#watchdog ??= this.#startWatchdog();
    if ((await this.#watchdog) === undefined) this.#watchdog = undefined;
  }

  async #startWatchdog(): Promise<Watchdog | undefined> {
    try {
      const watchdog = await this.#ports.platform.markedProcesses.watch(this.host);
      // Whoever ended it: the next process gets another one.
      void watchdog.gone.then(() => {
        this.#watchdog = undefined;
      });
      return watchdog;
    } catch (cause) {
      this.#ports.log.warn("no watchdog for this host's processes can be started", { cause });
      return undefined;
    }
  }
}
