import { ConfigError } from "../config/bad-config-error.ts";
import type { Config } from "../config/config.ts";
import { isUsuallyOn } from "../config/features.ts";
import type { ConfigSnapshot, LayeredConfig } from "../config/layered-config.ts";
import { startOnlyChanges } from "../config/start-only-keys.ts";
import type { ThreadState } from "../core/state.ts";
import { fault } from "../errors.ts";
import { SUBJECT } from "./owner-access.ts";

export interface ThreadConfigPorts {
  readonly layers: LayeredConfig;
  /** The configuration that the host was started with. */
  readonly started: Config;
  /** Why the configuration file was invalid at the start; null if it was valid. */
  readonly wrong: string | null;
  /** Called when the configuration for all threads changes. */
  changed(config: Config): void;
  /** Called when keys have changed that take effect only at the next start of the host. */
  startOnly(keys: readonly string[]): void;
}

/**
 * The configuration of each loaded thread. The files are read again at each load. A loaded thread keeps its
 * configuration until it is unloaded.
 */
export class ThreadConfigs {
  readonly #ports: ThreadConfigPorts;
  /** The configuration for all threads. */
  #current: Config;
  #wrong: string | null;
  /** The files from which the configuration was read; undefined if they are unknown. */
  #seen: ConfigSnapshot | undefined;
  /** The changed keys that need a restart and that clients were notified of. */
  #startOnly = "";
  readonly #bound = new Map<string, Config>();
  /** Features that clients have switched on or off. */
  readonly #switched = new Map<string, boolean>();

  constructor(ports: ThreadConfigPorts) {
    this.#ports = ports;
    this.#current = ports.started;
    this.#wrong = ports.wrong;
    this.#seen = ports.layers.lastBase;
  }

  /** The configuration for all threads. */
  get current(): Config {
    return this.#current;
  }

  /** Why the configuration file is invalid; null if it is valid. */
  get wrong(): string | null {
    return this.#wrong;
  }

  /** Applies a configuration that was just written. The writer has applied the administrator's requirements to it. */
  configure(written: Config): void {
    this.#use(written);
  }

  /** Reads the current configuration, for a folder if one is named. Throws `badConfig` if it is invalid. */
  async load(cwd?: string): Promise<Config> {
    const snapshot = await this.#ports.layers.snapshot(cwd);
    return usable(() => {
      this.#take(snapshot.base);
      return snapshot.hasProject ? snapshot.config : this.#current;
    });
  }

  /** The last result of `load` for a folder. */
  at(cwd: string): Config {
    const snapshot = this.snapshot(cwd);
    return snapshot?.hasProject ? snapshot.config : this.#current;
  }

  /** The files of the last `load` for a folder. */
  snapshot(cwd: string): ConfigSnapshot | undefined {
    return this.#ports.layers.lastSnapshot(cwd);
  }

  /** Binds the current configuration to a loaded thread. Threads of subjects ignore the files of projects. */
  bind({ facts, settings }: ThreadState): void {
    // Most threads share one object, so a thread costs one entry.
    this.#bound.set(facts.id, facts.owner.startsWith(SUBJECT) ? this.#current : this.at(settings.cwd));
  }

  unbind(threadId: string): void {
    this.#bound.delete(threadId);
  }

  /** The configuration with which a thread was loaded; the current one if the thread is not loaded. */
  of(threadId: string): Config {
    return this.#bound.get(threadId) ?? this.#current;
  }

  /** Switches a feature until the host ends, also for loaded threads. A value in the configuration takes precedence. */
  switchFeature(name: string, enabled: boolean): void {
    this.#switched.set(name, enabled);
  }

  /** Features that clients have switched on or off. */
  get switched(): Readonly<Record<string, boolean>> {
    return Object.fromEntries(this.#switched);
  }

  /** Whether a feature is on, for a thread if one is named. */
  isEnabled(name: string, threadId?: string): boolean {
    const { features } = threadId === undefined ? this.#current : this.of(threadId);
    return features[name] ?? this.#switched.get(name) ?? isUsuallyOn(name);
  }

  #take(base: ConfigSnapshot): void {
    if (this.#seen === base && this.#wrong === null) return;
    // A host that was started with a configuration object keeps it until a file changes.
    const isHanded = this.#seen === undefined && this.#wrong === null;
    if (!isHanded) this.#use(base.config);
    this.#seen = base;
  }

  #use(config: Config): void {
    this.#wrong = null;
    this.#current = config;
    this.#ports.changed(config);
    const keys = startOnlyChanges(this.#ports.started, config);
    if (keys.length > 0 && this.#startOnly !== keys.join()) this.#ports.startOnly(keys);
    this.#startOnly = keys.join();
  }
}

function usable<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw cause instanceof ConfigError ? fault("badConfig", cause.message) : cause;
  }
}
