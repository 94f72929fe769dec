import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Message } from "../simulation/frame-rules.ts";
import { eventually } from "../support/eventually.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import type { Received, WireClient } from "../support/wire-client.ts";
import type { Asked } from "./wording.ts";

/** A client on a socket that remembers which of its frames were not compared yet. */
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

  /** Sends a request of a schedule. Its reply is compared like every other frame. */
  request(method: string, params: Record<string, unknown>): Promise<Received> {
    const id = ++this.#lastId;
    this.#asked.set(id, { method, params });
    return this.wire.request(method, params, id);
  }

  /** Sends a request of the test itself. Its reply is not part of the schedule. */
  async peek(method: string, params: Record<string, unknown>): Promise<Message> {
    return plain(await this.wire.request(method, params, "peek"));
  }

  asked(id: number): Asked {
    return this.#asked.get(id)!;
  }

  /** The frames since the last comparison, without deltas: how running text is split depends on the clock. */
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

/** Removes the model's texts: how far the model got depends on the clock, and the reference has its own model. */
function plain({ text }: Received): Message {
  return JSON.parse(text, (_key, value) => (value?.type === "agentMessage" ? { ...value, text: "" } : value));
}

/** A host in its own process, which is ended and restarted on one home. */
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
    // A client that connected earlier might see how the threads of a killed host are closed, or might not. Both are
    // right.
    await eventually(async () => (await this.#claims()).length === 0, "lost threads are closed");
  }

  async connect(name: string, capabilities: object): Promise<RealClient> {
    return new RealClient(name, await this.#process.join(undefined, capabilities));
  }

  /** Resolves when the host has exactly this many clients, because a disconnect may not have reached the host yet. */
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

  /** The claims on threads, and the acknowledged new threads that have no journal yet. */
  async #claims(): Promise<readonly string[]> {
    const names = await readdir(join(this.home, "live")).catch(() => []);
    return names.filter((name) => !name.includes(".") || name.endsWith(".starts"));
  }
}
