import assert from "node:assert/strict";
import { readConfig } from "../../packages/host/src/config/config.ts";
import type { FileOp } from "../simulation/disk.ts";
import { DESK, FakeDesk } from "../simulation/fake-desk.ts";
import type { Outcome, SimClient } from "../simulation/sim-client.ts";
import type { SimHost } from "../simulation/sim-host.ts";
import type { World } from "../simulation/world.ts";
import { CLIENT_KINDS } from "./acts.ts";
import { checkIndex, endSurvivors, storedThreads, useEverything } from "./aftermath.ts";
import { Answering } from "./answering.ts";
import { conversation } from "./conversation.ts";
import { checkJournals } from "./journals.ts";
import { Ledger } from "./ledger.ts";
import { callsTools } from "./scenes.ts";
import { byMood } from "./scripts.ts";
import { type Chronicle, Witness } from "./witness.ts";

/** The life of one client: its kind and its requests, as numbers whose meaning is decided when they are used. */
export interface Life {
  readonly kind: number;
  readonly asks: readonly (readonly [what: number, where: number, more: number])[];
  readonly end: "stay" | "leave" | "cut";
}

/** Longer than any delay and any slow turn. */
const LONG_MS = 4_000_000;

/**
 * Lets several clients act concurrently, on hosts that start, end and run side by side. The exact frames cannot be
 * predicted, so only rules are checked.
 */
export class Concurrent {
  readonly #world: World;
  readonly #ledger = new Ledger();
  readonly #chronicle: Chronicle = new Map();
  readonly #threads: string[] = [];
  readonly #turns: { readonly threadId: string; readonly turnId: string }[] = [];
  readonly #cursors = new Map<string, string>();
  readonly #hosts: SimHost[] = [];
  /** Whether hosts have run side by side. */
  #crowded = false;
  readonly #maxResident: number;
  readonly done: string[] = [];

  readonly #failing: boolean;

  /** `failing`: the disk fails now and then. */
  constructor(world: World, { failing = false } = {}) {
    this.#world = world;
    this.#failing = failing;
    if (failing) world.expectError(/EIO|ENOSPC|storageFailed|could not be read or written/);
    this.#maxResident = world.random.pick([1, 2, 256]);
    // With slower steps, a running tool server would be taken for an unreachable one.
    world.scheduler.pace = Math.min(world.scheduler.pace, 5);
    world.model.scripts = (request, random, call) => {
      const { said } = conversation(request.context);
      return (MOODS.test(said) ? byMood : callsTools)(request, random, call);
    };
    new FakeDesk(world, this.#ledger, () => world.random.pick([0, 50, 5000]));
  }

  async run(lives: readonly Life[]): Promise<void> {
    const { random, scheduler } = this.#world;
    const hosts: Promise<void>[] = [];
    for (let from = 0; from < lives.length; ) {
      const together = random.between(1, 4);
      const host = this.#hostLife(lives.slice(from, from + together));
      from += together;
      hosts.push(host);
      // The next host may start while this one is running, on the same home.
      const ahead = random.chance(0.5) ? random.between(0, 300) : undefined;
      if (ahead === undefined) await Promise.all(hosts);
      else await new Promise<void>((resolve) => scheduler.inSteps(ahead, "another host", resolve));
    }
    await Promise.all(hosts);
    await this.#aftermath();
  }

  /** A host that serves some clients until its end, of whatever kind that is. */
  async #hostLife(lives: readonly Life[]): Promise<void> {
    const { random, scheduler } = this.#world;
    const host = await this.#start();
    // After writes were lost, nothing can be promised about the disk after a power cut.
    const end = random.pick(this.#failing ? ENDS.slice(0, -1) : ENDS);
    this.done.push(`a host, which will ${end}`);
    const mend = this.#failing ? this.#harm() : () => {};
    const clients = Promise.all(lives.map((life) => this.#clientLife(host, life)));
    if (end === "close early" || end === "kill" || end === "power") {
      await new Promise<void>((resolve) => scheduler.inSteps(random.between(0, 600), end, resolve));
    } else await clients;
    if (end === "kill" || end === "power") this.#crash(host, end);
    else {
      if (end === "forget") {
        mend();
        await this.#forget(host);
      }
      await host.close();
    }
    await clients;
    mend();
  }

  /** Makes some operation of the disk fail soon. */
  #harm(): () => void {
    const { random, disk } = this.#world;
    const fault = {
      op: random.pick(FAULTS),
      code: random.pick(["EIO", "ENOSPC"]),
      skip: random.between(0, 40),
      times: random.pick([1, 1, 3, 1000]),
    };
    this.done.push(`a disk with ${JSON.stringify(fault)}`);
    return disk.fail(fault);
  }

  /** A power cut ends all hosts. */
  #crash(host: SimHost, kind: "kill" | "power"): void {
    if (!host.alive) return;
    if (kind === "power") {
      for (const other of this.#hosts) if (other !== host) other.crash("kill");
      this.#ledger.powerCut();
    }
    host.crash(kind);
  }

  /** When all clients have been gone for long enough, no thread must be loaded. */
  async #forget(host: SimHost): Promise<void> {
    for (const client of host.clients) client.leave();
    await this.#world.sleep(LONG_MS);
    await this.#world.scheduler.quiet();
    if (!host.alive) return;
    const client = host.connect();
    client.rules.onlyReplies = true;
    await client.request("initialize", { clientInfo: { name: client.name, version: "1" } });
    const outcome = await client.request("thread/loaded/list");
    if ("lost" in outcome) return;
    const held: string[] = [];
    for (const threadId of outcome.reply.result!.data as string[]) {
      const read = await client.request("thread/read", { threadId });
      const thread =
        "reply" in read ? (read.reply.result?.thread as { status: { type: string } }) : undefined;
      // A thread whose journal failed stays loaded for a request that the next host can still get answered.
      if (thread !== undefined && thread.status.type !== "systemError") held.push(threadId);
    }
    assert.deepEqual(held, [], "threads that nobody follows and nothing holds are still loaded");
    client.leave();
  }

  async #aftermath(): Promise<void> {
    const host = await this.#start();
    await this.#world.scheduler.quiet();
    await endSurvivors(host);
    await this.#world.scheduler.quiet();
    // Data that could not be written is recovered when the thread is next opened.
    if (!this.#failing) {
      checkJournals(this.#world.disk, { unused: true });
      await checkIndex(this.#world, host);
    }
    this.#ledger.check(this.#world.disk, { failing: this.#failing });
    await useEverything(host, storedThreads(this.#world));
    await this.#world.scheduler.quiet();
    checkJournals(this.#world.disk);
    await checkIndex(this.#world, host);
    await host.close();
  }

  async #start(): Promise<SimHost> {
    const config = readConfig({
      max_resident_threads: this.#maxResident,
      rap_servers: { desk: { url: DESK } },
    });
    const host = await this.#world.start({ config });
    this.#crowded ||= this.#hosts.some(({ alive }) => alive);
    this.#hosts.push(host);
    return host;
  }

  async #clientLife(host: SimHost, { kind, asks, end }: Life): Promise<void> {
    const { transport, capabilities } = CLIENT_KINDS[kind]!;
    const client = host.connect({ transport });
    client.rules.onlyReplies = true;
    const witness = new Witness(client, this.#ledger, this.#chronicle, {
      host: host.name,
      elsewhere: () => this.#crowded,
    });
    const answering = new Answering(client, this.#ledger, () => this.#world.random.chance(0.8));
    client.heard = () => {
      this.#world.check(() => witness.look());
      this.#bookmark(client);
      answering.look();
    };
    await client.request("initialize", { clientInfo: { name: client.name, version: "1" }, capabilities });
    const pending: Promise<void>[] = [];
    for (const ask of asks) {
      await this.#world.moment(`${client.name} acts`);
      const answer = this.#ask(client, ask);
      pending.push(answer);
      // Some clients wait for the answer, some do not.
      if (ask[2] % 3 > 0) await answer;
    }
    await Promise.all(pending);
    if (end !== "stay") client[end]();
  }

  async #ask(client: SimClient, [what, where, more]: Life["asks"][number]): Promise<void> {
    const threadId = this.#threads[where % Math.max(1, this.#threads.length)];
    const method = threadId === undefined ? "thread/start" : METHODS[what % METHODS.length]!;
    const experimental = client.asked.get(1)?.params.capabilities as { experimentalApi?: true } | undefined;
    const params = this.#params(method, threadId ?? "", more, experimental?.experimentalApi === true);
    if (params === undefined) return;
    this.done.push(`${client.name} ${method} ${JSON.stringify(params)}`);
    if (method === "thread/delete") this.#ledger.deleting(threadId!);
    if (method === "jump") return this.#world.sleep(params.ms as number);
    this.#learn(method, params, await client.request(method, params));
  }

  #learn(method: string, { threadId }: Record<string, unknown>, outcome: Outcome): void {
    const result = "reply" in outcome ? outcome.reply.result : undefined;
    if (result === undefined) return;
    if (method === "thread/start" || method === "thread/fork") {
      this.#threads.push((result.thread as { id: string }).id);
    }
    if (method === "turn/start") {
      this.#turns.push({ threadId: threadId as string, turnId: (result.turn as { id: string }).id });
    }
  }

  /** Any client may later resume with a cursor that some client got. */
  #bookmark({ frames }: SimClient): void {
    const { params } = frames.at(-1)!;
    if (typeof params?.cursor !== "string" || this.#world.random.chance(0.5)) return;
    this.#cursors.set(params.threadId as string, params.cursor);
  }

  #params(
    method: string,
    threadId: string,
    more: number,
    experimental: boolean,
  ): Record<string, unknown> | undefined {
    const text = `${WORDS[more % WORDS.length]!} ${more}`;
    const turnId = this.#turns.findLast((turn) => turn.threadId === threadId)?.turnId ?? "none";
    switch (method) {
      case "thread/start":
      case "thread/loaded/list":
        return {};
      case "turn/start":
        return { threadId, input: [{ type: "text", text }] };
      case "turn/steer":
        return { threadId, input: [{ type: "text", text }], expectedTurnId: turnId };
      case "turn/interrupt":
        return { threadId, turnId };
      case "thread/resume": {
        const afterCursor = experimental && more % 2 === 0 ? this.#cursors.get(threadId) : undefined;
        return { threadId, excludeTurns: more % 3 === 0, ...(afterCursor !== undefined && { afterCursor }) };
      }
      case "thread/unload":
        return { threadId, ...(experimental && more % 2 === 0 && { interrupt: true }) };
      case "thread/read":
        return { threadId, includeTurns: true };
      case "thread/name/set":
        return { threadId, name: `name ${more}` };
      case "thread/loadSettings/update":
        return experimental ? { threadId, developerInstructions: `rules ${more}` } : undefined;
      case "thread/rollback":
        return { threadId, numTurns: 1 + (more % 2) };
      case "thread/revert":
        return { threadId, beforeTurnId: turnId };
      case "thread/delete":
        return more % 3 === 0 ? { threadId } : undefined;
      case "jump":
        return { ms: [1000, 61_000, 1_800_000][more % 3]! };
      default:
        return { threadId };
    }
  }
}

const ENDS = ["close", "close early", "kill", "forget", "power"] as const;

const FAULTS: readonly FileOp[] = [
  "append",
  "append",
  "sync",
  "sync",
  "openAppend",
  "remove",
  "rename",
  "truncate",
  "claim",
  "index",
  "index",
];

const MOODS = /^(quick|slow|fail) /;

/** Inputs of users: how the model answers (`scripts.ts`), or which tools it calls (`callsTools`). */
const WORDS: readonly string[] = [
  ...["quick", "quick", "quick", "slow", "slow", "fail"],
  ...[
    "call again once",
    "call request_user_input",
    "call watch",
    "call choose",
    "call wait",
    "call sign show",
  ],
];

/** Methods occur as often as they should be picked. */
const METHODS: readonly string[] = [
  ...["thread/start", "thread/fork", "thread/archive", "thread/unarchive", "thread/delete", "turn/steer"],
  ...["turn/start", "turn/start", "turn/start", "turn/start", "turn/interrupt", "thread/rollback"],
  ...["thread/resume", "thread/resume", "thread/resume", "thread/unsubscribe", "thread/unsubscribe"],
  ...["thread/unload", "thread/unload", "thread/name/set", "thread/loadSettings/update", "thread/revert"],
  ...["thread/read", "thread/loaded/list", "jump"],
];
