import { readConfig } from "../../packages/host/src/config/config.ts";
import { DESK, FakeDesk } from "../simulation/fake-desk.ts";
import { FakeMcp } from "../simulation/fake-mcp.ts";
import { bwrap, echo } from "../simulation/fake-programs.ts";
import type { Message } from "../simulation/frame-rules.ts";
import type { SimClient } from "../simulation/sim-client.ts";
import { HOME, type SimHost } from "../simulation/sim-host.ts";
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

/** The hosts of a scene, one after the other on one disk, each with a client that answers its requests. */
export class SceneStage implements Stage {
  readonly world: World;
  readonly ledger = new Ledger();
  readonly #chronicle: Chronicle = new Map();
  /** The calls that its MCP server has received. */
  readonly #called = new Set<string>();
  #host: SimHost | undefined;
  #client: SimClient | undefined;
  /** Whether the scene's host has died, so that the scene ends. */
  #dead = false;
  /** Durable notifications that clients got, by thread and cursor, since the last gap. */
  readonly heard = new Map<string, Map<string, string>>();
  /** Called in the step in which a client receives a frame. */
  frameHeard: (frame: Message) => void = () => {};

  constructor(world: World, { model, hooks }: Scene) {
    this.world = world;
    // With slower steps, a running tool server would be taken for an unreachable one.
    world.scheduler.pace = Math.min(world.scheduler.pace, 5);
    world.model.scripts = model;
    new FakeDesk(world, this.ledger);
    world.processes.programs.set("echo", echo);
    world.processes.programs.set("bwrap", bwrap);
    world.processes.programs.set("rm", async () => 0);
    world.disk.put("/usr/bin/bwrap", "");
    if (hooks !== undefined) world.disk.put(`${HOME}/hooks.json`, JSON.stringify({ hooks }));
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

  /** Starts a host without any client. */
  async startAlone(): Promise<void> {
    const mcpServers = new FakeMcp(this.world, this.#called);
    this.#host = await this.world.start({ config, tools: actingTools, mcpServers });
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
      this.frameHeard(frame);
      const { method, params } = frame;
      if (method === undefined) this.#replied(client.asked.get(frame.id!)!, frame.result !== undefined);
      else if (typeof params?.cursor === "string")
        this.#hear(params.threadId as string, params.cursor, method);
    };
    this.#client = client;
    await client.initialize({ experimentalApi: true, eventCursor: true });
  }

  /** A client that resumes without a cursor does not get what it missed, so another feed begins. */
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

  /** Ends the host normally, when nothing is running. */
  async end(): Promise<void> {
    await this.world.scheduler.quiet();
    if (this.#dead) throw new Error("the host is dead");
    await this.host.close();
  }

  readonly sleep = (ms: number): Promise<void> => this.world.sleep(ms);

  /** The host dies in this very step. */
  crash(kind: "kill" | "power"): void {
    this.#dead = true;
    this.host.crash(kind);
    if (kind === "power") this.ledger.powerCut();
  }
}
