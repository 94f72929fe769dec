// Records that docs/lifecycle.md lists as synced before clients are notified: a power cut in the step in which a client
// is sent the notification leaves the record in the journal.
import { describe, expect, it } from "vitest";
import type { Message } from "../simulation/frame-rules.ts";
import { simulate } from "../simulation/run.ts";
import type { World } from "../simulation/world.ts";
import { commitsOf, type JournalRecord, journals, recordsOf } from "./journals.ts";
import { scenes } from "./scenes.ts";
import { SceneStage } from "./stage.ts";

type Params = Readonly<Record<string, unknown>>;

/** A type of record, and of which of them a frame tells: those in which these members have these values. */
type Told = readonly [type: string, which?: Params];

/** By notification. */
const NOTIFIED: Readonly<Record<string, (params: Params) => Told>> = {
  "turn/completed": ({ turn }) => ["turnEnded", { turnId: (turn as { id: string }).id }],
  "serverRequest/resolved": ({ requestId }) => ["requestResolved", { requestId }],
  "thread/closed": () => ["closed"],
  "thread/grants/revoked": ({ grantId }) => ["grantRevoked", { grantId }],
  "item/autoApprovalReview/completed": ({ reviewId }) => ["reviewEnded", { reviewId }],
};

/** By request, of which the reply tells it. */
const REPLIED: Readonly<Record<string, (params: Params) => Told>> = {
  "thread/unload": () => ["closed"],
  "thread/grants/revoke": ({ grantId }) => ["grantRevoked", { grantId }],
  "thread/approveGuardianDeniedAction": ({ event }) => [
    "denialApproved",
    { reviewId: (event as { id: string }).id },
  ],
};

/** Of a thread that is not loaded. */
const REPLIED_COLD: Readonly<Record<string, (params: Params) => Told>> = {
  "thread/resume": () => ["opened"],
  "thread/queue/add": () => ["submissionQueued"],
  "thread/queue/update": ({ queuedSubmissionId: id }) => ["submissionChanged", { id }],
};

/** What a power cut would leave of a thread's journal, at the least. */
function synced({ disk }: World, threadId: string): readonly JournalRecord[] {
  const left = {
    paths: disk.paths,
    text: (path: string) => Buffer.from(disk.get(path)!.synced).toString(),
  };
  const path = journals(left).find((one) => one.includes(threadId));
  return path === undefined ? [] : recordsOf(left, path);
}

/** What clients have heard of in any scene. */
const heard = new Set<string>();

/** Judges each frame that the clients of one scene hear. */
class Judge {
  readonly #stage: SceneStage;
  readonly #closed = new Set<string>();
  /** How often each thing was heard: a thread is closed more than once. */
  readonly #times = new Map<string, number>();

  constructor(stage: SceneStage) {
    this.#stage = stage;
  }

  hear({ id, method, params, result }: Message): void {
    if (method !== undefined) {
      const threadId = params?.threadId as string;
      this.#judge(method, NOTIFIED[method]?.(params!), threadId);
      if (method === "thread/closed") this.#closed.add(threadId);
      return;
    }
    if (result === undefined) return;
    const request = this.#stage.client.asked.get(id!)!;
    const threadId = request.params.threadId as string;
    const table = this.#closed.has(threadId) ? { ...REPLIED, ...REPLIED_COLD } : REPLIED;
    this.#judge(request.method, table[request.method]?.(request.params), threadId);
    if (request.method === "thread/resume") this.#closed.delete(threadId);
  }

  #judge(what: string, told: Told | undefined, threadId: string): void {
    if (told === undefined) return;
    const [type, which = {}] = told;
    heard.add(what);
    const key = JSON.stringify([what, threadId, which]);
    const times = (this.#times.get(key) ?? 0) + 1;
    this.#times.set(key, times);
    const { world } = this.#stage;
    world.check(() => {
      const records = synced(world, threadId).filter(
        (record) =>
          record.type === type && Object.entries(which).every(([name, value]) => record[name] === value),
      );
      expect(records.length, `${what}, and how many of ${type} are synced`).toBeGreaterThanOrEqual(times);
    });
  }
}

describe("a client gets only what survives a power cut", () => {
  for (const scene of scenes) {
    simulate(`[FAULT-25] of ${scene.name}`, { count: 2, full: 8 }, async (world) => {
      const stage = new SceneStage(world, scene);
      const judge = new Judge(stage);
      stage.frameHeard = (frame) => judge.hear(frame);
      await stage.start();
      await scene.live(stage);
      await stage.end();
    });
  }

  it("[FAULT-25] for every record that must be synced before its notification", () => {
    const expected = [NOTIFIED, REPLIED, REPLIED_COLD].flatMap((table) => Object.keys(table));
    expect([...heard].sort()).toEqual([...new Set(expected)].sort());
  });
});

describe("a thread that hands an event over to its child", () => {
  const scene = scenes.find(({ name }) => name === "what a tool server sends by itself")!;

  simulate(
    "[FAULT-25] records so when the child survives a power cut",
    { count: 3, full: 30 },
    async (world) => {
      const stage = new SceneStage(world, scene);
      const { disk } = world;
      let made = 0;
      disk.appended = (path) => {
        if (!path.endsWith(".jsonl")) return;
        for (const { type, childId } of commitsOf(disk, path).at(-1)!.records) {
          if (type !== "childMade") continue;
          made++;
          const types = synced(world, childId!).map((record) => record.type);
          world.check(() => expect(types).toContain("eventReceived"));
        }
      };
      await stage.start();
      await scene.live(stage);
      await stage.end();
      world.check(() => expect(made).toBe(1));
    },
  );
});
