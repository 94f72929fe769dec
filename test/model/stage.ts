import { readConfig } from "../../packages/host/src/config/config.ts";
import { DESK, FakeDesk } from "../simulation/fake-desk.ts";
import { bwrap, echo } from "../simulation/fake-programs.ts";
import type { SimClient } from "../simulation/sim-client.ts";
import type { SimHost } from "../simulation/sim-host.ts";
import type { World } from "../simulation/world.ts";
import { Answering } from "./answering.ts";
import { Ledger } from "./ledger.ts";
import { actingTools, type Scene, type Stage } from "./scenes.ts";
import { type Chronicle, Witness } from "./witness.ts";

const config = readConfig({
  rap_servers: { desk: { url: DESK } },
  server_request_deadline_secs: 100_000_000,
  features: { network_proxy: true },
});

/** A scene's hosts, one after the other on one disk, and a client of each that answers what it is asked. */
export class SceneStage implements Stage {
  readonly world: World;
  readonly ledger = new Ledger();
  readonly #chronicle: Chronicle = new Map();
  #host: SimHost | undefined;
  #client: SimClient | undefined;
  /** The scene's host died: the scene has nothing more to do. */
  #dead = false;
  /** Durable notifications that clients were sent, by thread and cursor, each from where it goes on without a gap. */
  readonly heard = new Map<string, Map<string, string>>();

  constructor(world: World, { model }: Scene) {
    this.world = world;
    // Slower, and a server that is there is taken for one that is not.
    world.scheduler.pace = Math.min(world.scheduler.pace, 5);
    world.model.scripts = model;
    new FakeDesk(world, this.ledger);
    world.processes.programs.set("echo", echo);
    world.processes.programs.set("bwrap", bwrap);
    world.disk.put("/usr/bin/bwrap", "");
  }

  get client(): SimClient {
    return this.#client!;
  }

  get host(): SimHost {
    return this.#host!;
  }

  async start(): Promise<void> {
    await this.startAlone();
    await this.connect();
  }

  /** Starts a host that nobody connects to. */
  async startAlone(): Promise<void> {
    this.#host = await this.world.start({ config, tools: actingTools });
  }

  async connect(): Promise<void> {
    const { world, ledger, host } = this;
    const client = host.connect();
    client.rules.onlyReplies = true;
    const witness = new Witness(client, ledger, this.#chronicle, { host: host.name });
    const answering = new Answering(client, ledger);
    client.heard = () => {
      world.check(() => witness.look());
      answering.look();
      const frame = client.frames.at(-1)!;
      const { method, params } = frame;
      if (method === undefined) this.#replied(client.asked.get(frame.id!)!, frame.result !== undefined);
      else if (typeof params?.cursor === "string")
        this.#hear(params.threadId as string, params.cursor, method);
    };
    this.#client = client;
    await client.initialize({ experimentalApi: true, eventCursor: true });
  }

  /** Who resumes without a cursor does not ask for what came since its last one: another feed begins. */
  #replied({ method, params }: { method: string; params: Record<string, unknown> }, isResult: boolean): void {
    if (method !== "thread/resume" || !isResult || params.afterCursor !== undefined) return;
    this.heard.delete(params.threadId as string);
  }

  #hear(threadId: string, cursor: string, method: string): void {
    const known = this.heard.get(threadId) ?? new Map<string, string>();
    this.heard.set(threadId, known.set(cursor, method));
  }

  async restart(): Promise<void> {
    await this.end();
    await this.start();
  }

  /** Ends the host in good order, when all is quiet. */
  async end(): Promise<void> {
    await this.world.scheduler.quiet();
    if (this.#dead) throw new Error("the host is dead");
    await this.host.close();
  }

  readonly sleep = (ms: number): Promise<void> => this.world.sleep(ms);

  /** The host dies, in this very step. */
  crash(kind: "kill" | "power"): void {
    this.#dead = true;
    this.host.crash(kind);
    if (kind === "power") this.ledger.powerCut();
  }
}
