import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Message } from "../simulation/frame-rules.ts";
import { eventually } from "../support/eventually.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import type { Received, WireClient } from "../support/wire-client.ts";
import type { Asked } from "./wording.ts";

/** A client on a socket that knows which of its frames were not looked at yet. */
export class RealClient {
  readonly name: string;
  readonly wire: WireClient;
  readonly #asked = new Map<unknown, Asked>();
  #looked: number;
  #lastId = 1000;

  constructor(name: string, wire: WireClient) {
    this.name = name;
    this.wire = wire;
    this.#looked = wire.frames.length;
  }

  /** A request of a schedule: its reply is compared like every other frame. */
  request(method: string, params: Record<string, unknown>): Promise<Received> {
    const id = ++this.#lastId;
    this.#asked.set(id, { method, params });
    return this.wire.request(method, params, id);
  }

  /** A request of the test itself, whose reply is no part of the schedule. */
  async peek(method: string, params: Record<string, unknown>): Promise<Message> {
    return plain(await this.wire.request(method, params, "peek"));
  }

  asked(id: number): Asked {
    return this.#asked.get(id)!;
  }

  /** What came since the last look. How running text is cut into pieces depends on the clock: it is left out. */
  get fresh(): readonly Message[] {
    return this.wire.frames
      .slice(this.#looked)
      .filter(({ id, method }) => id !== "peek" && method !== "item/agentMessage/delta")
      .map(plain);
  }

  look(): readonly Message[] {
    const { fresh } = this;
    this.#looked = this.wire.frames.length;
    return fresh;
  }
}

/** Without what the model said: how far it came depends on the clock, and the reference has a model of its own. */
function plain({ text }: Received): Message {
  return JSON.parse(text, (_key, value) => (value?.type === "agentMessage" ? { ...value, text: "" } : value));
}

/** A host in a process of its own that is ended and started again on one home. */
export class RealHost {
  readonly home: string;
  readonly #maxResident: number;
  #process!: HostProcess;

  constructor(home: string, maxResident: number) {
    this.home = home;
    this.#maxResident = maxResident;
  }

  async start(): Promise<void> {
    const settings = ["thread_unload_delay_secs=3600", `max_resident_threads=${this.#maxResident}`];
    this.#process = await spawnHost({
      args: ["--listen", "ws://127.0.0.1:0", ...settings.flatMap((setting) => ["-c", setting])],
      home: this.home,
    });
    await this.#process.urls();
    // A client that came earlier would be told how the threads of a killed host are closed, or not: both are right.
    await eventually(async () => (await this.#claims()).length === 0, "lost threads are closed");
  }

  async connect(name: string, capabilities: object): Promise<RealClient> {
    return new RealClient(name, await this.#process.join(undefined, capabilities));
  }

  /** Resolves when the host knows of just so many clients: one that left may have gone on this side only. */
  async knows(clients: number): Promise<void> {
    await eventually(async () => {
      const metrics = await (await fetch(`${await this.#process.site()}/metrics`)).text();
      return new RegExp(`^bobbin_connections ${clients}$`, "m").test(metrics);
    }, `${clients} clients are connected`);
  }

  async stop(): Promise<void> {
    this.#process.signal("SIGTERM");
    assert.deepEqual(await this.#process.exited, { code: 0, signal: null }, this.#process.stderr);
    assert.doesNotMatch(this.#process.stderr, /"level":"error"/);
    assert.deepEqual(await this.#claims(), [], "claims after an end in good order");
  }

  kill(): Promise<void> {
    return this.#process.kill();
  }

  /** Claims on threads, and what was acknowledged of new ones before it was made. */
  async #claims(): Promise<readonly string[]> {
    const names = await readdir(join(this.home, "live")).catch(() => []);
    return names.filter((name) => !name.includes(".") || name.endsWith(".starts"));
  }
}
