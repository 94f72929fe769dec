// Commands that connect to hosts, people who answer as they like, and hosts that die in between.
import assert from "node:assert/strict";
import { describe } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { journals, recordsOf } from "../model/journals.ts";
import { bwrap } from "./fake-programs.ts";
import type { Random } from "./random.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import { HOME } from "./sim-host.ts";
import type { World } from "./world.ts";

const CONFIG = readConfig({
  approval_policy: "on-request",
  features: {
    network_proxy: { enabled: true, domains: { "listed.example": "allow", "denied.example": "deny" } },
  },
});
const SANDBOX = { type: "readOnly", networkAccess: true };
const METHOD = "item/commandExecution/requestApproval";
const HOSTS = [
  "listed.example",
  "denied.example",
  ...Array.from({ length: 12 }, (_, nth) => `h${nth}.example`),
];

function prepare(world: World): void {
  world.processes.programs.set("bwrap", bwrap);
  world.disk.put("/usr/bin/bwrap", "");
}

/** Connects to some hosts at once, in commands that wait, give up or are left running. */
function act(random: Random) {
  if (random.chance(0.3)) return { steps: [{ do: "say", pieces: ["Done"] } as const] };
  const count = random.between(1, 12);
  return {
    steps: Array.from({ length: count }, () => {
      const ms = random.pick([200, 5_000, 1_000_000]);
      const cmd = `connect ${random.pick(HOSTS)} 443 ${random.between(1, 3)} ${ms}`;
      const args = { cmd, login: false, yield_time_ms: random.pick([250, 10_000]) };
      return { do: "call", name: "exec_command", args } as const;
    }),
  };
}

interface Question {
  readonly id: number;
  readonly host: string;
}

/** What a client sees of questions; what must not be is reported at once. */
class Questions {
  readonly open = new Map<number, Question>();
  /** What was answered with a rule, and may have been too late. */
  readonly rules = new Set<string>();

  constructor(world: World, client: SimClient) {
    client.heard = () => {
      const { method, id, params } = client.frames.at(-1)!;
      if (method === "serverRequest/resolved") this.open.delete(params!.requestId as number);
      if (method === "turn/completed")
        world.check(() => assert.deepEqual([...this.open.values()], [], "questions outlive their turn"));
      if (method !== METHOD) return;
      const { host } = params!.networkApprovalContext as { host: string };
      world.check(() => {
        assert(!["listed.example", "denied.example"].includes(host), `asked about ${host}`);
        const same = [...this.open.values()].filter((one) => one.host === host && one.id !== id);
        assert.deepEqual(same, [], `asked twice about ${host}`);
      });
      this.open.set(id!, { id: id!, host });
      world.check(() => assert(this.open.size <= 8, "more than 8 questions"));
      this.#answer(world, client, { id: id!, host });
    };
  }

  #answer({ random, scheduler }: World, client: SimClient, { id, host }: Question): void {
    const rule = (action: string) => {
      this.rules.add(host);
      return { applyNetworkPolicyAmendment: { network_policy_amendment: { host, action } } };
    };
    const decision = random.pick([
      () => "accept",
      () => "acceptForSession",
      () => "decline",
      () => rule("allow"),
      () => rule("deny"),
      () => undefined,
    ])();
    if (decision === undefined) return;
    const ms = random.pick([1, 1_000, 60_000]);
    scheduler.after(ms, "person", "answers", () => client.answer(id, { result: { decision } }));
  }
}

describe("questions about hosts", () => {
  simulate(
    "[NETWORK-2] [NETWORK-4] are asked once for each host, at most 8 at once, and end before their turn",
    { count: 4, full: 500 },
    async (world) => {
      const { random, scheduler } = world;
      prepare(world);
      world.model.scripts = () => act(random);
      let threadId: string | undefined;
      const live = async (client: SimClient): Promise<void> => {
        await client.initialize({ experimentalApi: true });
        if (threadId === undefined) threadId = await client.startThread();
        else if ("error" in (await client.request("thread/resume", { threadId }))) return;
        for (let turns = 0; turns < 4; turns++) {
          const { turn } = await client.call("turn/start", {
            threadId,
            sandboxPolicy: SANDBOX,
            input: [{ type: "text", text: "go" }],
          });
          const turnId = (turn as { id: string }).id;
          // Whoever does not answer interrupts in the end.
          scheduler.after(random.pick([50, 5_000, 10_000_000]), "person", "interrupts", () => {
            void client.request("turn/interrupt", { threadId, turnId }).catch(() => {});
          });
          await client.turnEnd(turnId);
        }
      };
      for (let lives = random.between(1, 3); lives > 0; lives--) {
        const host = await world.start({ config: CONFIG });
        const client = host.connect();
        client.rules.onlyReplies = true;
        new Questions(world, client);
        const dead = host.crashIn(random.between(60, 3_000), () => random.pick(["kill", "power"]));
        await Promise.race([Promise.all([dead, live(client).catch(() => {})]), dead]);
      }
      const host = await world.start({ config: CONFIG });
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      if (threadId !== undefined) {
        await client.request("thread/resume", { threadId });
        await client.request("turn/interrupt", { threadId, turnId: "" });
      }
      await scheduler.quiet();
      // What was decided for good is in the file, once, whichever host wrote it.
      const lines = (world.disk.text(`${HOME}/rules/default.rules`) ?? "").split("\n").slice(0, -1);
      const decided = journals(world.disk)
        .flatMap((path) => recordsOf(world.disk, path))
        .flatMap(({ type, rule }) => (type === "networkRuleDecided" ? [rule as Decided] : []))
        .map(
          ({ host, decision }) => `network_rule(host="${host}", protocol="https", decision="${decision}")`,
        );
      world.check(() => {
        assert.deepEqual(lines, [...new Set(lines)], "a rule is there twice");
        assert.deepEqual(
          decided.filter((line) => !lines.includes(line)),
          [],
          "rules are missing",
        );
      });
      await host.close();
    },
  );
});

interface Decided {
  readonly host: string;
  readonly decision: string;
}
