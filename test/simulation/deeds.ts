// An agent that does what its user says, on hosts that die in between.
import type { ModelRequest } from "../../packages/host/src/model/model.ts";
import type { Tool } from "../../packages/host/src/tool/tool.ts";
import { textOf } from "../model/conversation.ts";
import type { ModelScript } from "./fake-model.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

export const DONE: ModelScript = { steps: [{ do: "say", pieces: ["Done"] }] };

/** The agent does once what the user says: `act 3`. */
export function agent({ context }: ModelRequest): ModelScript {
  const last = context.findLastIndex((item) => item.type === "message" && item.role === "user");
  const [verb, n] = textOf(context[last]).split(" ");
  const called = context.slice(last + 1).some(({ type }) => type === "toolCall");
  if (verb !== "act" || called) return DONE;
  return { steps: [{ do: "call", name: "act", args: { n: Number(n) } }] };
}

export const nthDeed = (args: unknown): number => (args as { readonly n: number }).n;

/** A tool that records what it did. */
export function deedTool(done: number[]): Tool {
  return {
    name: "act",
    namespace: null,
    spec: null,
    begin: () => ({ kind: "dispatch", again: false }),
    perform: async ({ args }) => {
      done.push(nthDeed(args));
      return { kind: "settle", output: `did ${nthDeed(args)}`, success: true };
    },
  };
}

export interface Lives {
  start(): Promise<SimHost>;
  /** The minimum and maximum number of steps that a host lives. */
  readonly steps: readonly [number, number];
  /** What a client does on each host. */
  live(client: SimClient): Promise<void>;
}

/** One thread and its hosts, three of which die in the middle of their work. */
export class DyingHosts {
  /** Whether there was a power cut. It removes unsynced data, so questions and actions may be repeated. */
  powerCut = false;
  threadId: string | undefined;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Resolves with the last host, which does not die, when its client is done. */
  async live({ start, steps, live }: Lives): Promise<SimHost> {
    const { random } = this.#world;
    for (let lives = 0; lives < 3; lives++) {
      const host = await start();
      const dead = host.crashIn(random.between(...steps), () => {
        const way = random.pick(["kill", "power"] as const);
        this.powerCut ||= way === "power";
        return way;
      });
      await Promise.all([dead, live(this.#client(host)).catch(() => {})]);
    }
    const host = await start();
    await live(this.#client(host));
    return host;
  }

  /** Resumes the thread, or starts one. A power cut may have removed a thread that had not done anything. */
  async enter(client: SimClient): Promise<string> {
    await client.initialize({ experimentalApi: true });
    const { threadId } = this;
    const resumed = threadId && (await client.request("thread/resume", { threadId }));
    const isThere = resumed && "reply" in resumed && resumed.reply.error === undefined;
    this.threadId = threadId !== undefined && isThere ? threadId : await client.startThread();
    return this.threadId;
  }

  /** Waits for the end of a turn that the previous host left. */
  async idle(client: SimClient): Promise<void> {
    for (;;) {
      const { thread } = await client.call("thread/read", { threadId: this.threadId! });
      if ((thread as { status: { type: string } }).status.type !== "active") return;
      await this.#world.sleep(10);
    }
  }

  /** Starts a turn and waits for its end. Interrupts it at random. */
  async turn(client: SimClient, text: string, interrupted: number): Promise<void> {
    const threadId = this.threadId!;
    const turnId = await client.startTurn(threadId, text);
    if (this.#world.random.chance(interrupted)) await client.request("turn/interrupt", { threadId, turnId });
    await client.turnEnd(turnId);
  }

  #client(host: SimHost): SimClient {
    const client = host.connect();
    client.rules.onlyReplies = true;
    return client;
  }
}
