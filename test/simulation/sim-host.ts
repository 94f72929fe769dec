import { type Link, type LinkEvents, memoryPair } from "@bobbin/rpc";
import { compose, type HostOptions } from "../../packages/host/src/compose.ts";
import { readConfig } from "../../packages/host/src/config/config.ts";
import type { Host } from "../../packages/host/src/host.ts";
import type { Log } from "../../packages/host/src/observe/log.ts";
import { type FakePlatform, fakePlatform } from "./fake-platform.ts";
import { FrameRules } from "./frame-rules.ts";
import type { MemoryIndex } from "./memory-index.ts";
import { MemoryUsageStore } from "./memory-usage-store.ts";
import { DELIVERY, type Owner } from "./scheduler.ts";
import { SimClient } from "./sim-client.ts";
import type { World } from "./world.ts";

export const HOME = "/home/of/bobbin";
/** The provider of threads that name none. */
const MODEL = "offline";

export interface ConnectOptions {
  readonly transport?: "stdio" | "websocket" | "unix";
  /** The factor by which the host sees the connection's backlog enlarged, so that little data is already too much. */
  readonly magnify?: number;
}

/** One incarnation of a host: from its start to its close or its death. */
export class SimHost implements Owner {
  readonly name: string;
  readonly platform: FakePlatform;
  alive = true;
  readonly #world: World;
  readonly #host: Host;
  readonly #index: MemoryIndex;
  #die!: () => void;
  readonly #died = new Promise<void>((resolve) => {
    this.#die = resolve;
  });
  readonly clients: SimClient[] = [];

  private constructor(world: World, name: string, makeHost: (host: SimHost) => Host) {
    this.name = name;
    this.#world = world;
    this.platform = fakePlatform(world, this);
    this.#index = world.index.open();
    this.#host = makeHost(this);
  }

  static start(world: World, name: string, options: Partial<HostOptions> = {}): SimHost {
    return new SimHost(world, name, (host) => {
      const composed = compose({
        home: HOME,
        cwd: "/work",
        config: readConfig({}),
        platform: host.platform,
        log: recordingLog(world, host),
        providers: [world.model.provider(MODEL, host)],
        index: host.#index,
        usage: new MemoryUsageStore(),
        ...options,
      });
      composed.host.takeOver();
      return composed.host;
    });
  }

  /** Connects a new client. */
  connect({ transport = "stdio", magnify = 1 }: ConnectOptions = {}): SimClient {
    const { scheduler } = this.#world;
    const name = `c${this.#world.clients.length + 1}`;
    let client: SimClient | undefined;
    const [near, far] = memoryPair({
      // The pair keeps the order of each direction. The two directions have no order relative to each other.
      schedule: (run) => scheduler.post(`${name} wire ${scheduler.random.below(3)}`, DELIVERY, run),
      after: (ms, run) => {
        const cut = () => {
          if (client?.end !== "open") return;
          client.end = "cut";
          run();
        };
        scheduler.after(ms, `${name} wire`, `cut after ${ms} ms`, cut);
      },
    });
    const rules = new FrameRules(name, this.#world.model.answered, (why) => this.#world.fail(new Error(why)));
    client = new SimClient(name, near, scheduler, rules);
    const link = magnify === 1 ? far : magnified(far, magnify);
    const events = this.#host.accept(link, { transport, principal: { kind: "local" } });
    far.attach(this.#whileAlive(events, client));
    near.attach(client);
    this.clients.push(client);
    this.#world.clients.push(client);
    return client;
  }

  /** Shuts down normally, unless the host dies before. Nothing of it may be left afterwards. */
  async close(): Promise<void> {
    if (!this.alive) return;
    const closed = Promise.race([this.#host.close(), this.#died]);
    await this.#world.scheduler.waitFor(`${this.name}: close`, closed);
    // The last frames may still be on their way to the client.
    await this.#world.scheduler.quiet();
    if (!this.alive) return;
    this.#world.check(() => {
      const { scheduler } = this.#world;
      const left = [
        ...scheduler.left(this),
        ...[...this.platform.files.open].map((name) => `open ${name}`),
        ...this.#world.disk.watchedPaths.map((path) => `a watch of ${path}`),
        ...this.#world.processes.of(this).map(({ name, argv }) => `${name}: ${argv.join(" ")}`),
      ];
      if (left.length > 0) throw new Error(`${this.name} is closed and left ${left.join(", ")}`);
      const owed = this.clients.flatMap((client) => client.owed);
      if (owed.length > 0) throw new Error(owed.join("; "));
    });
    this.alive = false;
  }

  /** Resolves when the host is dead, `steps` from now. `kind` is called then. */
  crashIn(steps: number, kind: () => "kill" | "power" = () => "kill"): Promise<void> {
    return new Promise((resolve) => {
      this.#world.scheduler.inSteps(steps, "crash", () => {
        this.crash(kind());
        resolve();
      });
    });
  }

  /** `kill`: written data stays. `power`: only synced data is sure to stay. */
  crash(kind: "kill" | "power" = "kill"): void {
    if (!this.alive) return;
    this.alive = false;
    this.#world.scheduler.note(this.name, `crash (${kind})`);
    this.#world.scheduler.drop(this);
    this.#world.network.drop(this);
    this.#world.locks.drop(this);
    if (kind === "power") this.#world.processes.powerCut(this);
    else this.#world.processes.hostKilled(this);
    for (const client of this.clients) client.cut("killed");
    this.#index.lose(this.#world.random);
    if (kind === "power") {
      this.#world.index.powerCut(this.#world.random);
      this.#world.disk.powerCut();
    }
    this.#die();
  }

  #whileAlive(events: LinkEvents, client: SimClient): LinkEvents {
    const guarded =
      <T extends unknown[]>(tell: (...told: T) => void) =>
      (...told: T) => {
        if (this.alive) tell(...told);
      };
    return {
      message: guarded((text: string) => {
        const { id, method } = JSON.parse(text) as { id?: number; method: string };
        this.#world.scheduler.note(this.name, `reads ${method} ${id ?? ""} of ${client.name}`);
        if (id !== undefined) client.read.add(id);
        events.message(text);
      }),
      oversized: guarded((bytes: number) => events.oversized(bytes)),
      undecodable: guarded(() => events.undecodable()),
      drained: guarded(() => events.drained()),
      closed: guarded(() => events.closed()),
    };
  }
}

function magnified(link: Link, times: number): Link {
  return {
    get backlog() {
      return link.backlog * times;
    },
    send: (frame) => link.send(frame),
    pause: () => link.pause(),
    resume: () => link.resume(),
    close: (reason, graceMs) => link.close(reason, graceMs),
  };
}

function recordingLog(world: World, host: SimHost): Log {
  return {
    debug() {},
    info() {},
    warn: (message, fields) => {
      world.scheduler.note(host.name, `warns: ${message}`);
      // Hosts must be able to read every record that a host writes.
      if (/cannot be read and were left out/.test(message))
        world.fail(new Error(`${message}: ${fields?.why}`));
    },
    error: (message, fields) => world.logged(host.name, message, fields?.cause),
  };
}
