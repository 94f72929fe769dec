// The state that a client folds from what it is sent is the state that a client gets which comes later.
import { describe, expect, it } from "vitest";
import { simulate } from "../simulation/run.ts";
import type { SimClient } from "../simulation/sim-client.ts";
import { scenes } from "./scenes.ts";
import { SceneStage } from "./stage.ts";
import { agreed, ThreadFold } from "./thread-fold.ts";

/** A client that joins the scene's threads, loses its connection now and then, and comes back with its cursors. */
class Rover {
  readonly fold = new ThreadFold();
  readonly #stage: SceneStage;
  readonly #others: ThreadFold;
  #client: SimClient | undefined;

  /** `others`: the fold of the scene's own client. Only threads that it sees loaded are joined. */
  constructor(stage: SceneStage, others: ThreadFold) {
    this.#stage = stage;
    this.#others = others;
  }

  async rove(): Promise<void> {
    const { world } = this.#stage;
    for (let left = world.random.between(1, 6); left > 0; left--) {
      await this.join();
      await world.sleep(world.random.pick([1, 5, 50, 500, 5000]));
    }
  }

  /** Comes back on a new connection. */
  async join(): Promise<void> {
    this.#client?.cut();
    const client = this.#stage.host.connect();
    client.rules.onlyReplies = true;
    this.#client = client;
    this.fold.reconnected();
    client.heard = () => hear(this.fold, client);
    const hello = { clientInfo: { name: "rover", version: "1" }, capabilities: CAPABILITIES };
    await client.request("initialize", hello);
    for (const [threadId, { status }] of this.#others.states) {
      if (status.type === "notLoaded") continue;
      const afterCursor = this.fold.states.get(threadId)?.cursor;
      // The thread may have been unloaded meanwhile, and the host may be gone.
      await client.request("thread/resume", {
        threadId,
        ...(afterCursor != null && { afterCursor, excludeTurns: true }),
      });
    }
  }

  /** Reads again what was not sent along. */
  readStale(): Promise<void> {
    return readStale(this.fold, this.#client!);
  }
}

const CAPABILITIES = { experimentalApi: true, eventCursor: true };

function hear(fold: ThreadFold, client: SimClient): void {
  const frame = client.frames.at(-1)!;
  fold.hear(frame, client.asked.get(frame.id!));
}

async function readStale(fold: ThreadFold, client: SimClient): Promise<void> {
  for (const [threadId, { stale, deleted }] of fold.states) {
    if (deleted) continue;
    if (stale.turns) await client.request("thread/read", { threadId, includeTurns: true });
    await client.request("thread/queue/list", { threadId });
  }
}

/** Threads that one has seen to their end: loaded, and not only as another one's helper. */
function compare(stage: SceneStage, one: ThreadFold, fresh: ThreadFold, who: string): number {
  let compared = 0;
  for (const [threadId, state] of one.states) {
    const other = fresh.states.get(threadId);
    if (other === undefined) continue;
    compared++;
    stage.world.check(() => expect(agreed(state), `${who}, ${threadId}`).toEqual(agreed(other)));
  }
  return compared;
}

/** Scenes without a rover. A resume starts the queue of a thread that waits; a rollback is announced to no one. */
const ALONE: ReadonlySet<string> = new Set(["what waits in a queue", "what is done to a thread"]);

/** Scenes at whose end a thread was loaded, and so was compared. */
const compared = new Set<string>();

describe("a client's state of a thread", () => {
  for (const scene of scenes) {
    simulate(`is the same however it was come by: ${scene.name}`, { count: 3, full: 60 }, async (world) => {
      const stage = new SceneStage(world, scene);
      const live = new ThreadFold();
      let client: SimClient | undefined;
      stage.frameHeard = () => {
        if (stage.client !== client) live.reconnected();
        client = stage.client;
        hear(live, stage.client);
      };
      await stage.start();
      const rover = new Rover(stage, live);
      await Promise.all([scene.live(stage), ALONE.has(scene.name) ? undefined : rover.rove()]);
      await rover.join();
      await world.scheduler.quiet();
      await readStale(live, stage.client);
      await rover.readStale();
      const late = new Rover(stage, live);
      await late.join();
      await world.scheduler.quiet();
      await late.readStale();
      if (compare(stage, live, late.fold, "live") > 0) compared.add(scene.name);
      compare(stage, rover.fold, late.fold, "roving");
      await stage.end();
    });
  }

  it("was compared in every scene, but for the one that ends with its thread unloaded in most schedules", () => {
    const left = scenes.map(({ name }) => name).filter((name) => !compared.has(name));
    expect(left.filter((name) => name !== "what an MCP server does and asks")).toEqual([]);
  });
});
