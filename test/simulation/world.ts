// Hosts load these modules at their first use, and the scheduler does not see that wait.
import "../../packages/host/src/sandbox/network/command-network.ts";
import "../../packages/host/src/sandbox/sandbox.ts";
import "../../packages/host/src/tool/consent/command-actions.ts";
import "../../packages/host/src/tool/consent/decide-consent.ts";
import "../../packages/host/src/tool/consent/parse-command.ts";
import "../../packages/host/src/tool/consent/read-only-commands.ts";
import "../../packages/host/src/tool/consent/rules-store.ts";
import "../../packages/host/src/workspace/turn-files.ts";
import type { HostOptions } from "../../packages/host/src/compose.ts";
import type { Keyring } from "../../packages/host/src/platform/platform.ts";
import { Disk } from "./disk.ts";
import { Locks } from "./fake-liveness.ts";
import { FakeModel } from "./fake-model.ts";
import { FakeNetwork } from "./fake-network.ts";
import { FakeProcesses } from "./fake-spawn.ts";
import { IndexFile } from "./memory-index.ts";
import { Random } from "./random.ts";
import { Scheduler } from "./scheduler.ts";
import type { SimClient } from "./sim-client.ts";
import { SimHost } from "./sim-host.ts";

/** Everything around the hosts of one run, which outlives them: time, the disk, the network, processes, the model. */
export class World {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly disk: Disk;
  readonly locks = new Locks();
  readonly index: IndexFile;
  readonly model: FakeModel;
  readonly network: FakeNetwork;
  readonly processes: FakeProcesses;
  /** The keyring of every host. A scenario may set it before it starts a host. */
  keyring: Keyring | undefined;
  /** The environment of every host. A scenario may change it before it starts a host. */
  env: Readonly<Record<string, string>> = { PATH: "/usr/bin:/bin", HOME: "/home/of", SHELL: "/bin/sh" };
  readonly clients: SimClient[] = [];
  /** Rejects with the first failure. */
  readonly failed: Promise<never>;
  #reject!: (why: Error) => void;
  #hosts = 0;
  #expected: RegExp[] = [];

  constructor(seed: number) {
    this.random = new Random(seed);
    this.scheduler = new Scheduler(this.random);
    this.disk = new Disk(this.random);
    this.index = new IndexFile(this.disk);
    this.model = new FakeModel(this.scheduler);
    this.network = new FakeNetwork(this.scheduler);
    this.processes = new FakeProcesses(this.scheduler);
    this.failed = new Promise((_, reject) => {
      this.#reject = reject;
    });
    // A failure after the run's end is not awaited.
    this.failed.catch(() => {});
  }

  /** Starts a host on this world's disk. */
  async start(options: Partial<HostOptions> = {}): Promise<SimHost> {
    return SimHost.start(this, `host${++this.#hosts}`, options);
  }

  /** A moment in which anything else may happen; `who` has its own speed. */
  moment(who = "scenario"): Promise<void> {
    const moment = new Promise<void>((resolve) => this.scheduler.post(who, "moment", resolve));
    return this.scheduler.waitFor(`${who}: a moment`, moment);
  }

  /** Until that much virtual time has passed. */
  sleep(ms: number, who = "scenario"): Promise<void> {
    return new Promise((resolve) => void this.scheduler.after(ms, who, `slept ${ms} ms`, resolve));
  }

  /** The run fails with this. */
  fail(why: Error): void {
    this.#reject(why);
  }

  /** Fails the run if `holds` throws. */
  check(holds: () => void): void {
    try {
      holds();
    } catch (cause) {
      this.fail(cause as Error);
      throw cause;
    }
  }

  /** Errors that a host may log in this run; any other one fails it. */
  expectError(...patterns: readonly RegExp[]): void {
    this.#expected.push(...patterns);
  }

  logged(host: string, message: string, cause: unknown): void {
    this.scheduler.note(host, `logs an error: ${message}`);
    const text = `${message}: ${cause instanceof Error ? cause.message : String(cause)}`;
    if (this.#expected.some((pattern) => pattern.test(text))) return;
    this.fail(new Error(`${host} logged: ${text}`, { cause }));
  }
}
